//! The schemas of every request an agent makes, and the lint that keeps them strict.

use super::object::Input;
use super::readers::{Reader as _, parsed};
use super::schema;
use crate::artifact::{CreateRequest, ToolUpdateRequest, UpdateRequest};
use crate::connector::ExecuteRequest;
use crate::ids::ArtifactId;
use crate::json::{Map, Pointer, Value};

/// The schema of one request, with everything inlined.
#[derive(Clone, Copy, Debug)]
pub struct AgentSchema {
    /// The name of its file.
    pub name: &'static str,
    /// Builds its JSON Schema.
    pub schema: fn() -> Value,
}

/// Every request an agent makes.
pub const AGENT_FACING: &[AgentSchema] = &[
    AgentSchema { name: "create-request", schema: CreateRequest::schema },
    AgentSchema { name: "update-request", schema: UpdateRequest::schema },
    AgentSchema { name: "tool-update-request", schema: ToolUpdateRequest::schema },
    AgentSchema { name: "refresh-request", schema: refresh_request },
    AgentSchema { name: "execute-request", schema: ExecuteRequest::schema },
];

fn refresh_request() -> Value {
    let artifact = parsed::<ArtifactId>().schema("the artifact");
    let properties = Map::from_iter([("artifactId".to_owned(), artifact)]);
    let description = "refreshes a live artifact's data from its source";
    schema::object(description, &properties, &["artifactId"])
}

/// The only places whose content is free, by the name of the property; each is described and
/// bounded.
pub const FREE_FORM: &[&str] = &["dataJson", "dataSchemaJson", "input"];

/// One broken rule of a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LintFault {
    /// Where, as a JSON pointer into the schema.
    pub at: String,
    /// The rule that is broken.
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
    use crate::error::Issue;

    #[track_caller]
    fn check_lint(property: &str, schema: &Value, want: &str) {
        let planted = json!({
            "type": "object", "description": "d", "additionalProperties": false,
            "properties": { property: schema },
        });
        let faults = lint(&planted);
        assert!(faults.iter().any(|fault| fault.what == want), "{want}: {faults:?}");
    }

    #[test]
    fn a_planted_fault_of_each_rule_is_found() {
        check_lint(
            "a",
            &json!({ "type": "object", "description": "d" }),
            "an object without declared properties",
        );
        check_lint(
            "a",
            &json!({ "type": "object", "description": "d", "properties": {} }),
            "an object that takes undeclared properties",
        );
        check_lint(
            "a",
            &json!({ "type": "array", "description": "d", "maxItems": 1 }),
            "an array without items",
        );
        check_lint(
            "a",
            &json!({ "type": "array", "description": "d", "items": { "enum": [1], "description": "d" } }),
            "an array without a bound",
        );
        check_lint(
            "runId",
            &json!({ "type": "string", "description": "d", "maxLength": 9 }),
            "an identifier without a pattern",
        );
        check_lint("a", &json!({ "type": "string", "description": "d" }), "a text without a bound");
        check_lint(
            "a",
            &json!({ "type": "integer", "description": "d", "minimum": 1 }),
            "a number without both bounds",
        );
        check_lint(
            "input",
            &json!({ "type": "object", "description": "d" }),
            "free-form without a bound",
        );
        check_lint("a", &json!({ "$ref": "#/x" }), "behind a $ref: some clients do not follow it");
        check_lint("a", &json!({ "type": "boolean" }), "not described");
        check_lint("a", &json!({ "description": "d" }), "no type");
        check_lint("a", &json!(true), "not a schema object");
    }

    /// Names the fields a reader knows, as its refusal of an unknown one lists them.
    fn known(refused: Result<(), Vec<Issue>>, path: &str) -> Vec<String> {
        let issues = refused.unwrap_err();
        let issue = issues.iter().find(|issue| issue.path == path && issue.code == "unknown_field");
        let want = issue.unwrap_or_else(|| panic!("{path}: {issues:?}")).want.clone().unwrap();
        want.trim_start_matches("one of ").split(", ").map(str::to_owned).collect()
    }

    fn declared(schema: &Value, pointer: &str) -> Vec<String> {
        let object = schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
        object["properties"].as_object().unwrap().keys().cloned().collect()
    }

    #[track_caller]
    fn check(
        schema: &Value,
        parse: impl Fn(&Value) -> Result<(), Vec<Issue>>,
        places: &[(&str, &str)],
    ) {
        for (in_schema, in_value) in places {
            // Builds a value with one unknown field at the place.
            let mut value = json!({ "zzzzzzzz": 1 });
            for step in in_value.split('/').skip(1).collect::<Vec<_>>().into_iter().rev() {
                value = if step == "0" { json!([value]) } else { json!({ step: value }) };
            }
            let mut known = known(parse(&value), &format!("{in_value}/zzzzzzzz"));
            let mut declared = declared(schema, in_schema);
            known.sort();
            declared.sort();
            assert_eq!(known, declared, "{in_value}");
        }
    }

    const DOCUMENT: &str = "/properties/input/properties/document";

    #[test]
    fn the_schemas_declare_what_the_readers_know() {
        let source = format!("{DOCUMENT}/properties/sourceJson");
        let mapping = format!("{source}/properties/outputMapping");
        let origin = "/properties/provenanceJson/properties/sources/items";
        let places = [
            ("", ""),
            ("/properties/input", "/input"),
            ("/properties/input/properties/preview", "/input/preview"),
            (DOCUMENT, "/input/document"),
            (&source, "/input/document/sourceJson"),
            (&format!("{source}/properties/connector"), "/input/document/sourceJson/connector"),
            (&mapping, "/input/document/sourceJson/outputMapping"),
            (
                &format!("{mapping}/properties/dataPaths/items"),
                "/input/document/sourceJson/outputMapping/dataPaths/0",
            ),
            ("/properties/provenanceJson", "/provenanceJson"),
            (origin, "/provenanceJson/sources/0"),
        ];
        check(&CreateRequest::schema(), |value| CreateRequest::parse(value).map(drop), &places);
        check(&UpdateRequest::schema(), |value| UpdateRequest::parse(value).map(drop), &places);
        let update = |value: &Value| ToolUpdateRequest::parse(value).map(drop);
        check(&ToolUpdateRequest::schema(), update, &places[..2]);
        check(
            &ExecuteRequest::schema(),
            |value| ExecuteRequest::parse(value).map(drop),
            &places[..1],
        );
    }

    #[test]
    fn every_agent_facing_schema_is_strict() {
        for shape in AGENT_FACING {
            assert_eq!(lint(&(shape.schema)()), Vec::new(), "{}", shape.name);
        }
    }
}
