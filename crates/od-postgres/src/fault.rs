//! The server's errors in our own words: what it wrote may hold data, so none of it is repeated.

use od_core::connector::DatabaseAddress;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::COMMIT_WAIT;
use od_pgconn::is_certificate_fault;
use od_ports::store::{Outcome, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// A statement that did not work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// The connection broke, or the answer did not come: what became of the statement is not known.
    Lost,
    /// Somebody else holds the row.
    Locked,
    /// The row is there already.
    Taken,
    /// The role may not do this, or the schema is not ours.
    Schema([u8; 5]),
    /// The server refused for another reason, of this SQLSTATE.
    Refused([u8; 5]),
}

impl Fault {
    /// Reads an error of a statement.
    pub(crate) fn of(err: &Error) -> Self {
        let Some(state) = err.code() else { return Self::Lost };
        let code = letters(state);
        match *state {
            SqlState::LOCK_NOT_AVAILABLE | SqlState::T_R_DEADLOCK_DETECTED => Self::Locked,
            SqlState::UNIQUE_VIOLATION => Self::Taken,
            // The server ends the session: a COMMIT may have gone through before.
            _ if err.is_closed() => Self::Lost,
            _ => match &code[..2] {
                b"08" | b"57" => Self::Lost,
                b"42" | b"3F" => Self::Schema(code),
                _ => Self::Refused(code),
            },
        }
    }

    /// Reads an error of a value that is not of the type of its column.
    pub(crate) const fn of_row(_: &Error) -> Self {
        Self::Schema(*b"XX001")
    }

    /// Puts a connection that did not come about in words.
    pub(crate) fn of_login(err: &Error, address: &DatabaseAddress) -> String {
        let at = format!("{}:{}", address.host(), address.port());
        match err.code() {
            Some(&(SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION)) => {
                format!(
                    "{at} refused the login: put the password into the file that PGPASSFILE names (~/.pgpass)"
                )
            }
            Some(&SqlState::INVALID_CATALOG_NAME) => format!("{at} has no such database"),
            Some(&SqlState::TOO_MANY_CONNECTIONS) => format!("{at} has no connection left"),
            Some(_) => format!("{at} did not accept the connection"),
            None if is_certificate_fault(err) => {
                format!("the certificate of {at} is not one that this machine trusts for that host")
            }
            None => {
                format!("{at} asks for a password and there is none, or did not finish the login")
            }
        }
    }
}

fn letters(state: &SqlState) -> [u8; 5] {
    let mut code = *b"?????";
    for (at, letter) in code.iter_mut().zip(state.code().bytes()) {
        *at = letter;
    }
    code
}

/// Refuses work because the store cannot be used.
pub(crate) fn unavailable(reason: impl Into<String>, outcome: Outcome) -> StoreError {
    StoreError::Unavailable { reason: reason.into(), outcome }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        let state = |code: [u8; 5]| String::from_utf8_lossy(&code).into_owned();
        let reason = match fault {
            Fault::Lost => "the connection broke off".to_owned(),
            Fault::Locked => "somebody else holds what is to be changed".to_owned(),
            Fault::Taken => "a row is there that should not be (SQLSTATE 23505)".to_owned(),
            Fault::Schema(code) => format!(
                "its tables are not those of this program, or the role may not use them (SQLSTATE {}); `od store status` says which",
                state(code)
            ),
            Fault::Refused(code) => format!("it refused (SQLSTATE {})", state(code)),
        };
        unavailable(reason, Outcome::NotDone)
    }
}

pub(crate) fn not_found(project: &ProjectId, artifact: &ArtifactId) -> StoreError {
    StoreError::NotFound { project: project.clone(), artifact: artifact.clone() }
}

/// Turns a fault while a lock was waited for into an error.
pub(crate) fn busy(fault: Fault, artifact: &ArtifactId) -> StoreError {
    match fault {
        Fault::Locked => {
            StoreError::Busy { artifact: artifact.clone(), waited_ms: COMMIT_WAIT.allowed }
        }
        Fault::Lost | Fault::Taken | Fault::Schema(_) | Fault::Refused(_) => fault.into(),
    }
}
