//! One query of a document.

use super::sql_text::SqlText;
use crate::ids::MappingPath;
use crate::words::words;

words! {
    /// The form of a query's result in the data.
    Shape {
        /// An array of objects.
        Rows = "rows",
        /// One object, or null if there is no row.
        Row = "row",
        /// The one column of the one row, or null if there is no row.
        Value = "value",
        /// An array of the one column's values.
        Column = "column",
    }
}

/// A query: its SQL, and where and in which form its result goes into the data.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Query {
    /// The place in the data.
    pub to: MappingPath,
    /// One statement that only reads.
    pub sql: SqlText,
    /// The form of the result.
    pub shape: Shape,
    /// Columns whose text is JSON and enters the data as the value it stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json: Vec<String>,
}

/// Names the table of a path's history; no source can have this name.
#[must_use]
pub fn history_table(path: &MappingPath) -> String {
    format!("history({})", path.as_str().trim_start_matches("$."))
}
