//! Request bodies: a JSON object whose fields are known, each at most once.
//!
//! The fields stay raw until a handler takes them, so that documents go through the core's bounded
//! parser from their very bytes, and a template, which may be longer than any bounded string, does not.

use std::fmt;

use od_core::error::{ErrorCode, Failure, Issue, nearest_name};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The fields of a request body.
#[derive(Debug)]
pub(crate) struct Fields {
    fields: Vec<(String, Box<RawValue>)>,
}

impl Fields {
    /// Reads a body that may hold the `known` fields and no others. Nothing at all is `{}`.
    pub(crate) fn parse(body: &[u8], known: &[&str]) -> Result<Self, Failure> {
        if body.is_empty() {
            return Ok(Self { fields: Vec::new() });
        }
        let RawFields(fields) = serde_json::from_slice(body).map_err(|error| {
            let place = format!("line {} column {}", error.line(), error.column());
            Failure::new(ErrorCode::BadRequest, format!("the body is not a JSON object: {error}"))
                .suggest(format!("correct the JSON at {place}"))
        })?;
        let mut issues = Vec::new();
        for (n, (name, _)) in fields.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                issues.push(unknown_field(name, known));
            } else if fields[..n].iter().any(|(earlier, _)| earlier == name) {
                issues.push(
                    Issue::new(format!("/{name}"), "duplicate_key", format!("`{name}` is given twice"))
                        .fix(format!("give `{name}` once")),
                );
            }
        }
        if issues.is_empty() {
            Ok(Self { fields })
        } else {
            issues.truncate(20);
            Err(Failure::validation(ErrorCode::BadRequest, &issues))
        }
    }

    /// Returns a field's own bytes.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, raw)| raw.get())
    }

    /// Reads a field as a type; absent and null are nothing.
    pub(crate) fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Failure> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map_err(|error| {
            // The position is one inside the field, which nobody can count to; the path says where.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let issue = Issue::new(format!("/{name}"), "invalid", message);
            Failure::validation(ErrorCode::BadRequest, &[issue])
        })
    }

    /// Reads a field that has to be there.
    pub(crate) fn required<T: DeserializeOwned>(&self, name: &str) -> Result<T, Failure> {
        self.optional(name)?.ok_or_else(|| {
            let issue = Issue::new(format!("/{name}"), "required", format!("`{name}` is missing"))
                .fix(format!("add `{name}`"));
            Failure::validation(ErrorCode::BadRequest, &[issue])
        })
    }
}

fn unknown_field(name: &str, known: &[&str]) -> Issue {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    let issue = Issue::new(format!("/{shown}"), "unknown_field", format!("unknown field `{shown}`"));
    match nearest_name(name, known.iter().copied()) {
        Some(near) => issue.fix(format!("did you mean `{near}`?")),
        None if known.is_empty() => issue.fix("send `{}`"),
        None => issue.want(format!("one of {}", known.join(", "))),
    }
}

struct RawFields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for RawFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = RawFields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry::<String, Box<RawValue>>()? {
                    // More fields than any route takes: the rest would only fill memory.
                    if fields.len() == 32 {
                        return Err(serde::de::Error::custom("too many fields"));
                    }
                    fields.push(entry);
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
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
        assert_eq!(failed(r#"{"code":1,"code":2}"#).suggestion, "give `code` once");
        assert_eq!(failed("[]").code, ErrorCode::BadRequest);
        assert_eq!(failed("{").suggestion, "correct the JSON at line 1 column 1");
        assert_eq!(failed("\u{feff}{}").code, ErrorCode::BadRequest);
    }

    #[test]
    fn a_missing_body_is_an_empty_one_and_says_what_it_lacks() {
        let fields = Fields::parse(b"", &["code"]).unwrap();
        assert_eq!(fields.optional::<String>("code").unwrap(), None);
        assert_eq!(fields.required::<String>("code").unwrap_err().suggestion, "add `code`");
    }

    #[test]
    fn a_wrong_type_names_its_field() {
        let fields = Fields::parse(br#"{"code":7}"#, &["code"]).unwrap();
        let failure = fields.required::<String>("code").unwrap_err();
        assert_eq!(failure.message, "/code: invalid type: integer `7`, expected a string");
    }
}
