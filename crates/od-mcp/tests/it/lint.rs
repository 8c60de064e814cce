//! The schemas keep the core's rules for what agents see, and two more that only MCP needs.
//!
//! A model reads these schemas on every turn, so they say less than the types do: descriptions stay
//! only where a name does not say enough, and what an answer holds is not bounded a second time.
//! Exactly those faults of the core's lint are let pass, and no others.

use od_core::input::{FREE_FORM, LintFault, lint};
use od_mcp::ToolName;
use serde_json::{Value, json};

/// What an answer gives as it came from a connector.
const FREE_OUTPUTS: &[&str] = &[
    "output",
    "metadata",
    "inputSchema",
    "sourceJson",
    "sources",
    "queries",
    "value",
    "artifact",
    "firstValues",
];

/// The parts of an update that create declares in full.
const AS_CREATE: &[&str] = &["/sourceJson", "/sources/items", "/queries/items", "/refresh"];

fn name_of(fault: &LintFault) -> &str {
    fault.at.rsplit('/').next().unwrap_or_default()
}

/// What the core's lint finds in a schema of arguments, minus what is left out to be short.
fn input_faults(schema: &Value) -> Vec<LintFault> {
    let bounded_by_pattern = |fault: &LintFault| {
        let pattern = schema.pointer(&fault.at).and_then(|place| place["pattern"].as_str());
        pattern.is_some_and(|pattern| !pattern.contains(['*', '+']))
    };
    let mut faults = lint(schema);
    faults.retain(|fault| match fault.what {
        "not described" => {
            // A free-form place says what it takes; an `input` with fields of its own need not.
            let place = schema.pointer(&fault.at);
            FREE_FORM.contains(&name_of(fault))
                && place.is_some_and(|place| place.get("properties").is_none())
        }
        "a text without a bound" => !bounded_by_pattern(fault),
        "an object without declared properties" => {
            !AS_CREATE.iter().any(|place| fault.at.ends_with(place))
        }
        _ => true,
    });
    faults
}

/// What the core's lint finds in a schema of answers, minus what binds only those who ask.
fn output_faults(schema: &Value) -> Vec<LintFault> {
    let mut faults = lint(schema);
    faults.retain(|fault| match fault.what {
        "not described"
        | "a text without a bound"
        | "a number without both bounds"
        | "an array without a bound"
        | "an object that takes undeclared properties"
        | "an identifier without a pattern" => false,
        "an object without declared properties" | "no type" => {
            !FREE_OUTPUTS.contains(&name_of(fault))
        }
        _ => true,
    });
    faults
}

/// Finds what some clients do not understand, and what the token alone decides.
fn mcp_faults(schema: &Value, place: &str, faults: &mut Vec<String>) {
    for word in ["$defs", "anyOf", "oneOf", "allOf"] {
        if schema.get(word).is_some() {
            faults.push(format!("{place}: {word}"));
        }
    }
    if schema["type"].is_array() {
        faults.push(format!("{place}: a list of types"));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if ["projectId", "runId"].contains(&name.as_str()) {
            faults.push(format!("{place}: {name}"));
        }
        mcp_faults(property, &format!("{place}/{name}"), faults);
    }
    if let Some(items) = schema.get("items") {
        mcp_faults(items, &format!("{place}/[]"), faults);
    }
}

#[test]
fn every_schema_keeps_the_cores_lint() {
    for tool in ToolName::ALL {
        assert_eq!(input_faults(&tool.input_schema()), [], "{}", tool.as_str());
        assert_eq!(output_faults(&tool.output_schema()), [], "{}", tool.as_str());
    }
}

#[test]
fn no_schema_has_a_choice_or_names_the_project() {
    for tool in ToolName::ALL {
        let mut faults = Vec::new();
        mcp_faults(&tool.input_schema(), "", &mut faults);
        mcp_faults(&tool.output_schema(), "", &mut faults);
        assert_eq!(faults, [""; 0], "{}", tool.as_str());
    }
}

#[test]
fn a_planted_fault_is_found_in_spite_of_what_is_let_pass() {
    let planted = |property: &str, schema: Value| json!({ "type": "object", "additionalProperties": false, "properties": { property: schema } });
    for (property, schema) in [("a", json!({ "type": "object" })), ("a", json!({ "$ref": "#/x" }))]
    {
        let schema = planted(property, schema);
        assert_ne!(input_faults(&schema), [], "{schema}");
        assert_ne!(output_faults(&schema), [], "{schema}");
    }
    for (property, schema) in [
        ("a", json!({ "type": "object", "properties": {} })),
        ("a", json!({ "type": "array", "items": { "type": "boolean" } })),
        ("a", json!({ "type": "integer", "minimum": 0 })),
        ("artifactId", json!({ "type": "string", "maxLength": 9 })),
        ("a", json!({ "type": "string" })),
        ("a", json!({ "type": "string", "pattern": "^a+$" })),
        ("dataJson", json!({ "type": "object", "maxProperties": 9 })),
    ] {
        let schema = planted(property, schema);
        assert_ne!(input_faults(&schema), [], "{schema}");
    }
    for schema in [planted("projectId", json!({ "type": "string" })), json!({ "anyOf": [] })] {
        let mut faults = Vec::new();
        mcp_faults(&schema, "", &mut faults);
        assert_ne!(faults, [""; 0], "{schema}");
    }
}
