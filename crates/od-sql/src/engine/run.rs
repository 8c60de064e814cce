//! One run: load the tables, then answer each query.

use std::collections::BTreeSet;
use std::time::Duration;

use od_core::ids::Timestamp;
use od_core::intake::{CellRef, InputTable};
use od_core::limits::{
    INTAKE_COLUMNS, QUERY_HEAP, QUERY_ROWS, QUERY_TEXT, QUERY_TIMEOUT, QUERY_VALUE,
};
use od_core::query::{QueryFault, QueryFaultKind, ResultSet, SqlText, SqlValue};
use od_ports::query_engine::{QueryResults, QueryRun};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Statement, ToSql};

use super::Watch;
use super::authorizer::{Log, Readable, restrict};
use super::fault::{Names, fault_of, unknown_column};
use super::functions;

/// Instructions between two looks at the clock. A row takes ten or more, and each may call a function
/// that takes a tenth of a second on the longest texts.
const PROGRESS_OPS: i32 = 50;
/// The column of a table that has none, which SQLite does not know.
const NO_COLUMN: &str = "value";
/// The one parameter.
const REFRESHED_AT: &str = ":refreshed_at";
/// A row of 100 texts is longer than one text of a query may be.
const LOADED_ROW_BYTES: i32 = 32 * 1024 * 1024;

/// Runs the queries on this thread.
pub(super) fn run(run: &QueryRun, watch: &Watch) -> Result<QueryResults, QueryFault> {
    let names = Names::of(&run.tables);
    let log = Log::default();
    let (connection, unknown) =
        open(&run.tables, watch).map_err(|err| fault_of(&err, None, &names, &log))?;
    let mut session = Session { connection, unknown, names, log };
    session.restrict(&run.tables).map_err(|err| session.fault(&err, None))?;
    Ok(run
        .queries
        .iter()
        .map(|sql| {
            // Each query has its own time: a slow one must not take that of those behind it.
            watch.start(Duration::from_millis(QUERY_TIMEOUT.allowed));
            session.answer(sql, run.refreshed_at)
        })
        .collect())
}

/// Opens a database in memory and loads the tables; returns those whose columns are not known too.
fn open(
    tables: &[InputTable],
    watch: &Watch,
) -> rusqlite::Result<(Connection, Vec<UnknownColumns>)> {
    let mut connection = Connection::open_in_memory()?;
    let stopped = watch.clone();
    connection.progress_handler(PROGRESS_OPS, Some(move || stopped.is_over()))?;
    // Nothing to roll back, nothing to sync; the heap limit is one for the process.
    connection.execute_batch(&format!(
        "PRAGMA hard_heap_limit = {}; PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY;",
        QUERY_HEAP.allowed
    ))?;
    // Wider than queries get, and narrowed before the first of them: a row that is loaded may hold a
    // hundred texts, a value that a query makes may not.
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LOADED_ROW_BYTES)?;
    let mut unknown = Vec::new();
    connection.execute_batch("BEGIN")?;
    for table in tables {
        let rows = load(&connection, table)?;
        if rows == 0 && table.columns().is_empty() {
            let added = BTreeSet::from([NO_COLUMN.to_owned()]);
            unknown.push(UnknownColumns { name: table.name().to_owned(), added });
        }
    }
    connection.execute_batch("COMMIT")?;
    functions::register(&connection)?;
    Ok((connection, unknown))
}

struct Session {
    connection: Connection,
    unknown: Vec<UnknownColumns>,
    names: Names,
    log: Log,
}

impl Session {
    fn restrict(&mut self, tables: &[InputTable]) -> rusqlite::Result<()> {
        let connection = &mut self.connection;
        for (limit, allowed) in [
            // The progress handler is not asked inside a function: 256 KiB keep the worst, a LIKE,
            // below a tenth of a second.
            (Limit::SQLITE_LIMIT_LENGTH, QUERY_VALUE.max()),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, 2 * QUERY_TEXT.max()),
            (Limit::SQLITE_LIMIT_COLUMN, 2 * INTAKE_COLUMNS.max()),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
            (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
            (Limit::SQLITE_LIMIT_FUNCTION_ARG, 127),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 128),
            (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 8),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            connection.set_limit(limit, i32::try_from(allowed).unwrap_or(i32::MAX))?;
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // The schema is ours and holds neither views nor triggers. Both switches are for what a gap in the
        // authorizer would let in.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        // Else a name that is mistyped in double quotes would be a text.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        let readable: BTreeSet<String> =
            tables.iter().map(|table| table.name().to_lowercase()).collect();
        restrict(connection, Readable::Only(readable), &self.log)
    }

