//! The files that `od tools live-artifacts create` and `update` read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use od_core::error::{ErrorCode, Failure, Issue};
use od_core::json::parse_message;
use od_core::limits;
use od_core::repair::explain_syntax;
use serde_json::{Map, Value, json};

use crate::args::DataFile;
use crate::output::CommandError;

/// A request's body so far, and remarks for the agent.
#[derive(Debug, Default)]
pub(crate) struct ToolInput {
    /// `input`, and `templateHtml` and `provenanceJson` if their files are there.
    pub(crate) body: JsonObject,
    /// Remarks that do not stop the request.
    pub(crate) warnings: Vec<Value>,
}

/// Reads artifact.json and, beside it, template.html, provenance.json and, if it is sent, data.json.
pub(crate) fn read(path: &Path, data: DataFile) -> Result<ToolInput, CommandError> {
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut read = ToolInput::default();
    let input = unwrap_request(read_object(path)?, &mut read);
    let data = match data {
        DataFile::Sent => read_json(&beside.join("data.json"))?,
        DataFile::LeftOut => {
            if beside.join("data.json").exists() {
                read.warnings.push(json!({
                    "code": "data_json_left_out",
                    "message": "data.json was not sent: an update changes the data only if it is told to",
                    "fix": "add --with-data if the data should change too",
                }));
            }
            None
        }
    };
    let input = match (input, data) {
        (Json::Read(Value::Object(input)), Some(data)) => {
            place_data(&input, &data, &mut read.warnings)
        }
        (input, _) => input.text(),
    };
    read.body.set_text("input", input);
    if let Some(html) = read_text(&beside.join("template.html"))? {
        read.body.set("templateHtml", html);
    }
    if let Some(provenance) = read_json(&beside.join("provenance.json"))? {
        read.body.set_text("provenanceJson", provenance.text());
    }
    Ok(read)
}

/// Takes a file that holds a whole request (`{ "input": …, "templateHtml": … }`) as the request that
/// it is, with a remark; the files beside it win over what it holds.
fn unwrap_request(json: Json, read: &mut ToolInput) -> Json {
    let Json::Read(Value::Object(mut request)) = json else { return json };
    let is_request = request.get("input").is_some_and(Value::is_object)
        && request.keys().all(|key| {
            ["input", "templateHtml", "provenanceJson", "attemptId", "artifactId", "ifRevision"]
                .contains(&key.as_str())
        });
    let input = if is_request { request.remove("input") } else { None };
    let Some(input) = input else { return Json::Read(Value::Object(request)) };
    read.warnings.push(json!({
        "code": "request_unwrapped",
        "message": "artifact.json holds a whole request: its `input` was taken for the artifact",
        "fix": "write what `input` holds at the top of artifact.json, and the template to template.html",
    }));
    for (name, value) in request {
        read.body.set(&name, value);
    }
    Json::Read(input)
}

/// Reads a tool's input from a file, or from stdin if the path is `-`.
pub(crate) fn read_tool_input(path: &Path) -> Result<ToolInput, CommandError> {
    let mut read = ToolInput::default();
    read.body.set_text("input", read_object(path)?.text());
    Ok(read)
}

/// A JSON object whose members are JSON texts, in order.
///
/// `serde_json::value::RawValue` would hold them as well. Its feature, however, changes how every
/// `Value` of the program is read: an object that begins with the key
/// `$serde_json::private::RawValue` becomes whatever its text says, or an error. Artifacts may hold
/// any key, so that one page with this one would no longer be readable.
#[derive(Debug, Default)]
pub(crate) struct JsonObject {
    members: Vec<(String, String)>,
}

impl JsonObject {
    /// Sets a member, in its old place if it has one.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.set_text(name, value.into().to_string());
    }

    /// Sets a member to a text, which has to be JSON.
    fn set_text(&mut self, name: &str, text: String) {
        match self.members.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = text,
            None => self.members.push((name.to_owned(), text)),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// Returns the object's own text.
    pub(crate) fn text(&self) -> String {
        let members: Vec<String> = self
            .members
            .iter()
            .map(|(name, text)| format!("{}:{text}", Value::from(name.as_str())))
            .collect();
        format!("{{{}}}", members.join(","))
    }
}

