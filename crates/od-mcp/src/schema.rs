//! Schemas for agents: made from the wire types, everything inlined, nothing said twice.
//!
//! A model reads them on every turn, so they are short: the doc comments of the types stay behind
//! and the few words a model needs are put back by [`crate::tool`].

use od_core::ids::ArtifactId;
use od_wire::route::{QueryName, Route};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Returns the schema of a request in fewer words.
///
/// A choice of a type and `null` becomes the type: hosts that hand schemas to models of other makers
/// refuse a list of types. That `null` removes a part is said in the part's description.
pub(crate) fn compacted(schema: Schema) -> Value {
    let mut schema = schema.to_value();
    compact(&mut schema);
    schema
}

/// Returns the schema of the parameters of a route without a body: those of its path, then those of
/// its query. What the token says already is left out.
pub(crate) fn of_parameters(route: &Route) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let mut generator = settings.into_generator();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in route.parameters() {
        let name = format!("{parameter}Id");
        properties.insert(name.clone(), compacted(generator.subschema_for::<ArtifactId>()));
        required.push(name);
    }
    for parameter in route.query {
        match parameter.name {
            QueryName::ProjectId | QueryName::RunId => {}
            QueryName::DryRun
            | QueryName::Offline
            | QueryName::Path
            | QueryName::Variant
            | QueryName::Snapshot
            | QueryName::Show
            | QueryName::Trash
            | QueryName::Revision
            | QueryName::From
            | QueryName::To
            | QueryName::Format
            | QueryName::Table
            | QueryName::DataPath
            | QueryName::Include
            | QueryName::Limit
            | QueryName::Cursor
            | QueryName::Query => {
                let schema = compacted(parameter.name.schema(&mut generator));
                properties.insert(parameter.name.as_str().to_owned(), schema);
            }
        }
    }
    let mut schema = json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    });
    if let (Value::Object(fields), true) = (&mut schema, required.is_empty()) {
        fields.shift_remove("required");
    }
    schema
}

/// Returns the schema of an answer in fewer words: bounds, patterns and closed sets of words, which nobody
/// who reads has to keep, stay behind.
pub(crate) fn of_answer(schema: Schema) -> Value {
    let mut schema = schema.to_value();
    compact(&mut schema);
    without_bounds(&mut schema);
    // No tool only tries something.
    leave_out(&mut schema, "/dryRun");
    schema
}

/// Leaves the length of a text as its only bound.
pub(crate) fn without_pattern(schema: &mut Value, place: &str) {
    if let Some(Value::Object(fields)) = at(schema, place) {
        fields.shift_remove("pattern");
    }
}

/// Says of a part only that it is an object: another place says what is in it.
pub(crate) fn outline(schema: &mut Value, place: &str) {
    if let Some(part) = at(schema, place) {
        *part = json!({ "type": "object" });
    }
}

fn without_bounds(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // A property may be called `pattern`; a keyword stands beside a type.
            if fields.get("type").is_some_and(Value::is_string) {
                for bound in BOUNDS {
                    fields.shift_remove(bound);
                }
                // A later daemon may answer more, and words that are new.
                fields.shift_remove("additionalProperties");
                fields.shift_remove("enum");
            }
            fields.values_mut().for_each(without_bounds);
        }
        Value::Array(choices) => choices.iter_mut().for_each(without_bounds),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The keywords that bound a value.
const BOUNDS: [&str; 8] = [
    "maxLength",
    "minLength",
    "pattern",
    "minimum",
    "maximum",
    "maxItems",
    "minItems",
    "maxProperties",
];

/// Returns the schema of an answer without fields.
pub(crate) fn of_nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// Writes a schema in fewer words that allow the same values, `null` for an absent field aside.
fn compact(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for said_elsewhere in ["$schema", "title", "description", "default", "format", "examples"] {
        fields.remove(said_elsewhere);
    }
    without_null(fields);
    closed_words(fields);
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(compact);
        // What is not declared is not taken, and not answered.
        fields.insert("additionalProperties".to_owned(), json!(false));
    }
    if let Some(items) = fields.get_mut("items") {
        compact(items);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(choices)) = fields.get_mut(choice) {
            choices.iter_mut().for_each(compact);
        }
    }
    bound_once(fields);
}

