//! Fills a database in memory with the tables of a run.

use od_core::intake::{CellRef, InputTable};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ToSql};

/// The column of a table that has none, which SQLite does not know.
pub(super) const NO_COLUMN: &str = "value";

/// Creates a table and inserts its rows; returns how many there were.
///
/// Columns have no type, so that every value stays as it came.
pub(super) fn load(connection: &Connection, table: &InputTable) -> rusqlite::Result<usize> {
    let name = quote(table.name());
    let columns: Vec<String> = table.columns().iter().map(|column| quote(column)).collect();
    if columns.is_empty() {
        connection.execute_batch(&format!("CREATE TABLE {name} ({NO_COLUMN})"))?;
    } else {
        connection.execute_batch(&format!("CREATE TABLE {name} ({})", columns.join(", ")))?;
    }
    let places = vec!["?"; columns.len().max(1)].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
    let mut count = 0;
    table.for_each_row(|cells| {
        for (at, cell) in cells.iter().enumerate() {
            insert.raw_bind_parameter(at + 1, Bound(cell))?;
        }
        insert.raw_execute()?;
        count += 1;
        Ok::<(), rusqlite::Error>(())
    })?;
    Ok(count)
}

/// Quotes a name for SQL.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

struct Bound<'a>(&'a CellRef<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            CellRef::Null => ToSqlOutput::Owned(Value::Null),
            CellRef::Bool(bool) => ToSqlOutput::Owned(Value::Integer(i64::from(*bool))),
            CellRef::Integer(integer) => ToSqlOutput::Owned(Value::Integer(*integer)),
            CellRef::Real(real) => ToSqlOutput::Owned(Value::Real(*real)),
            CellRef::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}
