//! Errors that providers send with a good status.

use crate::json::{Map, Value};

/// Returns what an output says if it tells of an error rather than data.
///
/// Only the top level is looked at: an `error` deeper down is data about something else. So is one
/// that stands beside rows.
pub(super) fn disguised_error(output: &Value) -> Option<String> {
    let object = output.as_object()?;
    if !tells_of_error(object) {
        return None;
    }
    Some(message(object).chars().take(500).collect())
}

fn tells_of_error(object: &Map) -> bool {
    let flag = |key: &str| object.get(key).and_then(Value::as_bool);
    let says_no = ["ok", "success", "successful"].iter().any(|key| flag(key) == Some(false));
    let says_error = ["isError", "is_error"].iter().any(|key| flag(key) == Some(true));
    if says_no || says_error {
        return true;
    }
    let status = object.get("status");
    let is_status_word = status.and_then(Value::as_str).is_some_and(|word| {
        matches!(word.to_ascii_lowercase().as_str(), "error" | "failed" | "failure")
    });
    let is_status_number = ["status", "statusCode", "status_code", "code"].iter().any(|key| {
        let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        object.get(*key).and_then(number).is_some_and(|code| (400..600).contains(&code))
    });
    let has_message = object.get("message").is_some_and(Value::is_string);
    // GitHub's errors have a message and a link to the documentation, and nothing else.
    let is_github = has_message && object.contains_key("documentation_url");
    let few = object.len() <= 6 && !object.values().any(has_rows);
    let names_error = ["error", "errors"].iter().any(|key| object.get(*key).is_some_and(is_error));
    few && (names_error || is_github || ((is_status_word || is_status_number) && has_message))
}

fn is_error(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Number(_) => false,
        Value::Bool(true) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// Rows of objects, other than a list of errors, are data.
fn has_rows(value: &Value) -> bool {
    value.as_array().is_some_and(|items| {
        items.iter().any(|item| item.as_object().is_some_and(|row| !row.contains_key("message")))
    })
}

fn message(object: &Map) -> String {
    let text_of = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(inner) => inner.get("message").and_then(Value::as_str).map(str::to_owned),
        Value::Array(items) => items.first().and_then(|first| match first {
            Value::String(text) => Some(text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
            Value::Object(inner) => inner.get("message").and_then(Value::as_str).map(str::to_owned),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    };
    ["message", "error", "errors", "error_description", "reason", "detail"]
        .iter()
        .find_map(|key| object.get(*key).and_then(text_of))
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_with_a_good_status_are_found() {
        for (value, want) in [
            (json!({ "error": "boom" }), "boom"),
            (json!({ "error": { "code": 5, "message": "deep" } }), "deep"),
            (json!({ "errors": [{ "message": "first" }], "data": null }), "first"),
            (json!({ "ok": false, "error": "channel_not_found" }), "channel_not_found"),
            (json!({ "success": false }), "no message"),
            (json!({ "isError": true, "message": "m" }), "m"),
            (json!({ "message": "Not Found", "documentation_url": "https://x" }), "Not Found"),
            (json!({ "status": 404, "message": "gone" }), "gone"),
            (json!({ "status": "error", "message": "bad" }), "bad"),
        ] {
            assert_eq!(disguised_error(&value).as_deref(), Some(want), "{value}");
        }
    }

    #[test]
    fn data_about_errors_is_data() {
        for value in [
            json!([{ "error": "x" }]),
            json!({ "items": [{ "error": "x" }] }),
            json!({ "error": null, "rows": [] }),
            json!({ "errors": [], "count": 0 }),
            json!({ "errors": 3, "warnings": 1 }),
            json!({ "status": "failed", "title": "build" }),
            json!({ "message": "hello", "status": 200 }),
            json!({ "items": [{ "a": 1 }], "errors": [{ "line": 3 }] }),
            json!({ "success": true, "error": "" }),
        ] {
            assert_eq!(disguised_error(&value), None, "{value}");
        }
    }
}
