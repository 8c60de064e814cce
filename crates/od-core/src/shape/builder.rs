//! Small pieces of JSON Schema.

use schemars::JsonSchema;
use serde_json::json;

use crate::json::{Map, Value};
use crate::limits::Limit;

/// Builds an object that refuses what it does not declare.
pub(super) fn object<const N: usize>(
    description: &str,
    properties: [(&str, Value); N],
    required: &[&str],
) -> Value {
    let properties: Map =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Builds a text within a limit.
pub(super) fn text(description: &str, min: usize, limit: &Limit) -> Value {
    json!({
        "type": "string",
        "description": description,
        "minLength": min,
        "maxLength": limit.max(),
    })
}

/// Builds a closed set of words.
pub(super) fn words<T: Copy>(
    description: &str,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> Value {
    let words: Vec<&str> = all.iter().map(|one| as_str(*one)).collect();
    json!({ "type": "string", "description": description, "enum": words })
}

/// Builds an array within a limit.
pub(super) fn array(description: &str, items: &Value, min: usize, limit: &Limit) -> Value {
    json!({
        "type": "array",
        "description": description,
        "items": items,
        "minItems": min,
        "maxItems": limit.max(),
    })
}

pub(super) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// Takes the schema a type has by itself.
pub(super) fn typed<T: JsonSchema>(description: &str) -> Value {
    let mut generator = schemars::SchemaGenerator::default();
    let mut schema = T::json_schema(&mut generator).to_value();
    schema["description"] = description.into();
    schema
}

/// Lets a schema be null as well, which removes the part.
pub(super) fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}
