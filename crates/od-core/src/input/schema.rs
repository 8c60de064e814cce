//! Small pieces of JSON Schema.

use schemars::JsonSchema;
use serde_json::json;

use crate::json::{Map, Value};
use crate::limits::Limit;

/// Builds an object that refuses what it does not declare.
pub(crate) fn object(description: &str, properties: &Map, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Builds a text within a limit.
pub(crate) fn text(description: &str, min: usize, limit: &Limit) -> Value {
    json!({
        "type": "string",
        "description": description,
        "minLength": min,
        "maxLength": limit.max(),
    })
}

/// Builds an array within a limit.
pub(crate) fn array(description: &str, items: &Value, min: usize, limit: &Limit) -> Value {
    json!({
        "type": "array",
        "description": description,
        "items": items,
        "minItems": min,
        "maxItems": limit.max(),
    })
}

/// Takes the schema a type has by itself.
pub(crate) fn typed<T: JsonSchema>(description: &str) -> Value {
    let mut generator = schemars::SchemaGenerator::default();
    let mut schema = T::json_schema(&mut generator).to_value();
    schema["description"] = description.into();
    schema
}

/// Lets a schema be null as well, which removes the part.
pub(crate) fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

/// Gives a request the JSON Schema of its declaration, for generators that ask types for theirs.
macro_rules! schema_of {
    ($name:ident) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                // An input is an object; nothing else is ever replaced by the schema of anything.
                schemars::Schema::try_from(<Self as $crate::input::Input>::schema())
                    .unwrap_or_default()
            }
        }
    };
}
pub(crate) use schema_of;
