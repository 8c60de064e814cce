//! Signing and checking of tokens.

use std::fmt;
use std::io;

use od_core::ids::Timestamp;
use od_core::token::{Claims, TokenError, VerifiedToken};

/// Signs and checks tokens.
///
/// # Contract
///
/// - `verify` accepts what the present keyring's current or previous key signed, and nothing else. A
///   keyring rotated by another process counts from the next call.
/// - A keyring that cannot be read refuses everything; it never means "allow".
/// - Whether a tool token's run still lives is for the caller to ask.
pub trait TokenAuthority: fmt::Debug + Send + Sync {
    /// Signs claims with the current key.
    fn sign(&self, claims: &Claims) -> Result<String, KeyringError>;
    /// Checks a token's form, signature and times.
    fn verify(&self, token: &str, now: Timestamp) -> Result<VerifiedToken, VerifyError>;
}

/// The keyring cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// Others could read it.
    #[error("the keyring is readable by other users")]
    TooOpen,
    /// The directory that it is in is not this user's alone.
    #[error("{message}")]
    Untrusted {
        /// Which directory, and why not.
        message: String,
        /// The command or step that makes it usable.
        fix: String,
    },
    /// It is not a keyring of a known version.
    #[error("the keyring is damaged")]
    Damaged,
    /// The system gave no random bytes for a new key.
    #[error("no random bytes for a new key")]
    NoEntropy,
    /// The disk refused.
    #[error("could not {action}: {source}")]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The reason a token was refused.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The token is bad.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The keyring cannot be used.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}
