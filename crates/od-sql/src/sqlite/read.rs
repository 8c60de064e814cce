//! Runs one SELECT, or lists the schema.

use std::borrow::Cow;

use od_core::intake::{CellRef, Table, TableBuilder};
use od_core::json::Value as Json;
use od_core::limits::{INTAKE_ROWS, QUERY_HEAP, SQLITE_TIMEOUT, SQLITE_VALUE};
use od_core::query::{QueryFaultKind, SqlText};
use od_ports::connector_provider::ProviderError;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode};

use crate::engine::authorizer::{Log, Readable, restrict};
use crate::engine::fault::{Names, fault_of};

const SCHEMA: &str = "SELECT s.name AS \"table\", s.type AS kind, c.name AS column, \
    c.type AS type, c.\"notnull\" AS required, c.pk AS key \
    FROM sqlite_schema s, pragma_table_info(s.name) c \
    WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
    ORDER BY s.name, c.cid";

/// Runs one SELECT under the authorizer.
pub(super) fn query(
    connection: &mut Connection,
    sql: &str,
    params: &[Json],
) -> Result<Table, ProviderError> {
    let text: SqlText = sql.parse().map_err(|err: od_core::query::SqlTextError| {
        ProviderError::Input { pointer: "/sql".to_owned(), message: err.to_string() }
    })?;
    let names = names(connection);
    let log = Log::default();
    let fault = |err: &rusqlite::Error| provider_fault(err, &text, &names, &log);
    restrict(connection, Readable::Database, &log).map_err(|err| fault(&err))?;
    let mut statement = connection.prepare(sql).map_err(|err| fault(&err))?;
    if statement.parameter_count() != params.len() {
        return Err(ProviderError::Input {
            pointer: "/params".to_owned(),
            message: format!(
                "the query has {} parameters, and {} values are given",
                statement.parameter_count(),
                params.len()
            ),
        });
    }
    for (at, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, bound(param)).map_err(|err| fault(&err))?;
    }
    collect(&mut statement, fault)
}

/// Lists tables and views with their columns, one row a column.
pub(super) fn schema(connection: &mut Connection) -> Result<Table, ProviderError> {
    let text: SqlText = "SELECT 1".parse().map_err(|_| malformed())?;
    let (names, log) = (Names::default(), Log::default());
    let fault = |err: &rusqlite::Error| provider_fault(err, &text, &names, &log);
    let mut statement = connection.prepare(SCHEMA).map_err(|err| fault(&err))?;
    collect(&mut statement, fault)
}

fn collect(
    statement: &mut rusqlite::Statement<'_>,
    fault: impl Fn(&rusqlite::Error) -> ProviderError,
) -> Result<Table, ProviderError> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let mut builder = TableBuilder::new(columns)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(|err| fault(&err))? {
        for at in 0..width {
            let cell = match row.get_ref(at).map_err(|err| fault(&err))? {
                ValueRef::Null => CellRef::Null,
                ValueRef::Integer(integer) => CellRef::Integer(integer),
                ValueRef::Real(real) => CellRef::Real(real),
                ValueRef::Text(text) => CellRef::Text(String::from_utf8_lossy(text)),
                ValueRef::Blob(bytes) => {
                    CellRef::Text(Cow::Owned(format!("blob ({} bytes)", bytes.len())))
                }
            };
            builder.push(&cell)?;
        }
        builder.end_row()?;
    }
    Ok(builder.finish())
}

/// Notes the tables and columns for the messages of faults; a schema that cannot be read has none.
fn names(connection: &Connection) -> Names {
    let read = || -> rusqlite::Result<Vec<(String, Vec<String>)>> {
        let mut statement = connection.prepare(SCHEMA)?;
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, column): (String, String) = (row.get(0)?, row.get(2)?);
            match tables.last_mut() {
                Some((name, columns)) if *name == table => columns.push(column),
                Some(_) | None => tables.push((table, vec![column])),
            }
        }
        Ok(tables)
    };
    read().map(Names::from_parts).unwrap_or_default()
}

fn bound(param: &Json) -> Value {
    match param {
        Json::Bool(bool) => Value::Integer(i64::from(*bool)),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
    }
}

fn provider_fault(
    err: &rusqlite::Error,
    text: &SqlText,
    names: &Names,
    log: &Log,
) -> ProviderError {
    // The engine of an artifact's queries has the same errors and other limits.
    match err.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => return malformed(),
        Some(ErrorCode::OperationInterrupted) => return timed_out(),
        Some(ErrorCode::TooBig) => {
            return ProviderError::OutOfBounds {
                message: format!(
                    "a text, blob or row is longer than {} bytes",
                    SQLITE_VALUE.allowed
                ),
                limit: SQLITE_VALUE.want(),
            };
        }
        _ => {}
    }
    let fault = fault_of(err, Some(text), names, log);
    let message = fault.to_string();
    match fault.kind {
        QueryFaultKind::Refused => ProviderError::Forbidden { message },
        QueryFaultKind::TimedOut => timed_out(),
        QueryFaultKind::OutOfMemory => {
            ProviderError::OutOfBounds { message, limit: QUERY_HEAP.want() }
        }
        QueryFaultKind::TooManyRows => {
            ProviderError::OutOfBounds { message, limit: INTAKE_ROWS.want() }
        }
        QueryFaultKind::Syntax
        | QueryFaultKind::UnknownTable
        | QueryFaultKind::UnknownColumn
        | QueryFaultKind::UnknownFunction
        | QueryFaultKind::UnknownParameter
        | QueryFaultKind::WrongShape
        | QueryFaultKind::BadValue
        | QueryFaultKind::Failed => ProviderError::Input { pointer: "/sql".to_owned(), message },
    }
}

fn timed_out() -> ProviderError {
    let message = format!("the query ran longer than {} milliseconds", SQLITE_TIMEOUT.allowed);
    ProviderError::TimedOut { message }
}

fn malformed() -> ProviderError {
    ProviderError::Malformed {
        message: "the file is not a SQLite database that can be read".to_owned(),
    }
}
