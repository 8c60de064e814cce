//! The keys tokens are signed with.

use std::fmt;

use ring::hmac;

/// The signing keys: the current one, and the one before it.
///
/// Signing uses the current key; verifying tries the current, then the previous. Their bytes never
/// appear in debug output.
#[derive(Clone)]
pub struct Keyring {
    current: Secret,
    previous: Option<Secret>,
}

#[derive(Clone)]
struct Secret {
    bytes: [u8; Keyring::KEY_BYTES],
    key: hmac::Key,
}

impl Secret {
    fn new(bytes: [u8; Keyring::KEY_BYTES]) -> Self {
        Self { bytes, key: hmac::Key::new(hmac::HMAC_SHA256, &bytes) }
    }
}

impl Keyring {
    /// The length of a key.
    pub const KEY_BYTES: usize = 32;

    /// Makes a ring of one key or two.
    #[must_use]
    pub fn new(current: [u8; Self::KEY_BYTES], previous: Option<[u8; Self::KEY_BYTES]>) -> Self {
        Self { current: Secret::new(current), previous: previous.map(Secret::new) }
    }

    /// Returns the ring after a rotation: the new key is current, the current one previous, and the
    /// previous one is forgotten.
    #[must_use]
    pub fn rotated(&self, new: [u8; Self::KEY_BYTES]) -> Self {
        Self { current: Secret::new(new), previous: Some(self.current.clone()) }
    }

    /// Returns the current key, to be stored where only the person can read it.
    #[must_use]
    pub const fn current(&self) -> &[u8; Self::KEY_BYTES] {
        &self.current.bytes
    }

    /// Returns the previous key, if there is one.
    #[must_use]
    pub fn previous(&self) -> Option<&[u8; Self::KEY_BYTES]> {
        self.previous.as_ref().map(|secret| &secret.bytes)
    }

    pub(super) fn sign(&self, payload: &[u8]) -> hmac::Tag {
        hmac::sign(&self.current.key, payload)
    }

    /// Returns whether one of the keys made the tag; compared in constant time.
    pub(super) fn made(&self, payload: &[u8], tag: &[u8]) -> bool {
        // Which of the two keys fits may show in the time taken: its holder knows when the token was made.
        // What must not show is how much of a forged tag was right, and `ring` compares all of it.
        let keys = std::iter::once(&self.current).chain(&self.previous);
        keys.into_iter().any(|secret| hmac::verify(&secret.key, payload, tag).is_ok())
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring")
            .field("has_previous", &self.previous.is_some())
            .finish_non_exhaustive()
    }
}
