//! Databases on a server: where one is, and the connection string that a person registers it with.

use std::fmt;

use url::Url;

use crate::json::Value;
use crate::limits::{INTAKE_COLUMNS, REGISTERED_URL, TABLES_SHOWN};

/// The port of PostgreSQL, where none is named.
const POSTGRES_PORT: u16 = 5432;

/// The address of one database, without user and password.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DatabaseAddress {
    host: String,
    port: u16,
    database: String,
    encryption: Encryption,
}

/// The protection of a connection to a database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encryption {
    /// None: only to this machine.
    Plain,
    /// TLS, whoever answers.
    Unverified,
    /// TLS with a certificate of that host, signed by an authority that this machine trusts.
    Verified,
}

impl Encryption {
    /// Returns the word of `sslmode`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "disable",
            Self::Unverified => "require",
            Self::Verified => "verify-full",
        }
    }
}

impl DatabaseAddress {
    /// Returns the host, without the brackets of an IPv6 address.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the database's name.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Returns how the connection is protected.
    #[must_use]
    pub const fn encryption(&self) -> Encryption {
        self.encryption
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, database, encryption } = self;
        f.write_str("postgresql://")?;
        if host.contains(':') { write!(f, "[{host}]") } else { f.write_str(host) }?;
        write!(f, ":{port}/{}?sslmode={}", encode(database), encryption.as_str())
    }
}

impl std::str::FromStr for DatabaseAddress {
    type Err = ConnectionStringError;
    fn from_str(text: &str) -> Result<Self, ConnectionStringError> {
        parse(text).map(|parts| parts.address)
    }
}

/// A table or view of a database, for people who look what there is.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseTable {
    /// The schema that it is in; empty where a database has none.
    #[schemars(length(max = 200))]
    pub schema: String,
    /// The name.
    #[schemars(length(max = 200))]
    pub name: String,
    /// Whether it is a table, a view or something else of that sort.
    #[schemars(length(max = 200))]
    pub kind: String,
    /// The columns, in order.
    #[schemars(length(max = 100))]
    pub columns: Vec<DatabaseColumn>,
}

impl DatabaseTable {
    /// Describes the rows of a file by the shape that [`crate::intake::sample`] gives of them.
    #[must_use]
    pub fn of_shape(shape: &Value) -> Self {
        let columns = shape.get("columns").and_then(Value::as_array);
        let columns = columns.into_iter().flatten().map(|column| {
            let text = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default();
            let name = text("name").chars().take(200).collect();
            DatabaseColumn { name, kind: text("type").to_owned() }
        });
        let columns = columns.take(INTAKE_COLUMNS.max()).collect();
        Self { schema: String::new(), name: "rows".to_owned(), kind: "rows".to_owned(), columns }
    }

    /// Gathers the rows of a connector's schema tool, one a column, into tables; what is beyond the
    /// limits of an answer is left out.
    #[must_use]
    pub fn gather(output: &Value) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        let rows = output.get("rows").and_then(Value::as_array);
        for row in rows.into_iter().flatten() {
            let text = |key: &str| {
                let text = row.get(key).and_then(Value::as_str).unwrap_or_default();
                text.chars().take(200).collect::<String>()
            };
            let column = DatabaseColumn { name: text("column"), kind: text("type") };
            let (schema, name) = (text("schema"), text("table"));
            let last = tables.last_mut().filter(|last| last.schema == schema && last.name == name);
            if let Some(table) = last {
                if INTAKE_COLUMNS.allows(table.columns.len() + 1) {
                    table.columns.push(column);
                }
            } else if TABLES_SHOWN.allows(tables.len() + 1) {
                let (kind, columns) = (text("kind"), vec![column]);
                tables.push(Self { schema, name, kind, columns });
            } else {
                break;
            }
        }
        tables
    }
}

