//! AES-256-GCM over one secret, bound to the record it stands in.

use od_ports::access::credential_vault::VaultError;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

/// Bytes of a key.
pub(super) const KEY_BYTES: usize = 32;

/// The key of a vault.
pub(super) struct Key(LessSafeKey);

impl Key {
    /// Makes a new random key, as it goes to disk.
    pub(super) fn generate() -> Result<Zeroizing<[u8; KEY_BYTES]>, VaultError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        fill(bytes.as_mut_slice())?;
        Ok(bytes)
    }

    /// Reads a key as it came from disk.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, VaultError> {
        UnboundKey::new(&AES_256_GCM, bytes)
            .map(|key| Self(LessSafeKey::new(key)))
            .map_err(|_| damaged("the key file has the wrong length"))
    }

    /// Encrypts `secret`; opening it needs the same `context`. Returns nonce and ciphertext.
    ///
    /// The nonce is random: a vault is rewritten by hand-sized actions, far below 2^32 of them.
    pub(super) fn seal(&self, context: &[u8], secret: &str) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE_LEN];
        fill(&mut nonce)?;
        let mut sealed = secret.as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(context),
                &mut sealed,
            )
            .map_err(|_| damaged("the secret cannot be encrypted"))?;
        Ok([&nonce[..], &sealed[..]].concat())
    }

    /// Decrypts what `seal` made with the same context.
    pub(super) fn open(
        &self,
        context: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<String>, VaultError> {
        let (nonce, sealed) = sealed
            .split_first_chunk::<NONCE_LEN>()
            .ok_or_else(|| damaged("a record is too short"))?;
        let mut buffer = Zeroizing::new(sealed.to_vec());
        let plain = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(context), &mut buffer)
            .map_err(|_| damaged("a record was changed, or the key is another one"))?;
        let text = std::str::from_utf8(plain).map_err(|_| damaged("a record holds no text"))?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

fn fill(bytes: &mut [u8]) -> Result<(), VaultError> {
    SystemRandom::new().fill(bytes).map_err(|_| VaultError::Unavailable {
        reason: "the system gives no random bytes".to_owned(),
    })
}

fn damaged(reason: &str) -> VaultError {
    VaultError::Damaged { reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::from_bytes(&[7; KEY_BYTES]).unwrap()
    }

    #[test]
    fn a_secret_opens_only_in_its_own_context_and_unchanged() {
        let sealed = key().seal(b"github", "ghp_secret").unwrap();
        assert_eq!(key().open(b"github", &sealed).unwrap().as_str(), "ghp_secret");
        assert!(key().open(b"gitlab", &sealed).is_err());
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(key().open(b"github", &flipped).is_err(), "bit {bit}");
        }
        for cut in 0..sealed.len() {
            assert!(key().open(b"github", &sealed[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn sealing_twice_gives_different_bytes() {
        assert_ne!(key().seal(b"x", "same").unwrap(), key().seal(b"x", "same").unwrap());
    }
}
