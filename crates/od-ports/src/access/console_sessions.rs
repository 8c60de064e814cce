//! The sessions of the console, and the key by which browsers know the daemon.

use std::fmt;

use od_core::console::{ConsoleSession, PublicKey, Signature};
use od_core::ids::{ConsoleSessionId, Timestamp};

use crate::access::credential_vault::VaultError;

/// Keeps the console sessions of one machine, and the daemon's own key.
///
/// # Contract
///
/// - What `add` and `revoke` acknowledged survives a loss of power; a reader sees the sessions before a
///   change or after it.
/// - `add` keeps what [`od_core::console::admit`] says; `list` begins with the one used last.
/// - A change made by another process is seen by the next call, so that what it revoked is refused.
/// - The daemon's key is made once and kept; only its public half is ever given out.
/// - No project, clone or bundle can bring a session: they are kept outside every data directory.
pub trait ConsoleSessions: fmt::Debug + Send + Sync {
    /// Returns the daemon's public key.
    fn daemon_key(&self) -> Result<PublicKey, SessionsError>;

    /// Signs a text with the daemon's key.
    fn sign(&self, text: &str) -> Result<Signature, SessionsError>;

    /// Returns every session that is kept, ended or not.
    fn list(&self) -> Result<Vec<ConsoleSession>, SessionsError>;

    /// Returns one session.
    fn get(&self, id: &ConsoleSessionId) -> Result<Option<ConsoleSession>, SessionsError>;

    /// Adds a session, at its own time.
    fn add(&self, session: ConsoleSession) -> Result<(), SessionsError>;

    /// Notes that a session was used; one that is gone stays gone.
    fn note_use(&self, id: &ConsoleSessionId, at: Timestamp) -> Result<(), SessionsError>;

    /// Removes sessions; returns those that were there.
    fn revoke(&self, ids: &[ConsoleSessionId]) -> Result<Vec<ConsoleSession>, SessionsError>;
}

/// A failure of the keeper of sessions.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SessionsError {
    /// The file is not what was written.
    #[error("the console sessions cannot be read: {reason}")]
    Damaged {
        /// The fault.
        reason: String,
    },
    /// The file cannot be read or written now, or others could read it.
    #[error("the console sessions cannot be used: {reason}")]
    Unavailable {
        /// The action that failed.
        reason: String,
    },
}

/// Sessions are kept in private files like those of the vault, and fail in the same ways.
impl From<VaultError> for SessionsError {
    fn from(err: VaultError) -> Self {
        match err {
            VaultError::Damaged { reason } => Self::Damaged { reason },
            VaultError::NotPrivate { reason } | VaultError::Unavailable { reason } => {
                Self::Unavailable { reason }
            }
        }
    }
}
