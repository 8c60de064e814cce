//! One query of a document.

use super::sql_text::{SqlText, SqlTextError};
use crate::artifact::Target;
use crate::credential;
use crate::error::Issue;
use crate::ids::MappingPath;
use crate::input::{
    Issues, Reader, credential_issue, input, one_of, read_items, schema, wrong_type,
};
use crate::json::{Pointer, Value};
use crate::limits::{INTAKE_COLUMNS, QUERY_TEXT, SHORT_TEXT};
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

input! {
    /// A query: its SQL, and where and in which form its result goes into the data.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct Query "one SELECT over the sources' rows, whose result goes to `to` at every refresh" {
        /// The place in the data.
        required to: MappingPath = "to", Target, "where the result stands in the data; begins with a key";
        /// One statement that only reads.
        required sql: SqlText
            = "sql", Sql, "one SELECT (SQLite); each source is a table named by its id; :refreshed_at is the time; history('path') has at, value of kept revisions";
        /// The form of the result.
        #[serde(default = "Shape::default_value")]
        default(Shape::Rows) shape: Shape
            = "shape", one_of(Shape::ALL), "rows: array of objects, row: one object, value: one value, column: array of values; rows if absent";
        /// Columns whose text is JSON and enters the data as the value it stands for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(length(max = INTAKE_COLUMNS.allowed))]
        default(Vec::new()) json: Vec<String>
            = "json", ColumnNames, "result columns whose text is JSON, to be parsed";
    }
}

impl Shape {
    const fn default_value() -> Self {
        Self::Rows
    }
}

/// Names the table of a path's history; no source can have this name.
#[must_use]
pub fn history_table(path: &MappingPath) -> String {
    format!("history({})", path.as_str().trim_start_matches("$."))
}

/// Reads the SQL of a query: its size and its first word; the engine says the rest.
struct Sql;

impl Reader for Sql {
    type Value = SqlText;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<SqlText> {
        let Some(text) = value.as_str() else {
            issues.push(wrong_type(at, value, "a string"));
            return None;
        };
        if let Some((kind, _)) = credential::find(text) {
            issues.push(credential_issue(at, kind));
            return None;
        }
        // A statement ends with its text: what people type at a prompt after it says nothing.
        let text = text.trim_end().trim_end_matches(';');
        let fault = match text.parse() {
            Ok(sql) => return Some(sql),
            Err(fault) => fault,
        };
        let (code, fix) = match &fault {
            SqlTextError::TooLong { .. } => ("too_long", "split it into several queries"),
            SqlTextError::Nul => ("nul_character", "remove the character"),
            SqlTextError::NotSelect { .. } => {
                ("not_a_select", "write one SELECT, or WITH … SELECT: queries only read")
            }
            SqlTextError::History { .. } => ("malformed", "write history('total')"),
        };
        let issue = Issue::new(at.as_str(), code, fault.to_string()).got(text);
        issues.push(issue.want("one SELECT of at most 8,192 bytes").fix(fix));
        None
    }

    fn schema(&self, description: &str) -> Value {
        schema::text(description, 1, &QUERY_TEXT)
    }
}

/// Reads the names of a result's columns.
struct ColumnNames;

impl Reader for ColumnNames {
    type Value = Vec<String>;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Vec<String>> {
        let items = read_items(value, at, &INTAKE_COLUMNS, issues)?;
        let mut names = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let at = at.clone().index(i);
            names.extend(crate::input::text(&SHORT_TEXT).read(item, &at, issues));
        }
        Some(names)
    }

    fn schema(&self, description: &str) -> Value {
        let name = schema::text("a column of the result", 1, &SHORT_TEXT);
        schema::array(description, &name, 0, &INTAKE_COLUMNS)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::input::Input as _;

    #[test]
    fn a_query_says_where_its_rows_go() {
        let (query, _) =
            Query::read_whole(&json!({ "to": "top", "sql": "SELECT 1 AS n;\n" })).unwrap();
        assert_eq!((query.shape, query.sql.as_str()), (Shape::Rows, "SELECT 1 AS n"));
        let stored = serde_json::to_value(&query).unwrap();
        assert_eq!(stored, json!({ "to": "top", "sql": "SELECT 1 AS n", "shape": "rows" }));
        assert_eq!(serde_json::from_value::<Query>(stored).unwrap(), query);
    }

    #[test]
    fn what_is_no_query_is_refused_with_its_rule() {
        for (query, code) in [
            (json!({ "to": "a", "sql": "DELETE FROM t" }), "not_a_select"),
            (json!({ "to": "a", "sql": "SELECT 1", "shape": "list" }), "not_allowed"),
            (json!({ "to": "data.a", "sql": "SELECT 1" }), "target_below_data"),
            (json!({ "to": "a", "sql": format!("SELECT {}", "1,".repeat(4_100)) }), "too_long"),
            (json!({ "to": "a" }), "required"),
        ] {
            let issues = Query::read_whole(&query).unwrap_err();
            assert_eq!(issues[0].code, code, "{query}");
        }
    }
}