    fn answer(&mut self, sql: &SqlText, refreshed_at: Timestamp) -> Result<ResultSet, QueryFault> {
        self.complete_tables(sql);
        self.log.clear();
        let mut statement =
            self.connection.prepare(sql.executable()).map_err(|err| self.fault(&err, Some(sql)))?;
        // The authorizer has seen to it; a second lock on the same door costs nothing.
        if !statement.readonly() || statement.is_explain() != 0 {
            return Err(QueryFault::new(
                QueryFaultKind::Refused,
                "the statement does not only read",
            ));
        }
        bind(&mut statement, refreshed_at, |err| self.fault(err, Some(sql)))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = fetch(&mut statement, columns.len(), |err| self.fault(err, Some(sql)))?;
        Ok(ResultSet { columns, rows, tables: self.log.tables() })
    }

    /// Gives tables of unknown columns those that a query asks for, as long as one is missing.
    ///
    /// A source that has nothing today gives no keys. `SELECT count(*) … WHERE state = 'open'` is 0
    /// then, not an error.
    fn complete_tables(&mut self, sql: &SqlText) {
        for _ in 0..self.unknown.len() * INTAKE_COLUMNS.max() {
            self.log.clear();
            let Err(err) = self.connection.prepare(sql.executable()).map(drop) else { return };
            let Some(column) = unknown_column(&err) else { return };
            let lower = column.to_lowercase();
            let lacks = |table: &&mut UnknownColumns| !table.added.contains(&lower);
            let Some(table) = self.unknown.iter_mut().find(lacks) else { return };
            let add = format!("ALTER TABLE {} ADD COLUMN {}", quote(&table.name), quote(&column));
            table.added.insert(lower.clone());
            if self.log.unrestricted(|| self.connection.execute_batch(&add)).is_err() {
                return;
            }
        }
    }

    fn fault(&self, err: &rusqlite::Error, sql: Option<&SqlText>) -> QueryFault {
        fault_of(err, sql, &self.names, &self.log)
    }
}

/// A table that came without rows and without columns.
struct UnknownColumns {
    name: String,
    added: BTreeSet<String>,
}

fn bind(
    statement: &mut Statement<'_>,
    refreshed_at: Timestamp,
    fault: impl Fn(&rusqlite::Error) -> QueryFault,
) -> Result<(), QueryFault> {
    for at in 1..=statement.parameter_count() {
        let name = statement.parameter_name(at).unwrap_or("?").to_owned();
        if name != REFRESHED_AT {
            return Err(QueryFault {
                nearest: Some(REFRESHED_AT.to_owned()),
                ..QueryFault::new(
                    QueryFaultKind::UnknownParameter,
                    format!("the parameter `{name}` has no value"),
                )
            });
        }
        statement.raw_bind_parameter(at, refreshed_at.to_string()).map_err(|err| fault(&err))?;
    }
    Ok(())
}

fn fetch(
    statement: &mut Statement<'_>,
    width: usize,
    fault: impl Fn(&rusqlite::Error) -> QueryFault,
) -> Result<Vec<Vec<SqlValue>>, QueryFault> {
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(|err| fault(&err))? {
        if !QUERY_ROWS.allows(found.len() + 1) {
            return Err(QueryFault::new(
                QueryFaultKind::TooManyRows,
                format!(
                    "the result has more than {} rows; group them, or add ORDER BY and LIMIT",
                    QUERY_ROWS.allowed
                ),
            ));
        }
        let values: Result<Vec<SqlValue>, QueryFault> = (0..width)
            .map(|at| match row.get_ref(at).map_err(|err| fault(&err))? {
                ValueRef::Null => Ok(SqlValue::Null),
                ValueRef::Integer(integer) => Ok(SqlValue::Integer(integer)),
                ValueRef::Real(real) => Ok(SqlValue::Real(real)),
                // Bytes that CAST made a text of need not be one.
                ValueRef::Text(text) => Ok(std::str::from_utf8(text)
                    .map_or(SqlValue::Blob, |text| SqlValue::Text(text.to_owned()))),
                ValueRef::Blob(_) => Ok(SqlValue::Blob),
            })
            .collect();
        found.push(values?);
    }
    Ok(found)
}

/// Creates a table and inserts its rows; returns how many there were.
///
/// Columns have no type, so that every value stays as it came.
fn load(connection: &Connection, table: &InputTable) -> rusqlite::Result<usize> {
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
fn quote(name: &str) -> String {
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
