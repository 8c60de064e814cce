//! Help, docs and completions, all from the verb table.

mod completions;
mod markdown;
mod page;

pub use completions::completions;
pub use markdown::markdown;
pub use page::{for_words, overview};
