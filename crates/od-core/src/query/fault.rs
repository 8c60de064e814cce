//! Faults of a query, with what its author needs to mend it.

use super::dialect;
use super::sql_text::{Position, SqlText};
use crate::words::words;

words! {
    /// The reason a query gave no result.
    QueryFaultKind {
        /// The SQL cannot be parsed, or is not one statement.
        Syntax = "syntax",
        /// No table has this name.
        UnknownTable = "unknown_table",
        /// No table has this column.
        UnknownColumn = "unknown_column",
        /// There is no such function, or it does not take these arguments.
        UnknownFunction = "unknown_function",
        /// A parameter other than `:refreshed_at`.
        UnknownParameter = "unknown_parameter",
        /// The statement does more than read the given tables, or depends on chance or the clock.
        Refused = "refused",
        /// It ran longer than allowed.
        TimedOut = "timed_out",
        /// It needed more memory than allowed.
        OutOfMemory = "out_of_memory",
        /// The result has more rows than allowed.
        TooManyRows = "too_many_rows",
        /// The result does not have the form asked for.
        WrongShape = "wrong_shape",
        /// A value of the result has no JSON form.
        BadValue = "bad_value",
        /// The engine failed on the values it met.
        Failed = "failed",
    }
}

/// A query that failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}{}{}", at(*position), meant(nearest.as_deref()))]
pub struct QueryFault {
    /// The reason.
    pub kind: QueryFaultKind,
    /// The reason in words; no value of a row is in it.
    pub message: String,
    /// The place in the SQL, where the engine knows it.
    pub position: Option<Position>,
    /// The known name nearest to an unknown one.
    pub nearest: Option<String>,
}

impl QueryFault {
    /// Makes a fault without a place.
    pub fn new(kind: QueryFaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), position: None, nearest: None }
    }

    /// Returns the SQL with the unknown name replaced by the nearest one, if both are known.
    #[must_use]
    pub fn mended(&self, sql: &SqlText) -> Option<String> {
        match self.kind {
            QueryFaultKind::UnknownTable | QueryFaultKind::UnknownColumn => {
                let unknown = self.message.split('`').nth(1)?;
                let unknown = unknown.rsplit('.').next().unwrap_or(unknown);
                sql.renamed(unknown, self.nearest.as_deref()?)
            }
            QueryFaultKind::Syntax | QueryFaultKind::UnknownFunction => {
                dialect::rewritten(sql.as_str())
            }
            QueryFaultKind::UnknownParameter
            | QueryFaultKind::Refused
            | QueryFaultKind::TimedOut
            | QueryFaultKind::OutOfMemory
            | QueryFaultKind::TooManyRows
            | QueryFaultKind::WrongShape
            | QueryFaultKind::BadValue
            | QueryFaultKind::Failed => None,
        }
    }
}

fn at(position: Option<Position>) -> String {
    position.map(|position| format!(" at {position}")).unwrap_or_default()
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; `{name}` is the nearest name")).unwrap_or_default()
}
