//! Request bodies: a JSON object with known fields, read by the core's strict reader.

use od_core::error::{ErrorCode, Failure, Issue, nearest_name};
use od_core::json::{self, Map, Message, Value, type_name};
use serde::de::DeserializeOwned;

/// The fields of a request body.
#[derive(Debug)]
pub(crate) struct Fields(Map);

impl Fields {
    /// Reads a body that may hold the `known` fields and no others. Nothing at all is `{}`.
    pub(crate) fn parse(body: &[u8], known: &[&str]) -> Result<Self, Failure> {
        let fields = object(body, ErrorCode::BadRequest)?;
        let unknown: Vec<Issue> = fields
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .map(|name| unknown_field(name, known))
            .take(20)
            .collect();
        if unknown.is_empty() {
            Ok(Self(fields))
        } else {
            Err(Failure::validation(ErrorCode::BadRequest, &unknown))
        }
    }

    /// Takes a field as it is; absent and null are nothing.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a field as a type.
    pub(crate) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let got = type_name(&value);
        serde_json::from_value(value).map(Some).map_err(|error| {
            let issue = Issue::new(format!("/{name}"), "invalid", error.to_string())
                .got(got)
                .fix(format!("correct `{name}`; GET /openapi.json has its schema"));
            Failure::validation(ErrorCode::BadRequest, &[issue])
        })
    }

    /// Takes a field that has to be there.
    pub(crate) fn required<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, Failure> {
        self.optional(name)?.ok_or_else(|| {
            let issue = Issue::new(format!("/{name}"), "required", format!("`{name}` is missing"))
                .fix(format!("add `{name}`"));
            Failure::validation(ErrorCode::BadRequest, &[issue])
        })
    }
}

/// Reads a body as an object; nothing at all is `{}`.
fn object(body: &[u8], code: ErrorCode) -> Result<Map, Failure> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let value = json::parse_message(body)
        .map_err(|faults| Failure::validation(code, &faults.issues("")))?;
    let Value::Object(fields) = value else { return Err(not_an_object(&value, code)) };
    Ok(fields)
}

/// Reads a body as the object that a use case checks itself, with what only its bytes show to be
/// wrong; nothing at all is `{}`.
pub(crate) fn document(body: &[u8], code: ErrorCode) -> Result<Message, Failure> {
    if body.is_empty() {
        return Ok(Value::Object(Map::new()).into());
    }
    let message =
        Message::read(body).map_err(|faults| Failure::validation(code, &faults.issues("")))?;
    if message.value().is_object() {
        Ok(message)
    } else {
        Err(not_an_object(message.value(), code))
    }
}

fn not_an_object(value: &Value, code: ErrorCode) -> Failure {
    let issue = Issue::new("", "wrong_type", "the body is not an object")
        .got(type_name(value))
        .want("an object")
        .fix("send one JSON object: `{ … }`");
    Failure::validation(code, &[issue])
}

fn unknown_field(name: &str, known: &[&str]) -> Issue {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    let issue =
        Issue::new(format!("/{shown}"), "unknown_field", format!("unknown field `{shown}`"));
    match nearest_name(name, known.iter().copied()) {
        Some(near) => issue.fix(format!("did you mean `{near}`?")),
        None if known.is_empty() => issue.fix("send `{}`"),
        None => issue.want(format!("one of {}", known.join(", "))).fix("remove it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(body: &str) -> Failure {
        Fields::parse(body.as_bytes(), &["code", "variant"]).unwrap_err()
    }

    #[test]
    fn fields_are_known_and_given_once() {
        assert_eq!(failed(r#"{"vareint":1}"#).suggestion, "did you mean `variant`?");
        for body in
            [r#"{"code":1,"code":2}"#, "[]", "{", "\u{feff}{}", "nul", r#"{"code":"\ud800"}"#]
        {
            assert_eq!(failed(body).code, ErrorCode::BadRequest, "{body}");
        }
    }

    #[test]
    fn a_missing_body_is_an_empty_one_and_says_what_it_lacks() {
        let mut fields = Fields::parse(b"", &["code"]).unwrap();
        assert_eq!(fields.optional::<String>("code").unwrap(), None);
        assert_eq!(fields.required::<String>("code").unwrap_err().suggestion, "add `code`");
    }

    #[test]
    fn a_document_is_read_past_what_only_its_bytes_show() {
        let read = |body: &str| document(body.as_bytes(), ErrorCode::LiveArtifactInvalid);
        let message = read(r#"{"n":9007199254740993,"input":{"title":5}}"#).unwrap();
        assert!(!message.is_sound());
        assert_eq!(message.value()["input"]["title"], 5, "what comes after it is there to judge");
        for body in ["[]", "{", r#"{"n":9007199254740993,"#] {
            let failure = read(body).unwrap_err();
            assert_eq!(failure.code, ErrorCode::LiveArtifactInvalid, "{body}");
            assert!(!failure.suggestion.is_empty());
        }
        assert!(read("").unwrap().is_sound());
    }

    #[test]
    fn a_wrong_type_names_its_field() {
        let mut fields = Fields::parse(br#"{"code":7}"#, &["code"]).unwrap();
        let failure = fields.required::<String>("code").unwrap_err();
        assert_eq!(failure.message, "/code: invalid type: integer `7`, expected a string");
    }
}
