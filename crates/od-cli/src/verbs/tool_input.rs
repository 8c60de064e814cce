//! The files that `od tools live-artifacts create` and `update` read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use od_core::error::{ErrorCode, Failure, Issue};
use od_core::json::parse_message;
use od_core::limits;
use serde_json::{Map, Value, json};

use crate::output::Refusal;

/// What was read: the request's body so far, and what to tell the agent.
#[derive(Debug, Default)]
pub(crate) struct ToolInput {
    /// `input`, and `templateHtml` and `provenanceJson` if their files are there.
    pub(crate) fields: Map<String, Value>,
    /// Remarks that do not stop the request.
    pub(crate) warnings: Vec<Value>,
    /// Texts that go into the body as they are; a mark stands for each in the fields.
    as_written: Vec<String>,
}

/// Reads artifact.json and, beside it, template.html, data.json and provenance.json.
pub(crate) fn read(path: &Path) -> Result<ToolInput, Refusal> {
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut read = ToolInput::default();
    let mut input = read.keep(object(path)?);
    if let Some(data) = read_json(&beside.join("data.json"))? {
        let data = read.keep(data);
        if let Value::Object(input) = &mut input {
            place_data(input, data, &mut read.warnings);
        }
    }
    read.fields.insert("input".to_owned(), input);
    if let Some(html) = read_text(&beside.join("template.html"))? {
        read.fields.insert("templateHtml".to_owned(), Value::String(html));
    }
    if let Some(provenance) = read_json(&beside.join("provenance.json"))? {
        let provenance = read.keep(provenance);
        read.fields.insert("provenanceJson".to_owned(), provenance);
    }
    Ok(read)
}

/// Reads a tool's input from a file, or from stdin if the path is `-`.
pub(crate) fn read_tool_input(path: &Path) -> Result<ToolInput, Refusal> {
    let mut read = ToolInput::default();
    let input = read.keep(object(path)?);
    read.fields.insert("input".to_owned(), input);
    Ok(read)
}

impl ToolInput {
    /// Returns the value, or a mark for what only the daemon may judge.
    fn keep(&mut self, json: Json) -> Value {
        match json {
            Json::Read(value) => value,
            Json::AsWritten(text) => {
                self.as_written.push(text);
                Value::String(mark(self.as_written.len() - 1))
            }
        }
    }

    /// Returns the request's body.
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut body = Value::Object(self.fields.clone()).to_string();
        for (at, text) in self.as_written.iter().enumerate() {
            body = body.replace(&Value::String(mark(at)).to_string(), text);
        }
        body.into_bytes()
    }
}

/// No text that a daemon accepts looks like this: NUL is refused.
fn mark(at: usize) -> String {
    format!("\0as written {at}\0")
}

/// A JSON text.
#[derive(Debug)]
enum Json {
    Read(Value),
    /// A reader would lose what is wrong with it (a key that stands twice, digits that no double
    /// holds), and the daemon could not refuse it: it goes there as it is.
    AsWritten(String),
}

/// Reads a JSON object from a file, or from stdin if the path is `-`.
fn object(path: &Path) -> Result<Json, Refusal> {
    let json = if path == Path::new("-") {
        parse(path, read_bounded(path, io::stdin())?)?
    } else {
        read_json(path)?.ok_or_else(|| missing(path))?
    };
    match json {
        Json::Read(Value::Object(_)) | Json::AsWritten(_) => Ok(json),
        Json::Read(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => Err(faulty(
            path,
            "json_type",
            "the file is not a JSON object",
            "write one object: `{ … }`",
        )),
    }
}

/// data.json is the data; a copy inside artifact.json that says something else is worth a remark.
fn place_data(input: &mut Map<String, Value>, data: Value, warnings: &mut Vec<Value>) {
    let document = input.entry("document").or_insert_with(|| json!({}));
    // Anything but an object is left as it is: the daemon says what is wrong with it.
    let Value::Object(document) = document else { return };
    document.entry("format").or_insert_with(|| json!("html_template_v1"));
    if document.get("dataJson").is_some_and(|inner| *inner != data) {
        warnings.push(json!({
            "code": "data_json_differs",
            "message": "data.json and document.dataJson in artifact.json differ; data.json was used",
            "fix": "remove dataJson from artifact.json",
        }));
    }
    document.insert("dataJson".to_owned(), data);
}

fn read_json(path: &Path) -> Result<Option<Json>, Refusal> {
    read_text(path)?.map(|text| parse(path, text)).transpose()
}

/// Reads JSON as strictly as the daemon reads a request.
fn parse(path: &Path, text: String) -> Result<Json, Refusal> {
    serde_json::from_str::<serde::de::IgnoredAny>(&text).map_err(|error| {
        let message = format!("{} is not JSON: {error}", name(path));
        faulty(
            path,
            "json_syntax",
            &message,
            &format!("correct line {}, column {}", error.line(), error.column()),
        )
    })?;
    Ok(match parse_message(text.as_bytes()) {
        Ok(value) => Json::Read(value),
        Err(_) => Json::AsWritten(text),
    })
}

/// Reads a text file within the bounds of a request; `None` if there is none.
fn read_text(path: &Path) -> Result<Option<String>, Refusal> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    read_bounded(path, file).map(Some)
}

