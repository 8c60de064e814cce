//! Messages of the protocol: JSON-RPC 2.0, one object each.

use od_core::error::Issue;
use od_core::json::Message;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It tells something.
    Notification {
        /// What it tells.
        method: String,
        /// The particulars.
        params: Map<String, Value>,
    },
    /// It answers a question of ours.
    Response {
        /// The question.
        id: Value,
        /// The answer; nothing if it is a refusal.
        result: Option<Value>,
    },
}

/// A request of the client.
#[derive(Debug)]
pub(crate) struct Request {
    /// Names it in its answer.
    pub(crate) id: Value,
    /// What is asked for.
    pub(crate) method: String,
    /// The particulars.
    pub(crate) params: Map<String, Value>,
    /// What only the bytes of the message show to be wrong: a key given twice, a number that is not exact.
    pub(crate) faults: Vec<Issue>,
    /// The arguments of a tool as they were written, if every fault is within them: a reader would lose what
    /// is wrong, and the daemon could not refuse it.
    pub(crate) written: Option<String>,
}

/// Where the arguments of a tool stand in a message.
pub(crate) const ARGUMENTS: &str = "/params/arguments";

/// A fault of the protocol, as its errors say it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Fault {
    /// The text is not JSON.
    pub(crate) const NOT_JSON: i32 = -32700;
    /// The JSON is not a message.
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    /// There is no such method.
    pub(crate) const UNKNOWN_METHOD: i32 = -32601;
    /// The particulars do not fit.
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    /// The daemon refused, or is not there.
    pub(crate) const INTERNAL: i32 = -32603;
    /// There is no such resource; for clients of 2025-11-25 and older.
    pub(crate) const UNKNOWN_RESOURCE: i32 = -32002;
    /// The revision is not spoken here.
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;

    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// Returns the fault as the answer to a request; `null` if it is not known to which.
    pub(crate) fn answer(self, id: &Value) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

/// Returns the answer to a request.
pub(crate) fn answer(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Reads one message, or says why it is none, as the answer.
pub(crate) fn read(bytes: &[u8]) -> Result<Incoming, Value> {
    let mut message = Message::read(bytes).map_err(|faults| {
        let said = faults.issues("").first().map(|issue| issue.message.clone());
        let message = format!("this is not JSON: {}", said.unwrap_or_default());
        Fault::new(Fault::NOT_JSON, message).answer(&Value::Null)
    })?;
    let faults = message.report(Vec::new());
    let invalid =
        |id: &Value, message: &str| Err(Fault::new(Fault::INVALID_REQUEST, message).answer(id));
    let Some(fields) = message.object_mut() else {
        return invalid(&Value::Null, "a message is one object; send each on a line of its own");
    };
    let id = fields.shift_remove("id");
    let params = match fields.shift_remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return invalid(&id.unwrap_or_default(), "`params` is an object");
        }
    };
    match (fields.shift_remove("method"), id) {
        (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
            let written = written_arguments(bytes, &faults);
            Ok(Incoming::Request(Request { id, method, params, faults, written }))
        }
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (None, Some(id)) if fields.contains_key("result") || fields.contains_key("error") => {
            Ok(Incoming::Response { id, result: fields.shift_remove("result") })
        }
        (_, id) => invalid(&id.unwrap_or_default(), "a message has a `method` or a `result`"),
    }
}

/// Returns the arguments of a tool as they are written, if there are faults and all of them are there.
fn written_arguments(bytes: &[u8], faults: &[Issue]) -> Option<String> {
    let within = |issue: &Issue| {
        issue.path.strip_prefix(ARGUMENTS).is_some_and(|rest| rest.starts_with('/'))
    };
    if faults.is_empty() || !faults.iter().all(within) {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}');
    let arguments = member(member(text, "params")?, "arguments")?;
    arguments.starts_with('{').then(|| arguments.to_owned())
}

/// Returns the text of an object's member.
///
/// `serde_json::value::RawValue` would do, but its feature changes how every `Value` of the program is read.
fn member<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = object.trim_start().strip_prefix('{')?;
    loop {
        let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let key = keys.next()?.ok()?;
        let value = rest.get(keys.byte_offset()..)?.trim_start().strip_prefix(':')?.trim_start();
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let (value, after) = value.split_at_checked(values.byte_offset())?;
        if key == name {
            return Some(value);
        }
        rest = after.trim_start().strip_prefix(',')?;
    }
}

/// Finds the id of a message of which only the two ends were kept: clients write it first or last.
pub(crate) fn id_of_ends(head: &[u8], tail: &[u8]) -> Value {
    let at_start = |text: &str| {
        let text = text.trim_start().strip_prefix('{')?.trim_start();
        let text = text
            .strip_prefix("\"jsonrpc\"")
            .map_or(Some(text), |rest| rest.split_once(',').map(|(_, rest)| rest.trim_start()))?;
        first_value(text.strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?)
    };
    let at_end = |text: &str| {
        let text = text.trim_end().strip_suffix('}')?;
        let (before, value) = text.rsplit_once("\"id\"")?;
        // A key of the message itself stands after a comma, and nothing after its value: a brace there
        // closes an object inside the message, whose id it is then.
        let value = value.trim_start().strip_prefix(':')?.trim();
        let is_key = before.trim_end().ends_with(',') && !value.ends_with('}');
        if is_key { first_value(value) } else { None }
    };
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    at_start(&head).or_else(|| at_end(&tail)).unwrap_or_default()
}

fn first_value(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let id: Value = values.next()?.ok()?;
    (id.is_string() || id.is_number()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_at_fault_are_kept_as_they_are_written() {
        let written = |line: &str| {
            let Ok(Incoming::Request(request)) = read(line.as_bytes()) else { panic!("{line}") };
            request.written
        };
        let call = |params: &str| format!(r#"{{"id":1,"method":"tools/call","params":{params}}}"#);
        for arguments in [
            r#"{"a":1,"a":2}"#,
            r#"{ "n" : 9007199254740993, "s": "}\"," }"#,
            r#"{"deep":[{"n":123456789012345678901}]}"#,
        ] {
            let before =
                call(&format!(r#"{{"name":"x","list":[1,{{}}],"arguments":{arguments}}}"#));
            assert_eq!(written(&before).as_deref(), Some(arguments), "{before}");
            let after = call(&format!(r#"{{ "arguments" : {arguments} , "name":"x"}}"#));
            assert_eq!(written(&after).as_deref(), Some(arguments), "{after}");
        }
        for params in [
            r#"{"arguments":{"a":1}}"#,
            r#"{"arguments":{"a":1},"arguments":{"a":2}}"#,
            r#"{"arguments":{"a":1,"a":2},"name":"x","name":"y"}"#,
            r#"{"arguments":[9007199254740993]}"#,
        ] {
            assert_eq!(written(&call(params)), None, "{params}");
        }
    }

    #[test]
    fn the_id_of_a_cut_message_is_found_where_clients_write_it() {
        for (head, tail, id) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xxx"#,
                "xx\"}}",
                json!(7),
            ),
            (r#"{ "id": "a-1", "jsonrpc": "2.0", "method"#, "}", json!("a-1")),
            (
                r#"{"method":"tools/call","params":{"a":"xx"#,
                r#"x"},"jsonrpc":"2.0","id":12}"#,
                json!(12),
            ),
            (r#"{"method":"tools/call","params":{"id":"xx"#, r#"x","id":3}}"#, Value::Null),
            ("xxxx", "xxxx", Value::Null),
        ] {
            assert_eq!(id_of_ends(head.as_bytes(), tail.as_bytes()), id, "{head} … {tail}");
        }
    }
}