/// A column of a table.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseColumn {
    /// The name.
    #[schemars(length(max = 200))]
    pub name: String,
    /// The type, in the database's own words.
    #[serde(rename = "type")]
    #[schemars(length(max = 200))]
    pub kind: String,
}

/// A user's way into a database: `postgresql://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full`.
#[derive(Clone, Eq, PartialEq)]
pub struct ConnectionString {
    address: DatabaseAddress,
    user: String,
    password: Option<String>,
}

impl ConnectionString {
    /// Returns where the database is.
    #[must_use]
    pub const fn address(&self) -> &DatabaseAddress {
        &self.address
    }

    /// Returns the role that logs in.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the role's password. Only for the database itself, and for scrubbing.
    #[must_use]
    pub fn expose_password(&self) -> Option<&str> {
        self.password.as_deref()
    }
}

impl fmt::Debug for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionString").field("address", &self.address).finish_non_exhaustive()
    }
}

impl std::str::FromStr for ConnectionString {
    type Err = ConnectionStringError;
    fn from_str(text: &str) -> Result<Self, ConnectionStringError> {
        let Parts { address, user, password } = parse(text)?;
        let user = user.ok_or(ConnectionStringError::NoUser)?;
        Ok(Self { address, user, password })
    }
}

/// Why a text is no connection string. No message repeats any part of the text: it may hold a password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConnectionStringError {
    /// It is no address of a PostgreSQL database.
    #[error(
        "not a connection string: write postgresql://USER:PASSWORD@HOST:5432/DATABASE, with characters such as @ / # in the password percent-encoded"
    )]
    NotAbsolute,
    /// It names no host.
    #[error("the connection string names no host; a socket's path is not taken")]
    NoHost,
    /// It names no user.
    #[error("the connection string names no user")]
    NoUser,
    /// It names no database.
    #[error("the connection string names no database: add it after the host, such as /shop")]
    NoDatabase,
    /// A parameter other than `sslmode`.
    #[error("of the parameters of a connection string only sslmode is taken")]
    UnknownParameter,
    /// An unknown `sslmode`.
    #[error("sslmode is one of disable, require, verify-ca, verify-full")]
    UnknownMode,
    /// Plain text over a network.
    #[error(
        "a database on another machine is read over TLS only: leave sslmode out, or write verify-full or require"
    )]
    PlainRemote,
    /// It is too long.
    #[error("the connection string is longer than {}", REGISTERED_URL.want())]
    TooLong,
}

struct Parts {
    address: DatabaseAddress,
    user: Option<String>,
    password: Option<String>,
}

fn parse(text: &str) -> Result<Parts, ConnectionStringError> {
    use ConnectionStringError as Error;
    if !REGISTERED_URL.allows(text.len()) {
        return Err(Error::TooLong);
    }
    let url = Url::parse(text).map_err(|_| Error::NotAbsolute)?;
    if !matches!(url.scheme(), "postgres" | "postgresql") || url.fragment().is_some() {
        return Err(Error::NotAbsolute);
    }
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or(Error::NoHost)?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    // libpq takes several hosts with commas, and a socket's directory, percent-encoded. What is registered
    // is one server that can be shown and checked.
    if !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b)) {
        return Err(Error::NotAbsolute);
    }
    let database = url.path().strip_prefix('/').unwrap_or_default();
    if database.contains('/') {
        return Err(Error::NotAbsolute);
    }
    let part = |encoded: &str| decode(encoded).ok_or(Error::NotAbsolute);
    let database = part(database)?;
    if database.is_empty() {
        return Err(Error::NoDatabase);
    }
    let mut mode = None;
    for (name, value) in url.query_pairs() {
        // `options=-c …` would set anything on the server, and `host=` or `port=` would override the
        // address that a person was shown.
        if name != "sslmode" {
            return Err(Error::UnknownParameter);
        }
        mode = Some(value.into_owned());
    }
    let encryption = encryption(mode.as_deref(), is_this_machine(&host))?;
    let user = (!url.username().is_empty()).then(|| part(url.username())).transpose()?;
    let password = url.password().map(part).transpose()?;
    let port = url.port().unwrap_or(POSTGRES_PORT);
    Ok(Parts { address: DatabaseAddress { host, port, database, encryption }, user, password })
}

