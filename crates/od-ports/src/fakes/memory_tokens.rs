//! A keyring kept in memory.

use std::io;
use std::sync::{Mutex, PoisonError};

use od_core::ids::Timestamp;
use od_core::token::{self, Claims, Keyring, VerifiedToken};

use crate::token_authority::{KeyringError, TokenAuthority, VerifyError};

/// Signs and checks tokens with keys that are nowhere else.
#[derive(Debug)]
pub struct MemoryTokens {
    keyring: Mutex<Option<Keyring>>,
}

impl Default for MemoryTokens {
    fn default() -> Self {
        Self { keyring: Mutex::new(Some(Keyring::new([7; Keyring::KEY_BYTES], None))) }
    }
}

impl MemoryTokens {
    /// Makes a new current key.
    pub fn rotate(&self, new: [u8; Keyring::KEY_BYTES]) {
        let mut keyring = self.keyring.lock().unwrap_or_else(PoisonError::into_inner);
        *keyring = keyring.as_ref().map(|keyring| keyring.rotated(new));
    }

    /// Loses the keys, as a file that can no longer be read does.
    pub fn lose(&self) {
        *self.keyring.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn keyring(&self) -> Result<Keyring, KeyringError> {
        let keyring = self.keyring.lock().unwrap_or_else(PoisonError::into_inner).clone();
        keyring.ok_or_else(|| KeyringError::Io {
            action: "read the keyring",
            source: io::Error::from(io::ErrorKind::PermissionDenied),
        })
    }
}

impl TokenAuthority for MemoryTokens {
    fn sign(&self, claims: &Claims) -> Result<String, KeyringError> {
        Ok(token::encode(claims, &self.keyring()?))
    }

    fn verify(&self, token: &str, now: Timestamp) -> Result<VerifiedToken, VerifyError> {
        Ok(token::verify(token, &self.keyring()?, now)?)
    }
}
