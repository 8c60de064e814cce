//! Fixes that work: a refused request is repaired, judged again, and each issue told with its part
//! of the repair.
//!
//! A rule says what is wrong where it looks; here the whole request is known (data, template,
//! mapping), so that a fix is the rewritten line or value, and the fixes of one answer succeed
//! together. The words of a fix are also a grammar: `write`, `rename … to`, `move … to`, `remove`,
//! `unquote`, `quote`, `cut … to its first N items`, and for texts `line N: write`, `delete`,
//! `replace … with`, `delete from … to`, joined with `; `, remarks in brackets behind them.
//!
//! ```
//! use od_core::repair::explain_syntax;
//!
//! let issue = explain_syntax("artifact.json", "{ \"title\": \"T\", }").unwrap();
//! assert!(issue.fix.is_some());
//! assert!(explain_syntax("artifact.json", "{}").is_none());
//! ```

mod change;
mod field_values;
mod fields;
mod json_strings;
mod json_text;
mod names;
mod proposal;
mod schedule;
mod schema;
mod several;
mod source;
mod template;
mod text_edits;
mod unresolved;
mod wrapping;

pub use json_text::explain_syntax;
pub use names::Operation;

pub use proposal::Proposal;
pub use template::foreign_marks;
pub(crate) use template::meant_path;
pub(crate) use unresolved::mend_unresolved;
pub use wrapping::named_artifact;
