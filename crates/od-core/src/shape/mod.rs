//! What agents are told of their inputs: JSON Schemas with everything inlined, and the lint that
//! keeps them strict.
//!
//! Built from the same limits, words and parsers that refuse an input. A test compares the fields
//! of each with those its reader knows.

mod builder;
mod input;
mod lint;
mod request;
mod source;

pub use input::{AGENT_FACING, AgentShape};
pub use lint::{FREE_FORM, LintFault, lint};
pub use request::{CreateShape, ExecuteShape, ToolUpdateShape, UpdateShape, ValidateShape};
