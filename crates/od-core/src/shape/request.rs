//! The requests as types, for generators that ask types for their schemas.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::input::{
    create_request, execute_request, tool_update_request, update_request, validate_request,
};
use crate::json::Value;

macro_rules! shape {
    ($(#[$doc:meta])* $name:ident, $schema:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                as_schema($schema())
            }
        }
    };
}

shape! {
    /// The body of a create request.
    CreateShape, create_request
}
shape! {
    /// The body of an update request.
    UpdateShape, update_request
}
shape! {
    /// The body of an update request at the agent's door.
    ToolUpdateShape, tool_update_request
}
shape! {
    /// The body of a validate request: of a create, or of an update at the agent's door.
    ValidateShape, validate_request
}
shape! {
    /// The body of an execute request.
    ExecuteShape, execute_request
}

fn as_schema(schema: Value) -> Schema {
    // The builders make objects only; nothing else is ever replaced by the schema of anything.
    Schema::try_from(schema).unwrap_or_default()
}
