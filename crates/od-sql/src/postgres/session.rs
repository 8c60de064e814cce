//! One read: connect, check the role, open a cursor in a READ ONLY transaction, fetch, roll back.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::TryStreamExt as _;
use od_core::connector::{ConnectionString, DatabaseAddress};
use od_core::intake::{CellRef, Table, TableBuilder};
use od_core::json::Value;
use od_core::limits::{INTAKE_SOURCE, POSTGRES_CONNECT, POSTGRES_IDLE, POSTGRES_STATEMENT};
use od_pgconn::Tls;
use od_ports::connector_provider::ProviderError;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{CancelToken, Client, Config, SimpleQueryMessage};

use super::Work;
use super::cell::ColumnKind;
use super::fault::{Asked, known_names, query_fault, session_fault};
use super::functions::{HARMLESS, VOLATILE, names};
use super::stream::{Capped, Overflow, dial};

/// Before the caller's SELECT. A cursor takes SELECT, VALUES and TABLE; anything else is a syntax error.
pub(super) const CURSOR: &str = "DECLARE od_rows NO SCROLL CURSOR FOR ";
const FETCH: &str = "FETCH FORWARD 1000 FROM od_rows";

/// Asks for a role of power that the login has or could take.
const POWER: &str = "SELECT r.rolname::text FROM pg_catalog.pg_roles r \
    WHERE (r.rolsuper OR r.rolname IN ('pg_execute_server_program', 'pg_write_server_files', \
        'pg_read_server_files')) \
    AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') ORDER BY r.rolsuper, 1 LIMIT 1";

/// Lists what the role may read, one row a column.
const SCHEMA: &str = "SELECT n.nspname AS schema, c.relname AS \"table\", \
    CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' \
        WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END AS kind, \
    a.attname AS column, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, \
    a.attnotnull AS required, COALESCE(i.indisprimary, false) AS key \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary \
        AND a.attnum = ANY (i.indkey) \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' \
    AND n.nspname NOT LIKE 'pg\\_%' \
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
    AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') \
    ORDER BY n.nspname, c.relname, a.attnum";

/// Reads a database once. Dropping the future ends the connection, and with it the transaction.
pub(super) async fn run(
    connection: &ConnectionString,
    work: &Work,
) -> Result<Table, ProviderError> {
    let overflow = Overflow::default();
    let limit = Duration::from_millis(POSTGRES_CONNECT.allowed);
    let session = tokio::time::timeout(limit, connect(connection, &overflow)).await;
    let session = session.map_err(|_| ProviderError::Unavailable {
        message: "the database server did not accept the connection in time".to_owned(),
    })??;
    let result = read(&session.client, work).await;
    // What was rolled back did not happen, whatever a function did: notifications, large objects.
    let _ = session.client.batch_execute("ROLLBACK").await;
    session.finish();
    if overflow.happened() {
        return Err(ProviderError::TooLarge { allowed: INTAKE_SOURCE.allowed });
    }
    result
}

/// A connection and the task that drives it.
struct Session {
    client: Client,
    driver: JoinHandle<()>,
    address: DatabaseAddress,
    is_finished: bool,
}

impl Session {
    /// Ends a session whose transaction is over.
    fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
        // A server does not notice that nobody waits for a query any more; it has to be told.
        if let (false, Ok(runtime)) = (self.is_finished, Handle::try_current()) {
            let (token, address) = (self.client.cancel_token(), self.address.clone());
            let limit = Duration::from_millis(POSTGRES_CONNECT.allowed);
            runtime.spawn(tokio::time::timeout(limit, cancel(token, address)));
        }
    }
}

async fn cancel(token: CancelToken, address: DatabaseAddress) {
    let (Ok(stream), Ok(tls)) = (dial(&address).await, Tls::new(&address)) else { return };
    let _ = token.cancel_query_raw(Capped::new(stream, &Overflow::default()), tls).await;
}

