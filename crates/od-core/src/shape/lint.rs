//! The rules an agent-facing schema keeps.

use crate::json::{Map, Pointer, Value};

/// The only places whose content is free, by the name of the property; each is described and
/// bounded.
pub const FREE_FORM: &[&str] = &["dataJson", "dataSchemaJson", "input"];

/// One broken rule of a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LintFault {
    /// Where, as a JSON pointer into the schema.
    pub at: String,
    /// What is wrong.
    pub what: &'static str,
}

/// Returns every rule an agent-facing schema breaks.
///
/// Objects declare their properties and refuse others; arrays declare items and a bound;
/// identifiers have a pattern; other texts a bound or a closed set; numbers both bounds; nothing is
/// behind a `$ref`. What is free-form is one of the named places, described and bounded.
#[must_use]
pub fn lint(schema: &Value) -> Vec<LintFault> {
    let mut faults = Vec::new();
    walk(schema, "", &Pointer::root(), &mut faults);
    faults
}

fn walk(schema: &Value, name: &str, at: &Pointer, faults: &mut Vec<LintFault>) {
    let mut fault = |what| faults.push(LintFault { at: at.as_str().to_owned(), what });
    let Value::Object(keywords) = schema else {
        return fault("not a schema object");
    };
    if keywords.contains_key("$ref") {
        return fault("behind a $ref: some clients do not follow it");
    }
    if keywords.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
        fault("not described");
    }
    if keywords.contains_key("enum") || keywords.contains_key("const") {
        return;
    }
    let types = types(keywords);
    if types.is_empty() {
        return fault("no type");
    }
    for kind in types {
        match kind {
            "object" => object(keywords, name, at, faults),
            "array" => array(keywords, at, faults),
            "string" => string(keywords, name, at, faults),
            "integer" | "number" => number(keywords, at, faults),
            "boolean" | "null" => {}
            _ => faults.push(LintFault { at: at.as_str().to_owned(), what: "an unknown type" }),
        }
    }
}

fn types(keywords: &Map) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            Vec::new()
        }
    }
}

fn object(keywords: &Map, name: &str, at: &Pointer, faults: &mut Vec<LintFault>) {
    let mut fault = |what| faults.push(LintFault { at: at.as_str().to_owned(), what });
    let Some(Value::Object(properties)) = keywords.get("properties") else {
        if !FREE_FORM.contains(&name) {
            fault("an object without declared properties");
        } else if !keywords.contains_key("maxProperties") {
            fault("free-form without a bound");
        }
        return;
    };
    if keywords.get("additionalProperties") != Some(&Value::Bool(false)) {
        fault("an object that takes undeclared properties");
    }
    for (name, schema) in properties {
        walk(schema, name, &at.clone().key("properties").key(name), faults);
    }
}

fn array(keywords: &Map, at: &Pointer, faults: &mut Vec<LintFault>) {
    if !keywords.contains_key("maxItems") {
        faults.push(LintFault { at: at.as_str().to_owned(), what: "an array without a bound" });
    }
    match keywords.get("items") {
        Some(items) => walk(items, "", &at.clone().key("items"), faults),
        None => {
            faults.push(LintFault { at: at.as_str().to_owned(), what: "an array without items" });
        }
    }
}

fn string(keywords: &Map, name: &str, at: &Pointer, faults: &mut Vec<LintFault>) {
    let has = |keyword| keywords.contains_key(keyword);
    let is_identifier = ["id", "slug"].contains(&name)
        || ["Id", "Name", "Path", "At"].iter().any(|ending| name.ends_with(ending));
    if is_identifier && !has("pattern") {
        faults.push(LintFault {
            at: at.as_str().to_owned(),
            what: "an identifier without a pattern",
        });
    }
    if !has("maxLength") {
        faults.push(LintFault { at: at.as_str().to_owned(), what: "a text without a bound" });
    }
}

fn number(keywords: &Map, at: &Pointer, faults: &mut Vec<LintFault>) {
    let is_bounded = ["minimum", "maximum"]
        .iter()
        .all(|keyword| keywords.get(*keyword).is_some_and(Value::is_number));
    if !is_bounded {
        faults.push(LintFault { at: at.as_str().to_owned(), what: "a number without both bounds" });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(property: &str, schema: &Value, want: &str) {
        let planted = json!({
            "type": "object", "description": "d", "additionalProperties": false,
            "properties": { property: schema },
        });
        let faults = lint(&planted);
        assert!(faults.iter().any(|fault| fault.what == want), "{want}: {faults:?}");
    }

    #[test]
    fn a_planted_fault_of_each_rule_is_found() {
        check(
            "a",
            &json!({ "type": "object", "description": "d" }),
            "an object without declared properties",
        );
        check(
            "a",
            &json!({ "type": "object", "description": "d", "properties": {} }),
            "an object that takes undeclared properties",
        );
        check(
            "a",
            &json!({ "type": "array", "description": "d", "maxItems": 1 }),
            "an array without items",
        );
        check(
            "a",
            &json!({ "type": "array", "description": "d", "items": { "enum": [1], "description": "d" } }),
            "an array without a bound",
        );
        check(
            "runId",
            &json!({ "type": "string", "description": "d", "maxLength": 9 }),
            "an identifier without a pattern",
        );
        check("a", &json!({ "type": "string", "description": "d" }), "a text without a bound");
        check(
            "a",
            &json!({ "type": "integer", "description": "d", "minimum": 1 }),
            "a number without both bounds",
        );
        check(
            "input",
            &json!({ "type": "object", "description": "d" }),
            "free-form without a bound",
        );
        check("a", &json!({ "$ref": "#/x" }), "behind a $ref: some clients do not follow it");
        check("a", &json!({ "type": "boolean" }), "not described");
        check("a", &json!({ "description": "d" }), "no type");
        check("a", &json!(true), "not a schema object");
    }
}
