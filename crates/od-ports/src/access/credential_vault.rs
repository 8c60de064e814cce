//! Connector credentials, and the state of each connection.

use std::fmt;

use async_trait::async_trait;
use od_core::ids::{ConnectorId, Timestamp};

pub use super::secret::{ParseSecretError, Secret};

/// A person's decision about a connector.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// Connected, with or without a secret.
    Connected,
    /// Disconnected: known, but not to be used until connected again.
    Disconnected,
    /// Switched off.
    Disabled,
}

/// One connection, without its secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Connection {
    /// Which connector.
    pub connector: ConnectorId,
    /// The decision.
    pub standing: Standing,
    /// Whose data it gives, as the provider named it.
    pub account_label: Option<String>,
    /// When that was decided.
    pub changed_at: Timestamp,
}

/// The reason the vault could not do it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum VaultError {
    /// A file of the vault is readable by others, of another owner or not a regular file.
    #[error("the credential vault is not private: {reason}")]
    NotPrivate {
        /// The fault.
        reason: String,
    },
    /// The vault was changed by something else, or its key is not the one it was written with.
    #[error("the credential vault cannot be opened: {reason}")]
    Damaged {
        /// The fault.
        reason: String,
    },
    /// The disk did not play along.
    #[error("the credential vault cannot be used: {reason}")]
    Unavailable {
        /// The operating system's words.
        reason: String,
    },
}

/// Keeps credentials, and what a person decided about each connector.
///
/// # Contract
///
/// - A secret comes out only through [`secret`](Self::secret) and [`secrets`](Self::secrets); `connections` gives labels.
/// - `put` replaces the connection and its secret in one step, durably: a reader sees the old pair or the new one.
/// - `put` without a secret forgets the one that was kept.
/// - A change by another process is seen by the next call.
/// - Nothing is created by reading.
#[async_trait]
pub trait CredentialVault: fmt::Debug + Send + Sync {
    /// Returns every connection that was ever decided on, ordered by connector.
    async fn connections(&self) -> Result<Vec<Connection>, VaultError>;

    /// Replaces one connection and its secret.
    async fn put(&self, connection: Connection, secret: Option<Secret>) -> Result<(), VaultError>;

    /// Returns the secret of one connector, if it has one.
    async fn secret(&self, connector: &ConnectorId) -> Result<Option<Secret>, VaultError>;

    /// Returns every secret that is kept, so that output can be scrubbed of all of them.
    async fn secrets(&self) -> Result<Vec<Secret>, VaultError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_as_typed_and_never_printed() {
        let secret = Secret::parse(" ghp_0123456789\n").unwrap();
        assert_eq!(secret.expose(), "ghp_0123456789");
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn what_cannot_be_a_header_or_would_tear_text_apart_is_refused() {
        for (text, expected) in [
            ("", ParseSecretError::Empty),
            ("  \n", ParseSecretError::Empty),
            ("abc", ParseSecretError::TooShort),
            ("two words here", ParseSecretError::NotVisibleAscii),
            ("line\r\nInjected: header", ParseSecretError::NotVisibleAscii),
            ("pässword-long", ParseSecretError::NotVisibleAscii),
            (&"x".repeat(5000), ParseSecretError::TooLong),
        ] {
            assert_eq!(Secret::parse(text), Err(expected), "{text:?}");
        }
    }
}
