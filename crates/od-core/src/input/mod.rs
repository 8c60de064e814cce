//! Inputs: each object that a client sends is declared once, and read by one bounded reader.
//!
//! The declaration gives the type, the reader (every fault at once, with its place), the JSON Schema
//! that agents see, and what an update may change. The lint keeps the schemas strict.
//!
//! ```
//! use od_core::input::{AGENT_FACING, DAEMON_OWNED, lint};
//!
//! assert!(DAEMON_OWNED.contains(&"revision"));
//! for shape in AGENT_FACING {
//!     assert!(lint(&(shape.schema)()).is_empty(), "{}", shape.name);
//! }
//! ```

mod agent_schemas;
mod fields;
mod object;
mod readers;
pub(crate) mod schema;

pub use agent_schemas::{AGENT_FACING, AgentSchema, FREE_FORM, LintFault, lint};
pub use fields::DAEMON_OWNED;
pub(crate) use fields::{
    Fields, Issues, credential_issue, credential_issues, malformed, wrong_type,
};
pub use object::Patch;
pub(crate) use object::{Input, Properties, applied, input, patch, row};
pub(crate) use readers::{
    Flag, FreeForm, Reader, RevisionNumber, TemplateHtml, ZoneName, describe, list, object, one_of,
    parsed, read_items, text,
};
pub(crate) use schema::schema_of;