/// An optional field is left out, never null: `["string", "null"]` is a string.
fn without_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    for choice in ["anyOf", "oneOf"] {
        let Some(Value::Array(choices)) = fields.get_mut(choice) else { continue };
        choices.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            fields.remove(choice);
            for (name, value) in only {
                if !matches!(name.as_str(), "title" | "description" | "default") {
                    fields.entry(name).or_insert(value);
                }
            }
            return without_null(fields);
        }
    }
}

/// A choice of constant texts is an enum.
fn closed_words(fields: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = fields.get("oneOf") else { return };
    let mut words = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("enum").and_then(Value::as_array)) {
            (Some(word @ Value::String(_)), _) => words.push(word.clone()),
            (None, Some(listed)) if listed.iter().all(Value::is_string) => {
                words.extend(listed.iter().cloned());
            }
            _ => return,
        }
    }
    fields.remove("oneOf");
    fields.insert("type".to_owned(), json!("string"));
    fields.insert("enum".to_owned(), Value::Array(words));
}

/// A pattern without repetition already bounds the length; a bound that bounds nothing is no bound.
fn bound_once(fields: &mut Map<String, Value>) {
    let bounded = fields
        .get("pattern")
        .and_then(Value::as_str)
        .is_some_and(|pattern| !pattern.contains(['*', '+']));
    if bounded {
        fields.remove("maxLength");
        fields.remove("minLength");
    }
    for least in ["minLength", "minItems"] {
        if fields.get(least).is_some_and(|least| least == 0) {
            fields.shift_remove(least);
        }
    }
    if fields.get("required").is_some_and(|names| names == &json!([])) {
        fields.shift_remove("required");
    }
    if let Some(word) = fields.remove("const") {
        fields.insert("enum".to_owned(), json!([word]));
    }
}

/// Puts a description at a place such as `/input/document/dataJson`, if the place exists.
pub(crate) fn describe(schema: &mut Value, place: &str, words: &str) -> bool {
    let Some(Value::Object(fields)) = at(schema, place) else { return false };
    fields.insert("description".to_owned(), json!(words));
    true
}

/// Takes a property out of the schema, if the place exists.
pub(crate) fn leave_out(schema: &mut Value, place: &str) -> bool {
    let Some((parent, name)) = place.rsplit_once('/') else { return false };
    let Some(Value::Object(fields)) = at(schema, parent) else { return false };
    let Some(Value::Object(properties)) = fields.get_mut("properties") else { return false };
    let found = properties.shift_remove(name).is_some();
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.retain(|needed| needed != name);
        if required.is_empty() {
            fields.shift_remove("required");
        }
    }
    found
}

fn at<'s>(schema: &'s mut Value, place: &str) -> Option<&'s mut Value> {
    place.split('/').filter(|step| !step.is_empty()).try_fold(schema, |schema, step| match step {
        "[]" => schema.get_mut("items"),
        name => schema.get_mut("properties")?.get_mut(name),
    })
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    /// Doc.
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Sample {
        /// Doc.
        kind: Kind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = 5))]
        note: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inner: Option<Inner>,
    }

    /// Doc.
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Inner {
        #[schemars(length(max = 3), range(min = 1, max = 2))]
        list: Vec<u8>,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        /// One.
        FirstOne,
        /// Two.
        Second,
    }

    #[test]
    fn a_schema_is_inlined_closed_and_without_prose() {
        let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        let whole = settings.into_generator().into_root_schema_for::<Sample>();
        let mut schema = compacted(whole);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "kind": { "type": "string", "enum": ["first_one", "second"] },
                    "note": { "type": "string", "maxLength": 5 },
                    "inner": {
                        "type": "object",
                        "properties": {
                            "list": {
                                "type": "array",
                                "items": { "type": "integer", "minimum": 0, "maximum": 255 },
                                "maxItems": 3,
                            },
                        },
                        "required": ["list"],
                        "additionalProperties": false,
                    },
                },
                "required": ["kind"],
                "additionalProperties": false,
            })
        );
        assert!(describe(&mut schema, "/inner/list/[]", "a byte"));
        assert_eq!(
            schema.pointer("/properties/inner/properties/list/items/description"),
            Some(&json!("a byte"))
        );
        assert!(!describe(&mut schema, "/inner/lost", "x"));
        assert!(leave_out(&mut schema, "/kind"));
        assert!(!leave_out(&mut schema, "/kind"));
        assert_eq!(schema.get("required"), None);
    }
}
