//! The schemas are strict: what a model may send and will get is said, bounded and closed.

use od_mcp::ToolName;
use serde_json::{Value, json};

/// The free-form places, each bounded; of the inputs each is described, too.
const FREE_INPUTS: &[&str] = &[
    "/input/document/dataJson",
    "/input/document/dataSchemaJson",
    "/input/document/sourceJson/input",
    "/input",
];
const FREE_OUTPUTS: &[&str] = &["/output", "/metadata", "/connectors/[]/tools/[]/inputSchema"];
/// The strings that are identifiers.
const IDENTIFIERS: &[&str] =
    &["id", "slug", "artifactId", "connectorId", "toolName", "attemptId", "dataDigest"];

fn lint(schema: &Value, place: &str, free: &[&str], faults: &mut Vec<String>) {
    let mut fault = |what: &str| faults.push(format!("{place}: {what}"));
    for word in ["$ref", "$defs", "anyOf", "oneOf", "allOf", "projectId", "runId"] {
        if schema.get(word).is_some() || schema["properties"].get(word).is_some() {
            fault(word);
        }
    }
    let has = |word: &str| schema.get(word).is_some();
    let kind = schema["type"].as_array().map_or(&schema["type"], |kinds| match kinds.as_slice() {
        // A part that null takes away.
        [kind, null] if null == "null" => kind,
        _ => &Value::Null,
    });
    let kind = kind.as_str();
    match kind {
        Some("object") if has("properties") => {
            if schema["additionalProperties"] != false {
                fault("takes undeclared properties");
            }
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if IDENTIFIERS.contains(&name.as_str()) && property.get("pattern").is_none() {
                    faults.push(format!("{place}/{name}: an identifier without a pattern"));
                }
                lint(property, &format!("{place}/{name}"), free, faults);
            }
        }
        Some("object") if free.contains(&place) && has("maxProperties") => {}
        Some("array") if has("items") && has("maxItems") => {
            lint(&schema["items"], &format!("{place}/[]"), free, faults);
        }
        Some("integer" | "number") if has("minimum") && has("maximum") => {}
        Some("boolean" | "string") => {}
        None if !has("type") && free.contains(&place) => {}
        _ => fault("open or unbounded"),
    }
}

fn faults(schema: &Value, free: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    lint(schema, "", free, &mut faults);
    faults
}

#[test]
fn every_schema_is_inlined_closed_and_bounded() {
    for tool in ToolName::ALL {
        assert_eq!(faults(&tool.input_schema(), FREE_INPUTS), [""; 0], "{}", tool.as_str());
        assert_eq!(faults(&tool.output_schema(), FREE_OUTPUTS), [""; 0], "{}", tool.as_str());
    }
}

#[test]
fn every_free_place_of_an_input_is_described() {
    for tool in ToolName::ALL {
        let schema = tool.input_schema();
        for place in FREE_INPUTS {
            let pointer = place.replace('/', "/properties/");
            if let Some(found) =
                schema.pointer(&pointer).filter(|found| found.get("properties").is_none())
            {
                assert!(found["description"].is_string(), "{} {place}", tool.as_str());
            }
        }
    }
}

#[test]
fn a_planted_fault_is_found() {
    for (planted, fault) in [
        (json!({ "type": "object" }), "open or unbounded"),
        (json!({ "type": "object", "properties": {} }), "takes undeclared properties"),
        (json!({ "type": "array", "items": { "type": "string" } }), "open or unbounded"),
        (json!({ "type": "integer", "minimum": 0 }), "open or unbounded"),
        (json!({ "$ref": "#/$defs/X" }), "$ref"),
        (
            json!({ "type": "object", "additionalProperties": false, "properties": { "projectId": { "type": "string" } } }),
            "projectId",
        ),
        (
            json!({ "type": "object", "additionalProperties": false, "properties": { "id": { "type": "string" } } }),
            "an identifier without a pattern",
        ),
        (json!({ "type": ["object", "string"] }), "open or unbounded"),
    ] {
        assert!(faults(&planted, &[]).iter().any(|found| found.ends_with(fault)), "{planted}");
    }
}