/// Reads `sslmode`. Where it is left out, a database on another machine has to prove itself.
fn encryption(mode: Option<&str>, is_local: bool) -> Result<Encryption, ConnectionStringError> {
    match mode {
        None if is_local => Ok(Encryption::Plain),
        // `verify-ca` is read as the stricter one: a certificate of another host of the same authority
        // proves nothing about this one.
        None | Some("verify-ca" | "verify-full") => Ok(Encryption::Verified),
        Some("require") => Ok(Encryption::Unverified),
        Some("disable" | "allow" | "prefer") if is_local => Ok(Encryption::Plain),
        Some("disable" | "allow" | "prefer") => Err(ConnectionStringError::PlainRemote),
        Some(_) => Err(ConnectionStringError::UnknownMode),
    }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads percent-encoded text; `None` if what comes out is no text, or could not be sent.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn encode(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn address(text: &str) -> String {
        text.parse::<ConnectionString>().unwrap().address().to_string()
    }

    #[test]
    fn a_connection_string_is_an_address_and_a_login() {
        let text = "postgres://re%40der:p%2Fw%23@db.example.com/sh%20op?sslmode=require";
        let connection: ConnectionString = text.parse().unwrap();
        assert_eq!(connection.user(), "re@der");
        assert_eq!(connection.expose_password(), Some("p/w#"));
        let address = connection.address();
        assert_eq!(address.to_string(), "postgresql://db.example.com:5432/sh%20op?sslmode=require");
        assert_eq!(
            address.to_string().parse(),
            Ok(address.clone()),
            "an address reads itself back"
        );
        assert_eq!(address.database(), "sh op");
        assert!(!format!("{connection:?}").contains("p/w"));
    }

    #[test]
    fn another_machine_is_read_over_tls_and_proves_itself_unless_told_otherwise() {
        let local = address("postgresql://me@localhost/shop");
        assert_eq!(local, "postgresql://localhost:5432/shop?sslmode=disable");
        let v6 = address("postgresql://me@[::1]:6000/shop?sslmode=prefer");
        assert_eq!(v6, "postgresql://[::1]:6000/shop?sslmode=disable");
        let remote = address("postgresql://me@db.example.com/shop");
        assert_eq!(remote, "postgresql://db.example.com:5432/shop?sslmode=verify-full");
        for mode in ["disable", "allow", "prefer"] {
            let text = format!("postgresql://me@db.example.com/shop?sslmode={mode}");
            assert_eq!(text.parse::<ConnectionString>(), Err(ConnectionStringError::PlainRemote));
        }
    }

    #[test]
    fn a_refused_connection_string_says_why_and_repeats_nothing() {
        for (text, error) in [
            ("host=localhost password=hunter22", ConnectionStringError::NotAbsolute),
            ("mysql://me:hunter22@localhost/shop", ConnectionStringError::NotAbsolute),
            ("postgresql://me:hunter22@a,b/shop", ConnectionStringError::NotAbsolute),
            ("postgresql:///shop", ConnectionStringError::NoHost),
            ("postgresql://localhost/shop", ConnectionStringError::NoUser),
            ("postgresql://me:hunter22@localhost", ConnectionStringError::NoDatabase),
            ("postgresql://me@localhost/a/b", ConnectionStringError::NotAbsolute),
            ("postgresql://me@localhost/a?options=-c", ConnectionStringError::UnknownParameter),
            ("postgresql://me@localhost/a?sslmode=no", ConnectionStringError::UnknownMode),
        ] {
            let refused = text.parse::<ConnectionString>().unwrap_err();
            assert_eq!(refused, error, "{text}");
            assert!(!refused.to_string().contains("hunter22"), "{refused}");
        }
    }
}
