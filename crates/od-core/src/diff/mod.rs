//! The difference between two revisions: of data value by value, of templates line by line.
//!
//! Everything is bounded: differences are counted without end and named up to a limit.
//!
//! ```
//! use od_core::diff::{diff_lines, diff_values};
//! use serde_json::json;
//!
//! let values = diff_values(&json!({ "n": 1 }), &json!({ "n": 2 }));
//! assert_eq!((values.count, values.changes[0].path.as_str()), (1, "/n"));
//! assert!(diff_lines("a\nb\n", "a\nb\n").is_empty());
//! ```

mod lines;
mod values;

pub use lines::{Hunk, LineDiff, diff_lines};
pub use values::{Change, ValueChange, ValueDiff, diff_values};

use crate::json::Value;
use crate::ledger::RevisionSource;

/// The difference between two revisions.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RevisionDiff {
    /// Whether there is none.
    pub equal: bool,
    /// Of the data.
    pub data: ValueDiff,
    /// Of the template.
    pub template: LineDiff,
    /// Of the source, its schema, its permission and what it is pinned to.
    pub source: ValueDiff,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The template.
    pub template_html: &'a str,
    /// The data.
    pub data: &'a Value,
    /// The source.
    pub source: &'a RevisionSource,
}

/// Compares two revisions.
#[must_use]
pub fn diff_revisions(from: Side<'_>, to: Side<'_>) -> RevisionDiff {
    // Strings, integers and JSON only: writing them cannot fail.
    let source = |side: Side<'_>| serde_json::to_value(side.source).unwrap_or_default();
    let data = diff_values(from.data, to.data);
    let template = diff_lines(from.template_html, to.template_html);
    let source = diff_values(&source(from), &source(to));
    let equal = data.count == 0 && template.is_empty() && source.count == 0;
    RevisionDiff { equal, data, template, source }
}
