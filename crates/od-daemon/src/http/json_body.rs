//! Request bodies: a JSON object, read by the core's strict reader, as a type of the wire.

use std::cell::Cell;
use std::fmt;

use od_core::error::{ErrorCode, Failure, Issue, nearest_name};
use od_core::json::{self, Map, Message, Value, type_name};
use od_core::repair::explain_syntax;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

/// The fields of a request body, known by name and not yet read.
#[derive(Debug)]
pub(crate) struct Fields(Map);

impl Fields {
    /// Takes a body apart that may hold the fields of `T`, those of `also`, and no others. Nothing at
    /// all is `{}`.
    pub(crate) fn parse<T: DeserializeOwned>(body: &[u8], also: &[&str]) -> Result<Self, Failure> {
        let fields = object(body)?;
        let known: Vec<&str> = field_names::<T>().iter().chain(also).copied().collect();
        let unknown: Vec<Issue> = fields
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .map(|name| unknown_field(name, &known))
            .take(20)
            .collect();
        if unknown.is_empty() { Ok(Self(fields)) } else { Err(refused(&unknown)) }
    }

    /// Takes a field that is a text; absent and null are nothing.
    pub(crate) fn take_text(&mut self, name: &'static str) -> Result<Option<String>, Failure> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let got = type_name(&value);
                serde_json::from_value(value)
                    .map_err(|error| refused(&[invalid(name, got, &error)]))
            }
        }
    }

    /// Reads the type.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Failure> {
        T::deserialize(InOrder { fields: self.0, names: [].iter(), next: None })
            .map_err(|Fault(issue)| refused(&[*issue]))
    }
}

/// Reads a body as the object that a use case checks itself, with what only its bytes show to be
/// wrong; nothing at all is `{}`.
pub(crate) fn document(body: &[u8], code: ErrorCode) -> Result<Message, Failure> {
    if body.is_empty() {
        return Ok(Value::Object(Map::new()).into());
    }
    let message = Message::read(body).map_err(|faults| {
        // Only its bytes say what was meant: the line is shown as it should be.
        let text = std::str::from_utf8(body).ok();
        let shown = text.filter(|_| faults.is_syntax()).and_then(|text| explain_syntax("", text));
        Failure::validation(code, &shown.map_or_else(|| faults.issues(""), |issue| vec![issue]))
    })?;
    if message.value().is_object() {
        Ok(message)
    } else {
        Err(not_an_object(message.value(), code))
    }
}

fn object(body: &[u8]) -> Result<Map, Failure> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let code = ErrorCode::BadRequest;
    let value = json::parse_message(body)
        .map_err(|faults| Failure::validation(code, &faults.issues("")))?;
    let Value::Object(fields) = value else { return Err(not_an_object(&value, code)) };
    Ok(fields)
}

fn refused(issues: &[Issue]) -> Failure {
    Failure::validation(ErrorCode::BadRequest, issues)
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

fn invalid(name: &str, got: &str, error: &serde_json::Error) -> Issue {
    Issue::new(format!("/{name}"), "invalid", error.to_string())
        .got(got)
        .fix(format!("correct `{name}`; GET /openapi.json has its schema"))
}

/// A fault of a body, with the field it is in: serde's own errors do not name the field.
#[derive(Debug)]
struct Fault(Box<Issue>);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Box::new(Issue::new("", "invalid", message.to_string())))
    }

    fn missing_field(name: &'static str) -> Self {
        let issue = Issue::new(format!("/{name}"), "required", format!("`{name}` is missing"));
        Self(Box::new(issue.fix(format!("add `{name}`"))))
    }
}