async fn connect(
    connection: &ConnectionString,
    overflow: &Overflow,
) -> Result<Session, ProviderError> {
    let address = connection.address();
    let stream = Capped::new(dial(address).await?, overflow);
    let tls =
        Tls::new(address).map_err(|err| ProviderError::Unavailable { message: err.to_string() })?;
    let mut config = Config::new();
    config.user(connection.user()).dbname(address.database()).application_name("od");
    config.ssl_mode(tls.mode());
    if let Some(password) = connection.expose_password() {
        config.password(password);
    }
    let (client, driver) =
        config.connect_raw(stream, tls).await.map_err(|err| session_fault(&err, address))?;
    let driver = tokio::spawn(async move {
        // How it ended is told to whoever waits for an answer.
        let _ = driver.await;
    });
    Ok(Session { client, driver, address: address.clone(), is_finished: false })
}

async fn read(client: &Client, work: &Work) -> Result<Table, ProviderError> {
    begin(client).await?;
    // Each time and not only when the service is registered: what a role may do is changed on the server,
    // without a word to us.
    check_role(client).await?;
    match work {
        Work::Schema => {
            cursor(client, SCHEMA, &[]).await.map_err(|err| err.into_fault(SCHEMA, None))
        }
        Work::Query { sql, params } => {
            check_functions(client, sql).await?;
            match cursor(client, sql, params).await {
                Ok(table) => Ok(table),
                Err(ReadError::Provider(fault)) => Err(fault),
                Err(ReadError::Database(err)) => {
                    let names = if Asked::of(&err).is_some() { after(client).await } else { None };
                    Err(query_fault(&err, sql, names.as_deref()))
                }
            }
        }
    }
}

/// Starts the transaction. Everything is set for it alone, so that a pooler hands nothing on.
async fn begin(client: &Client) -> Result<(), ProviderError> {
    // Values arrive as text and are read by their type: without fixed styles a server or role with other
    // settings would give other texts for the same value. All rows are fetched, so the planner is told not
    // to plan for the first tenth of them, as it does for cursors.
    let (statement, idle) = (POSTGRES_STATEMENT.allowed, POSTGRES_IDLE.allowed);
    let begin = format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
         SET LOCAL statement_timeout = {statement}; \
         SET LOCAL lock_timeout = {idle}; \
         SET LOCAL idle_in_transaction_session_timeout = {idle}; \
         SET LOCAL client_min_messages = error; \
         SET LOCAL standard_conforming_strings = on; \
         SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = iso_8601; \
         SET LOCAL TimeZone = 'UTC'; SET LOCAL bytea_output = hex; SET LOCAL extra_float_digits = 1; \
         SET LOCAL cursor_tuple_fraction = 1.0"
    );
    client.batch_execute(&begin).await.map_err(|err| query_fault(&err, "", None))
}

/// Refuses a login that can do more on the server than read tables.
async fn check_role(client: &Client) -> Result<(), ProviderError> {
    let fault = |err| query_fault(&err, "", None);
    let Some(row) = client.query_opt(POWER, &[]).await.map_err(fault)? else { return Ok(()) };
    let role: String = row.try_get(0).map_err(fault)?;
    let power = match role.as_str() {
        "pg_execute_server_program" => "may run programs on the server",
        "pg_write_server_files" => "may write files on the server",
        "pg_read_server_files" => "may read files on the server",
        _ => "is or may become a superuser",
    };
    Err(ProviderError::Forbidden {
        message: format!(
            "the login {power}, which READ ONLY does not prevent; register a role that may only read, such as one with `GRANT pg_read_all_data`"
        ),
    })
}

/// Refuses functions that the server marks as having effects.
async fn check_functions(client: &Client, sql: &str) -> Result<(), ProviderError> {
    let Some(names) = names(sql) else {
        return Err(ProviderError::Forbidden {
            message: "names and texts with Unicode escapes (U&) are not read".to_owned(),
        });
    };
    let called: Vec<String> = names.called.into_iter().collect();
    let dotted: Vec<String> = names.dotted.into_iter().collect();
    if called.is_empty() && dotted.is_empty() {
        return Ok(());
    }
    // Asked of the server, which knows overloads, extensions and its own version; a list of ours would be
    // wrong for the next one.
    let harmless: Vec<&str> = HARMLESS.to_vec();
    let found = client.query_opt(VOLATILE, &[&called, &dotted, &harmless]).await;
    let fault = |err| query_fault(&err, "", None);
    let Some(row) = found.map_err(fault)? else { return Ok(()) };
    let name: String = row.try_get(0).map_err(fault)?;
    Err(ProviderError::Forbidden {
        message: format!(
            "the function `{name}` may have effects (it is marked VOLATILE); if it has none, its owner marks it STABLE"
        ),
    })
}