impl From<&Map<String, Value>> for JsonObject {
    fn from(map: &Map<String, Value>) -> Self {
        Self {
            members: map.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        }
    }
}

/// A JSON text.
#[derive(Debug)]
enum Json {
    Read(Value),
    /// A reader would lose what is wrong with it (a key that stands twice, digits that no double
    /// holds), and the daemon could not refuse it: it goes there as it is.
    AsWritten(String),
}

impl Json {
    fn text(self) -> String {
        match self {
            Self::Read(value) => value.to_string(),
            Self::AsWritten(text) => text,
        }
    }
}

/// Reads a JSON object from a file, or from stdin if the path is `-`.
fn read_object(path: &Path) -> Result<Json, CommandError> {
    let json = if path == Path::new("-") {
        parse(path, read_bounded(path, io::stdin())?)?
    } else {
        read_json(path)?.ok_or_else(|| {
            let message = format!("there is no file {}", path.display());
            CommandError::new(ErrorCode::NotFound, message)
                .suggest("write it first, or give its path with --input")
        })?
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

/// Returns the input's text with data.json as the document's data, and remarks on a copy inside
/// artifact.json that says something else.
fn place_data(input: &Map<String, Value>, data: &Json, warnings: &mut Vec<Value>) -> String {
    let mut whole = JsonObject::from(input);
    let none = Value::Object(Map::new());
    // Anything but an object is left as it is: the daemon says what is wrong with it.
    let Value::Object(given) = input.get("document").unwrap_or(&none) else { return whole.text() };
    let mut document = JsonObject::from(given);
    if !document.has("format") {
        document.set("format", "html_template_v1");
    }
    let (text, read) = match data {
        Json::Read(value) => (value.to_string(), Some(value)),
        Json::AsWritten(text) => (text.clone(), None),
    };
    if given.contains_key("dataJson") && given.get("dataJson") != read {
        warnings.push(json!({
            "code": "data_json_differs",
            "message": "data.json and document.dataJson in artifact.json differ; data.json was used",
            "fix": "remove dataJson from artifact.json",
        }));
    }
    document.set_text("dataJson", text);
    whole.set_text("document", document.text());
    whole.text()
}

fn read_json(path: &Path) -> Result<Option<Json>, CommandError> {
    read_text(path)?.map(|text| parse(path, text)).transpose()
}

/// Reads JSON as strictly as the daemon reads a request.
fn parse(path: &Path, text: String) -> Result<Json, CommandError> {
    if let Some(issue) = explain_syntax(&name(path), &text) {
        return Err(Failure::validation(ErrorCode::LiveArtifactInvalid, &[issue]).into());
    }
    Ok(match parse_message(text.as_bytes()) {
        Ok(value) => Json::Read(value),
        Err(_) => Json::AsWritten(text),
    })
}

/// Reads a text file within the bounds of a request; `None` if there is none.
fn read_text(path: &Path) -> Result<Option<String>, CommandError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    read_bounded(path, file).map(Some)
}

/// Reads no more than a request may hold: what is longer would be refused anyway.
fn read_bounded(path: &Path, source: impl Read) -> Result<String, CommandError> {
    let limit = limits::REQUEST_BODY.allowed;
    let mut text = String::new();
    source.take(limit + 1).read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    if text.len() as u64 > limit {
        let message = format!("{} has more than {limit} bytes", name(path));
        return Err(CommandError::new(ErrorCode::PayloadTooLarge, message)
            .suggest("keep only what the page shows")
            .detail("allowed", limit));
    }
    // Some editors begin a file with a byte order mark.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn faulty(path: &Path, code: &str, message: &str, fix: &str) -> CommandError {
    let issue = Issue::new(name(path), code.to_owned(), message.to_owned()).fix(fix);
    CommandError::from(Failure::validation(ErrorCode::LiveArtifactInvalid, &[issue]))
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, format!("cannot read {}: {error}", name(path)))
        .suggest("the file has to be readable UTF-8 text")
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
        let read = read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&read.body.text()).unwrap(),
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
    fn data_json_is_not_even_read_by_an_update_that_does_not_ask_for_it() {
        let folder = folder(&[
            ("artifact.json", r#"{"title":"T"}"#),
            ("data.json", "not JSON"),
            ("template.html", "<p></p>"),
        ]);
        let read = read(&folder.path().join("artifact.json"), DataFile::LeftOut).unwrap();
        assert_eq!(read.body.text(), r#"{"input":{"title":"T"},"templateHtml":"<p></p>"}"#);
        assert_eq!(read.warnings[0]["code"], "data_json_left_out");
    }

    #[test]
    fn a_whole_request_is_taken_for_what_it_is() {
        let request = r#"{"input":{"title":"T"},"templateHtml":"<b></b>","attemptId":"a"}"#;
        let folder = folder(&[("artifact.json", request)]);
        let read = read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&read.body.text()).unwrap(),
            json!({ "input": { "title": "T" }, "templateHtml": "<b></b>", "attemptId": "a" })
        );
        assert_eq!(read.warnings[0]["code"], "request_unwrapped");
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_a_file() {
        let folder = folder(&[
            ("artifact.json", "\u{feff}{\"title\":\"T\"}"),
            ("template.html", "\u{feff}<p></p>"),
        ]);
        let read = read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap();
        assert_eq!(read.body.text(), r#"{"input":{"title":"T"},"templateHtml":"<p></p>"}"#);
    }

    #[test]
    fn data_json_wins_and_a_difference_is_remarked() {
        let with = |inner: &str| {
            let artifact = format!(r#"{{"title":"T","document":{{"dataJson":{inner}}}}}"#);
            let folder = folder(&[("artifact.json", &artifact), ("data.json", r#"{"n":1}"#)]);
            read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap()
        };
        let differs = with(r#"{"n":2}"#);
        let body: Value = serde_json::from_str(&differs.body.text()).unwrap();
        assert_eq!(body["input"]["document"]["dataJson"], json!({ "n": 1 }));
        assert_eq!(differs.warnings[0]["code"], "data_json_differs");
        assert!(with(r#"{"n":1}"#).warnings.is_empty());
    }

    #[test]
    fn a_broken_file_is_named_with_its_place() {
        let folder =
            folder(&[("artifact.json", r#"{"title":"T"}"#), ("data.json", "{\n  \"n\": ,\n}")]);
        let refused = read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap_err();
        let issue = &refused.document()["error"]["details"]["issues"][0];
        assert_eq!(issue["path"], "data.json");
        assert_eq!(issue["got"], "\"n\": ,");
        assert!(issue["message"].as_str().unwrap().contains("line 2, column 8"));
        let missing = read(&folder.path().join("nothing.json"), DataFile::Sent).unwrap_err();
        assert_eq!(missing.failure.code, ErrorCode::NotFound);
    }

    #[test]
    fn an_input_that_only_the_daemon_may_judge_takes_no_data_in() {
        let folder = folder(&[("artifact.json", r#"{"a":1,"a":2}"#), ("data.json", r#"{"n":1}"#)]);
        let mut read = read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap();
        read.body.set("attemptId", "x \"y\"");
        assert_eq!(read.body.text(), r#"{"input":{"a":1,"a":2},"attemptId":"x \"y\""}"#);
    }

    #[test]
    fn what_a_reader_would_lose_reaches_the_daemon_as_it_is_written() {
        let folder = folder(&[
            ("artifact.json", r#"{"title":"T"}"#),
            ("data.json", r#"{"n":1,"n":2}"#),
            ("provenance.json", r#"{"n":123456789012345678901}"#),
        ]);
        let read = read(&folder.path().join("artifact.json"), DataFile::Sent).unwrap();
        assert_eq!(
            read.body.text(),
            r#"{"input":{"title":"T","document":{"format":"html_template_v1","dataJson":{"n":1,"n":2}}},"provenanceJson":{"n":123456789012345678901}}"#
        );
    }
}