/// Gives a struct its fields in the order in which it declares them, so that of two faults the same
/// one is told however the client ordered its body. A null is left out: absent and null are nothing.
struct InOrder {
    fields: Map,
    names: std::slice::Iter<'static, &'static str>,
    next: Option<(&'static str, Value)>,
}

impl<'de> Deserializer<'de> for InOrder {
    type Error = Fault;

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.names = names.iter();
        visitor.visit_map(self)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("the body of this route is no object"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for InOrder {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let fields = &mut self.fields;
        self.next = self.names.find_map(|name| {
            let value = fields.remove(*name).filter(|value| !value.is_null())?;
            Some((*name, value))
        });
        let Some((name, _)) = &self.next else { return Ok(None) };
        let name: StrDeserializer<'_, Fault> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (name, value) =
            self.next.take().ok_or_else(|| Fault::custom("a value without a key"))?;
        let got = type_name(&value);
        seed.deserialize(value).map_err(|error| Fault(Box::new(invalid(name, got, &error))))
    }
}

/// Returns the fields that a struct reads, as serde knows them.
fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Asks<'c>(&'c Cell<&'static [&'static str]>);

    impl<'de> Deserializer<'de> for Asks<'_> {
        type Error = Fault;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            names: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Fault> {
            self.0.set(names);
            Err(Fault::custom("only the names were asked for"))
        }

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
            Err(Fault::custom("no struct"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
            unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let names = Cell::new([].as_slice());
    // It always fails: nothing is read.
    let _ = T::deserialize(Asks(&names));
    names.get()
}

#[cfg(test)]
mod tests {
    use od_core::token::Variant;
    use od_wire::run::StartRun;
    use od_wire::session::OpenSession;
    use od_wire::session::TicketRequest;

    use super::*;

    fn read<T: DeserializeOwned>(body: &str) -> Result<T, Failure> {
        Fields::parse::<T>(body.as_bytes(), &[])?.read()
    }

    fn failed(body: &str) -> Failure {
        read::<TicketRequest>(body).unwrap_err()
    }

    #[test]
    fn fields_are_known_and_given_once() {
        assert_eq!(failed(r#"{"vareint":1}"#).suggestion, "did you mean `variant`?");
        for body in [
            r#"{"variant":"inspect","variant":"inspect"}"#,
            "[]",
            "{",
            "nul",
            r#"{"variant":"\ud800"}"#,
        ] {
            assert_eq!(failed(body).code, ErrorCode::BadRequest, "{body}");
        }
    }

    #[test]
    fn a_missing_body_is_an_empty_one_and_says_what_it_lacks() {
        assert!(read::<TicketRequest>("").is_ok());
        let failure = read::<OpenSession>("").unwrap_err();
        assert_eq!(failure.message, "/code: `code` is missing");
        assert_eq!(failure.suggestion, "add `code`");
    }

    #[test]
    fn a_null_is_nothing() {
        let ticket: TicketRequest = read(r#"{"snapshot":null,"variant":"template"}"#).unwrap();
        assert_eq!((ticket.variant, ticket.snapshot), (Some(Variant::Template), None));
        let failure = read::<OpenSession>(r#"{"code":null}"#).unwrap_err();
        assert_eq!(failure.suggestion, "add `code`");
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
        let failure = read::<OpenSession>(r#"{"code":7}"#).unwrap_err();
        assert_eq!(failure.message, "/code: invalid type: integer `7`, expected a string");
        // Of two the first that is declared, whatever the order of the body.
        let failure = failed(r#"{"snapshot":1,"variant":2}"#);
        assert!(failure.message.starts_with("/variant: "), "{}", failure.message);
    }

    #[test]
    fn fields_beside_the_type_are_taken_and_not_read() {
        let also = ["runId"];
        let body = br#"{"projectId":"p","runId":"r"}"#;
        let mut fields = Fields::parse::<StartRun>(body, &also).unwrap();
        assert_eq!(fields.take_text("runId").unwrap().as_deref(), Some("r"));
        assert_eq!(fields.read::<StartRun>().unwrap().project_id.as_str(), "p");
        let mut fields = Fields::parse::<StartRun>(br#"{"runId":1}"#, &also).unwrap();
        assert!(fields.take_text("runId").unwrap_err().message.starts_with("/runId: "));
        assert!(Fields::parse::<StartRun>(body, &[]).is_err());
    }
}
