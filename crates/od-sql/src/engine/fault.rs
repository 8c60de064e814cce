//! From SQLite's errors to faults that name the place, the known names and the nearest of them.

use od_core::error::nearest_name;
use od_core::intake::InputTable;
use od_core::limits::{QUERY_HEAP, QUERY_TIMEOUT, QUERY_VALUE};
use od_core::query::{QueryFault, QueryFaultKind, SqlText};
use rusqlite::{Error, ErrorCode};

use super::authorizer::{Log, Refusal};
use super::functions::CLOCK_MESSAGE;

/// Columns listed of one table in a message.
const COLUMNS_SHOWN: usize = 30;

/// The tables of a run and their columns.
#[derive(Debug, Default)]
pub(crate) struct Names {
    tables: Vec<(String, Vec<String>)>,
}

impl Names {
    /// Notes the names of tables.
    pub(crate) fn of(tables: &[InputTable]) -> Self {
        let name = |table: &InputTable| (table.name().to_owned(), table.columns().to_vec());
        Self { tables: tables.iter().map(name).collect() }
    }

    /// Notes names that a database gave.
    pub(crate) fn from_parts(tables: Vec<(String, Vec<String>)>) -> Self {
        Self { tables }
    }

    fn nearest_table(&self, given: &str) -> Option<String> {
        let names = self.tables.iter().map(|(name, _)| name.as_str());
        nearest_name(bare(given), names).map(str::to_owned)
    }

    /// Lists the tables with their columns.
    fn list(&self) -> String {
        if self.tables.is_empty() {
            return "there are no tables".to_owned();
        }
        let tables: Vec<String> = self
            .tables
            .iter()
            .map(|(name, columns)| {
                let more = if columns.len() > COLUMNS_SHOWN { ", …" } else { "" };
                let shown = &columns[..columns.len().min(COLUMNS_SHOWN)];
                format!("{name}({}{more})", shown.join(", "))
            })
            .collect();
        format!("the tables are {}", tables.join(", "))
    }
}

/// Strips the qualifier of a name.
fn bare(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, name)| name)
}

/// Returns the column that a statement names and no table has, without its qualifier.
pub(super) fn unknown_column(err: &Error) -> Option<String> {
    let name = message(err).strip_prefix("no such column: ")?.to_owned();
    // SQLite adds a remark where the name was in double quotes.
    let name = name.split(" - ").next().unwrap_or_default();
    Some(bare(name).trim_matches('"').to_owned())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the errors are rusqlite's")]
fn message(err: &Error) -> String {
    match err {
        Error::SqlInputError { msg, .. } => msg.clone(),
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}

/// Turns an error of SQLite into a fault.
pub(crate) fn fault_of(err: &Error, sql: Option<&SqlText>, names: &Names, log: &Log) -> QueryFault {
    let mut fault = explain(err, names, log);
    if let (Error::SqlInputError { offset, .. }, Some(sql)) = (err, sql) {
        fault.position = usize::try_from(*offset).ok().map(|offset| sql.position(offset));
    }
    fault
}

fn explain(err: &Error, names: &Names, log: &Log) -> QueryFault {
    if let Error::MultipleStatement = err {
        return QueryFault::new(QueryFaultKind::Syntax, "a query is one statement");
    }
    if let Some(refusal) = log.refusal() {
        return refused(&refusal, names);
    }
    match err.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => QueryFault::new(
            QueryFaultKind::TimedOut,
            format!("the query ran longer than {} milliseconds", QUERY_TIMEOUT.allowed),
        ),
        Some(ErrorCode::OutOfMemory) => QueryFault::new(
            QueryFaultKind::OutOfMemory,
            format!("the tables and the query need more than {} bytes", QUERY_HEAP.allowed),
        ),
        Some(ErrorCode::TooBig) => QueryFault::new(
            QueryFaultKind::OutOfMemory,
            format!("a text or row is longer than {} bytes", QUERY_VALUE.allowed),
        ),
        _ => by_message(&message(err), names),
    }
}

fn refused(refusal: &Refusal, names: &Names) -> QueryFault {
    match refusal {
        Refusal::Table(name) => QueryFault {
            nearest: names.nearest_table(name),
            ..QueryFault::new(
                QueryFaultKind::UnknownTable,
                format!("the table `{name}` may not be read; {}", names.list()),
            )
        },
        Refusal::Function(name) => QueryFault::new(
            QueryFaultKind::Refused,
            format!("the function `{name}` may not be called in a query"),
        ),
        Refusal::Clock(name) => {
            QueryFault::new(QueryFaultKind::Refused, format!("`{name}`: {CLOCK_MESSAGE}"))
        }
        Refusal::Action(action) => QueryFault::new(
            QueryFaultKind::Refused,
            format!("a query only reads, and this is {action}"),
        ),
    }
}

/// Reads the kind of a fault from SQLite's words, which have not changed in twenty years.
fn by_message(message: &str, names: &Names) -> QueryFault {
    let rest = |prefix: &str| message.strip_prefix(prefix);
    if let Some(name) = rest("no such table: ") {
        return QueryFault {
            nearest: names.nearest_table(name),
            ..QueryFault::new(
                QueryFaultKind::UnknownTable,
                format!("no table has the name `{name}`; {}", names.list()),
            )
        };
    }
    if let Some(name) = rest("no such column: ") {
        let name = name.split(" - ").next().unwrap_or_default();
        return QueryFault {
            nearest: {
                let columns = names.tables.iter().flat_map(|(_, columns)| columns);
                nearest_name(bare(name), columns.map(String::as_str)).map(str::to_owned)
            },
            ..QueryFault::new(
                QueryFaultKind::UnknownColumn,
                format!("no column has the name `{name}`; {}", names.list()),
            )
        };
    }
    if let Some(name) = rest("ambiguous column name: ") {
        return QueryFault::new(
            QueryFaultKind::UnknownColumn,
            format!("more than one table has a column `{name}`; write `table.{}`", bare(name)),
        );
    }
    let is_function = message.starts_with("no such function: ")
        || message.starts_with("wrong number of arguments to function ")
        || message.starts_with("misuse of ");
    let is_syntax = message.contains("syntax error")
        || message.starts_with("incomplete input")
        || message.starts_with("unrecognized token");
    let kind = if is_function {
        QueryFaultKind::UnknownFunction
    } else if is_syntax {
        QueryFaultKind::Syntax
    } else if message.contains(CLOCK_MESSAGE) {
        QueryFaultKind::Refused
    } else {
        QueryFaultKind::Failed
    };
    QueryFault::new(kind, message.to_owned())
}
