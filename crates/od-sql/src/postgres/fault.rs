//! The server's errors in our own words: what it wrote may hold data, so none of it is repeated.

use od_core::connector::DatabaseAddress;
use od_core::error::nearest_name;
use od_core::limits::POSTGRES_STATEMENT;
use od_pgconn::is_certificate_fault;
use od_ports::connector_provider::ProviderError;
use tokio_postgres::error::{ErrorPosition, SqlState};
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::session::CURSOR;

/// A kind of name that the server did not know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    Table,
    Column,
}

impl Asked {
    /// Returns what an error says is missing.
    pub(super) fn of(err: &Error) -> Option<Self> {
        match err.code() {
            Some(&(SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME)) => Some(Self::Table),
            Some(&SqlState::UNDEFINED_COLUMN) => Some(Self::Column),
            Some(_) | None => None,
        }
    }
}

/// Turns a failed connection into words for the person who registered it.
pub(super) fn session_fault(err: &Error, address: &DatabaseAddress) -> ProviderError {
    let at = format!("{}:{}", address.host(), address.port());
    match err.code() {
        Some(&(SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION)) => {
            ProviderError::CredentialRefused
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            ProviderError::Missing { message: format!("the server at {at} has no such database") }
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => ProviderError::Unavailable {
            message: format!("the server at {at} has no connection left"),
        },
        Some(_) => ProviderError::Unavailable {
            message: format!("the server at {at} did not accept the connection"),
        },
        None if is_certificate_fault(err) => ProviderError::Forbidden {
            message: format!(
                "the certificate of {at} is not one that this machine trusts for that host; \
                 have its authority added to the system's, or register with `?sslmode=require`, which \
                 encrypts without checking"
            ),
        },
        None => ProviderError::Unavailable {
            message: format!(
                "the server at {at} did not complete the connection (TLS: {})",
                address.encryption().as_str()
            ),
        },
    }
}

/// Turns a failed statement into words for whoever wrote it.
pub(super) fn query_fault(err: &Error, sql: &str, names: Option<&[String]>) -> ProviderError {
    let input = |message: String| ProviderError::Input { pointer: "/sql".to_owned(), message };
    let Some(state) = err.code() else {
        return ProviderError::Unavailable {
            message: "the connection to the database broke off".to_owned(),
        };
    };
    let place = place(err, sql);
    let word = place.as_ref().map(|(_, word)| word.as_str()).unwrap_or_default();
    let at = place.as_ref().map(|(at, _)| format!(" at character {at}")).unwrap_or_default();
    if let Some(asked) = Asked::of(err) {
        let kind = match asked {
            Asked::Table => "table",
            Asked::Column => "column",
        };
        return input(unknown(kind, word, &at, names.unwrap_or_default()));
    }
    match state {
        &SqlState::SYNTAX_ERROR if !is_select(sql) => ProviderError::Forbidden {
            message: "only one SELECT (or WITH … SELECT, VALUES) may run".to_owned(),
        },
        &SqlState::SYNTAX_ERROR => {
            input(format!("a syntax error{at} near `{word}`; one SELECT may run, without `;`"))
        }
        &SqlState::UNDEFINED_FUNCTION => {
            input(format!("no function or operator `{word}`{at} for these types"))
        }
        &(SqlState::READ_ONLY_SQL_TRANSACTION | SqlState::FEATURE_NOT_SUPPORTED) => {
            ProviderError::Forbidden { message: "the statement does not only read".to_owned() }
        }
        &SqlState::INSUFFICIENT_PRIVILEGE => ProviderError::Forbidden {
            message: format!("the registered role may not read this{at}; its owner grants SELECT"),
        },
        &SqlState::QUERY_CANCELED => ProviderError::TimedOut {
            message: format!(
                "the database ended the query after {} ms, as it was asked to",
                POSTGRES_STATEMENT.allowed
            ),
        },
        &SqlState::LOCK_NOT_AVAILABLE => ProviderError::Unavailable {
            message: "the tables are locked by somebody else; try again".to_owned(),
        },
        other if other.code().starts_with("22") => {
            input(format!("a value does not fit{at} (SQLSTATE {})", other.code()))
        }
        other if other.code().starts_with("42") => input(format!(
            "the query is not one that the database takes{at}, near `{word}` (SQLSTATE {})",
            other.code()
        )),
        other => ProviderError::Unavailable {
            message: format!("the database refused the query (SQLSTATE {})", other.code()),
        },
    }
}

fn is_select(sql: &str) -> bool {
    let start = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let word: String = start.chars().take_while(char::is_ascii_alphabetic).collect();
    let word = word.to_ascii_lowercase();
    // A comment may stand before any word.
    word.is_empty() || ["select", "with", "values", "table"].contains(&word.as_str())
}

/// Returns the place of an error in the caller's own text, counted from 1, and the word there.
fn place(err: &Error, sql: &str) -> Option<(usize, String)> {
    let Some(ErrorPosition::Original(position)) = err.as_db_error()?.position() else {
        return None;
    };
    let at = (*position as usize).checked_sub(CURSOR.chars().count())?;
    let rest = sql.chars().skip(at.checked_sub(1)?);
    let word: String =
        rest.take_while(|c| c.is_alphanumeric() || "_.\"$".contains(*c)).take(64).collect();
    Some((at, word))
}

fn unknown(kind: &str, word: &str, at: &str, names: &[String]) -> String {
    let bare = word.replace('"', "").to_lowercase();
    let last = bare.rsplit('.').next().unwrap_or_default();
    let nearest = nearest_name(last, names.iter().map(String::as_str));
    let known = match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`postgres.schema` lists what the role may read".to_owned(),
    };
    format!("no {kind} `{word}`{at}; {known}")
}

/// Reads the tables and columns for the message of a fault; none if they cannot be read.
pub(super) async fn known_names(client: &Client, schema: &str) -> Option<Vec<String>> {
    let rows = client.simple_query(&format!("{schema} LIMIT 2000")).await.ok()?;
    let mut names = Vec::new();
    for message in rows {
        let SimpleQueryMessage::Row(row) = message else { continue };
        names.extend(row.get(1).into_iter().chain(row.get(3)).map(str::to_owned));
    }
    names.sort_unstable();
    names.dedup();
    Some(names)
}
