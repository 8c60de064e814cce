//! JSON with bounds: read strictly, checked while reading, digested in one canonical form.

mod canonical;
mod type_name;

pub use canonical::{canonical_bytes, canonical_size, pretty_bytes};
pub use type_name::type_name;

/// A JSON value; objects keep the order their keys were first seen in.
pub type Value = serde_json::Value;

/// A JSON object.
pub type Map = serde_json::Map<String, Value>;