/// A read that gave nothing.
enum ReadError {
    /// The server's word.
    Database(tokio_postgres::Error),
    /// Our own.
    Provider(ProviderError),
}

impl ReadError {
    fn into_fault(self, sql: &str, names: Option<&[String]>) -> ProviderError {
        match self {
            Self::Database(err) => query_fault(&err, sql, names),
            Self::Provider(fault) => fault,
        }
    }
}

impl From<tokio_postgres::Error> for ReadError {
    fn from(err: tokio_postgres::Error) -> Self {
        Self::Database(err)
    }
}

impl From<od_core::intake::IntakeFault> for ReadError {
    fn from(fault: od_core::intake::IntakeFault) -> Self {
        Self::Provider(fault.into())
    }
}

/// Opens a cursor and fetches it in batches, so that the bounds hold while rows arrive.
async fn cursor(client: &Client, sql: &str, params: &[Value]) -> Result<Table, ReadError> {
    // By the extended protocol: it takes one statement, and no more.
    let declare = client.prepare(&format!("{CURSOR}{sql}")).await?;
    if declare.params().len() != params.len() {
        return Err(ReadError::Provider(ProviderError::Input {
            pointer: "/params".to_owned(),
            message: format!(
                "the query has {} parameters, and {} values are given",
                declare.params().len(),
                params.len()
            ),
        }));
    }
    let params: Vec<Param> = params.iter().map(Param::of).collect();
    let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| param as _).collect();
    client.execute(&declare, &params).await?;
    let described = client.prepare(FETCH).await?;
    let columns = described.columns();
    let kinds: Vec<ColumnKind> =
        columns.iter().map(|column| ColumnKind::of(column.type_())).collect();
    let names = columns.iter().map(|column| column.name().to_owned()).collect();
    let mut builder = TableBuilder::new(names)?;
    // The text is ours, so the simple protocol is safe here; it gives every type as text.
    while fetch(client, &kinds, &mut builder).await? > 0 {}
    Ok(builder.finish())
}

async fn fetch(
    client: &Client,
    kinds: &[ColumnKind],
    builder: &mut TableBuilder,
) -> Result<u64, ReadError> {
    let mut rows = pin!(client.simple_query_raw(FETCH).await?);
    let mut count = 0;
    while let Some(message) = rows.try_next().await? {
        let SimpleQueryMessage::Row(row) = message else { continue };
        count += 1;
        for (at, kind) in kinds.iter().enumerate() {
            match row.try_get(at)? {
                Some(text) => builder.push(&kind.cell(text))?,
                None => builder.push(&CellRef::Null)?,
            }
        }
        builder.end_row()?;
    }
    Ok(count)
}

/// Looks up the names for the message of a failed query, in a transaction of their own.
async fn after(client: &Client) -> Option<Vec<String>> {
    client.batch_execute("ROLLBACK").await.ok()?;
    begin(client).await.ok()?;
    known_names(client, SCHEMA).await
}

/// A parameter as text, of which the server makes what the query needs.
#[derive(Debug)]
struct Param(Option<String>);

impl Param {
    fn of(value: &Value) -> Self {
        Self(match value {
            Value::Null | Value::Array(_) | Value::Object(_) => None,
            Value::Bool(bool) => Some(bool.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::String(text) => Some(text.clone()),
        })
    }
}

impl ToSql for Param {
    fn to_sql(
        &self,
        _: &Type,
        buffer: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        Ok(match &self.0 {
            None => IsNull::Yes,
            Some(text) => {
                buffer.extend_from_slice(text.as_bytes());
                IsNull::No
            }
        })
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}
