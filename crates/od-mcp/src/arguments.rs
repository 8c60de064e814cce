//! Arguments as models send them: now and then an object arrives as the text of its JSON.

use od_core::json::parse_message;
use serde_json::{Map, Value};

/// Reads texts as objects or arrays where the schema cannot mean a text, and returns the places.
///
/// Each value is read at most once: what comes out of a text is not looked into again, and a text
/// that is not what the schema wants stays as it is, for the daemon to refuse.
pub(crate) fn read_texts(
    arguments: &mut Map<String, Value>,
    schema: &Map<String, Value>,
) -> Vec<String> {
    let mut places = Vec::new();
    walk_properties(arguments, schema.get("properties"), "", &mut places);
    places
}

fn walk_properties(
    fields: &mut Map<String, Value>,
    properties: Option<&Value>,
    place: &str,
    places: &mut Vec<String>,
) {
    let Some(properties) = properties.and_then(Value::as_object) else { return };
    for (name, value) in fields {
        if let Some(schema) = properties.get(name) {
            walk(value, schema, &format!("{place}/{name}"), places);
        }
    }
}

fn walk(value: &mut Value, schema: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            if let Some(read) = read_text(text, schema) {
                *value = read;
                places.push(place.to_owned());
            }
        }
        Value::Object(fields) => walk_properties(fields, schema.get("properties"), place, places),
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for (n, item) in items.iter_mut().enumerate() {
                walk(item, schema, &format!("{place}/{n}"), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the object or array whose JSON the text is, if the schema wants exactly that.
fn read_text(text: &str, schema: &Value) -> Option<Value> {
    let wants = |wanted: &str| match schema.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => {
            kinds.iter().any(|kind| kind == wanted) && kinds.iter().all(|kind| kind != "string")
        }
        _ => false,
    };
    let kind = match text.trim_start().chars().next()? {
        '{' => "object",
        '[' => "array",
        _ => return None,
    };
    // A key given twice stays in the text, where the daemon refuses it.
    if wants(kind) { parse_message(text.as_bytes()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "input": {
                    "type": "object",
                    "properties": {
                        "title": { "type": "string" },
                        "document": {
                            "type": "object",
                            "properties": { "dataJson": { "type": "object" } },
                        },
                    },
                },
                "templateHtml": { "type": "string" },
                "sources": { "type": "array", "items": { "type": "object" } },
                "either": { "type": ["object", "string"] },
                "removable": { "type": ["object", "null"] },
            },
        })
    }

    #[track_caller]
    fn check(given: Value, expected: &Value, places: &[&str]) {
        let Value::Object(mut given) = given else { panic!("arguments are an object") };
        let Value::Object(schema) = schema() else { panic!("a schema is an object") };
        assert_eq!(read_texts(&mut given, &schema), places);
        assert_eq!(&Value::Object(given), expected);
    }

    #[test]
    fn an_object_sent_as_text_is_read_where_no_text_can_be_meant() {
        check(
            json!({ "input": r#"{"title":"T"}"# }),
            &json!({ "input": { "title": "T" } }),
            &["/input"],
        );
        check(
            json!({ "input": { "document": { "dataJson": " {\"n\":1}" } } }),
            &json!({ "input": { "document": { "dataJson": { "n": 1 } } } }),
            &["/input/document/dataJson"],
        );
        check(
            json!({ "sources": ["{}", {}], "either": "{}", "removable": "{}" }),
            &json!({ "sources": [{}, {}], "either": "{}", "removable": {} }),
            &["/sources/0", "/removable"],
        );
        check(json!({ "sources": "[{}]" }), &json!({ "sources": [{}] }), &["/sources"]);
    }

    #[test]
    fn a_text_that_means_a_text_stays_a_text() {
        for given in [
            json!({ "templateHtml": "{\"a\":1}" }),
            json!({ "input": { "title": "{}" } }),
            json!({ "unknown": "{}" }),
            json!({ "input": "not json" }),
            json!({ "input": "[1]" }),
            json!({ "input": "{\"a\":" }),
            json!({ "input": { "document": { "dataJson": { "note": "{}" } } } }),
        ] {
            check(given.clone(), &given, &[]);
        }
    }

    #[test]
    fn a_text_is_read_once() {
        let twice = json!(r#"{"title":"T"}"#).to_string();
        check(json!({ "input": twice.clone() }), &json!({ "input": twice }), &[]);
        check(
            json!({ "input": r#"{"document":"{}"}"# }),
            &json!({ "input": { "document": "{}" } }),
            &["/input"],
        );
    }
}
