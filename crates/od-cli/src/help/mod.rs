//! Help, docs and completions, all from the verb table.

mod completions;
mod document;
mod markdown;
mod page;

pub(crate) use completions::completions;
pub use markdown::markdown;
pub(crate) use page::{help, version};