/// Reads no more than a request may hold: what is longer would be refused anyway.
fn read_bounded(path: &Path, source: impl Read) -> Result<String, Refusal> {
    let limit = limits::REQUEST_BODY.allowed;
    let mut text = String::new();
    source.take(limit + 1).read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    if text.len() as u64 > limit {
        let message = format!("{} has more than {limit} bytes", name(path));
        return Err(Refusal::new(ErrorCode::PayloadTooLarge, message)
            .suggesting("keep only what the page shows")
            .detail("allowed", limit));
    }
    Ok(text)
}

fn name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn faulty(path: &Path, code: &str, message: &str, fix: &str) -> Refusal {
    let issue = Issue::new(name(path), code.to_owned(), message.to_owned()).fix(fix);
    Refusal::from(Failure::validation(ErrorCode::LiveArtifactInvalid, &[issue]))
}

fn missing(path: &Path) -> Refusal {
    Refusal::new(ErrorCode::NotFound, format!("there is no file {}", path.display()))
        .suggesting("write it first, or give its path with --input")
}

fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    Refusal::new(ErrorCode::BadRequest, format!("cannot read {}: {error}", name(path)))
        .suggesting("the file has to be readable UTF-8 text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn the_files_beside_the_input_go_with_it() {
        let folder = folder(&[
            ("artifact.json", r#"{"title":"T"}"#),
            ("data.json", r#"{"n":1}"#),
            ("template.html", "<p>{{data.n}}</p>"),
            ("provenance.json", r#"{"sources":[]}"#),
        ]);
        let read = read(&folder.path().join("artifact.json")).unwrap();
        assert_eq!(
            Value::Object(read.fields),
            json!({
                "input": {
                    "title": "T",
                    "document": { "format": "html_template_v1", "dataJson": { "n": 1 } },
                },
                "templateHtml": "<p>{{data.n}}</p>",
                "provenanceJson": { "sources": [] },
            })
        );
        assert!(read.warnings.is_empty());
    }

    #[test]
    fn data_json_wins_and_a_difference_is_remarked() {
        let with = |inner: &str| {
            let artifact = format!(r#"{{"title":"T","document":{{"dataJson":{inner}}}}}"#);
            let folder = folder(&[("artifact.json", &artifact), ("data.json", r#"{"n":1}"#)]);
            read(&folder.path().join("artifact.json")).unwrap()
        };
        let differs = with(r#"{"n":2}"#);
        assert_eq!(differs.fields["input"]["document"]["dataJson"], json!({ "n": 1 }));
        assert_eq!(differs.warnings[0]["code"], "data_json_differs");
        assert!(with(r#"{"n":1}"#).warnings.is_empty());
    }

    #[test]
    fn a_broken_file_is_named_with_its_place() {
        let folder =
            folder(&[("artifact.json", r#"{"title":"T"}"#), ("data.json", "{\n  \"n\": ,\n}")]);
        let refused = read(&folder.path().join("artifact.json")).unwrap_err();
        let issue = &refused.document()["error"]["details"]["issues"][0];
        assert_eq!(issue["path"], "data.json");
        assert_eq!(issue["fix"], "correct line 2, column 8");
        let missing = read(&folder.path().join("nothing.json")).unwrap_err();
        assert_eq!(missing.failure.code, ErrorCode::NotFound);
    }

    #[test]
    fn what_a_reader_would_lose_reaches_the_daemon_as_it_is_written() {
        let folder = folder(&[
            ("artifact.json", r#"{"title":"T"}"#),
            ("data.json", r#"{"n":1,"n":2}"#),
            ("provenance.json", r#"{"n":123456789012345678901}"#),
        ]);
        let read = read(&folder.path().join("artifact.json")).unwrap();
        assert_eq!(
            String::from_utf8(read.body()).unwrap(),
            r#"{"input":{"title":"T","document":{"format":"html_template_v1","dataJson":{"n":1,"n":2}}},"provenanceJson":{"n":123456789012345678901}}"#
        );
    }
}
