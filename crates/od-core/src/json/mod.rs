//! JSON with bounds: read strictly, checked while reading, digested in one canonical form.
//!
//! ```
//! use od_core::json::{BoundedObject, canonical_bytes};
//!
//! let data = BoundedObject::parse(br#"{ "b": 1.0, "a": [true] }"#).unwrap();
//! assert_eq!(canonical_bytes(data.value()), br#"{"a":[true],"b":1}"#);
//! assert!(BoundedObject::parse(br#"{ "a": 1, "a": 2 }"#).is_err());
//! ```

mod bounded;
mod canonical;
mod check;
mod deny;
mod fault;
mod literal;
mod message;
mod number;
mod pointer;
mod scanner;
mod text;

pub use bounded::{BoundedJson, BoundedObject};
pub use canonical::{canonical_bytes, canonical_size, pretty_bytes};
pub use deny::{DENIED_KEYS, is_denied_key};
pub use fault::{FaultKind, JsonFault, JsonFaults, type_name};
pub use message::{Message, parse_message};
pub use pointer::Pointer;
pub(crate) use pointer::push_pointer_key;

/// Parts of the scanner, for readers with limits of their own.
pub(crate) mod scan {
    pub(crate) use super::canonical::write_string;
    pub(crate) use super::literal::number as read_number;
    pub(crate) use super::scanner::{Syntax, place};
    pub(crate) use super::text::read as read_string;
}

/// A JSON value; objects keep the order their keys were first seen in.
pub type Value = serde_json::Value;

/// A JSON object.
pub type Map = serde_json::Map<String, Value>;
