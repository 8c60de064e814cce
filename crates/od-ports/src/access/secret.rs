//! A credential as text: its length, its characters, and that it is never printed.

use std::fmt;

use zeroize::Zeroizing;

/// A credential. It is wiped when dropped, and prints as nothing but its kind.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(Zeroizing<String>);

/// The reason a text is no credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ParseSecretError {
    /// Nothing was given.
    #[error("the secret is empty")]
    Empty,
    /// Shorter than any credential; scrubbing it from output would tear holes into ordinary text.
    #[error("the secret is shorter than {} characters", Secret::LENGTH_MIN)]
    TooShort,
    /// Longer than any credential.
    #[error("the secret is longer than {} bytes", Secret::LENGTH_MAX)]
    TooLong,
    /// It cannot be a header value.
    #[error("the secret holds a space or a character outside visible ASCII")]
    NotVisibleAscii,
}

impl Secret {
    /// Fewer characters are refused.
    pub const LENGTH_MIN: usize = 8;
    /// More bytes are refused.
    pub const LENGTH_MAX: usize = od_core::limits::CREDENTIAL.max();

    /// Accepts a credential as it was typed; white space around it is dropped.
    pub fn parse(text: &str) -> Result<Self, ParseSecretError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ParseSecretError::Empty);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ParseSecretError::NotVisibleAscii);
        }
        if text.len() < Self::LENGTH_MIN {
            return Err(ParseSecretError::TooShort);
        }
        if text.len() > Self::LENGTH_MAX {
            return Err(ParseSecretError::TooLong);
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns the credential itself. Only for a request to its own host, the vault, and scrubbing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
