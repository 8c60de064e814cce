//! The signing keys, in a file only the user can read.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use od_core::ids::Timestamp;
use od_core::token::{self, Claims, Keyring, TokenError, VerifiedToken};
use od_ports::access::token_authority::{KeyringError, TokenAuthority, VerifyError};
use od_ports::system::Entropy;
use serde::{Deserialize, Serialize};

use crate::disk::{Dir, DiskError, FileLock, FileStat, LockAttempt};
use crate::private_dir::{PrivateDir, PrivateError};

const FILE: &str = "keyring.json";
const FILE_BYTES_MAX: u64 = od_core::limits::KEYRING_FILE.allowed;
const SCHEMA_VERSION: u64 = 1;
/// Tokens remembered at once; they are small, and forgetting one only costs reading it again.
const VERIFIED_MAX: usize = 1024;
const LOCK_PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Signs and checks tokens with the keyring of a home directory.
#[derive(Debug)]
pub struct FileTokenAuthority {
    keys: Dir,
    read: Mutex<Option<Read>>,
}

/// The keyring as it was last read, and what the file looked like then.
struct Read {
    stat: FileStat,
    keyring: Keyring,
    /// Tokens that these very keys have signed: a page, a stream or an agent shows the same one over
    /// and over, and reading it costs more than everything else a preview does.
    verified: HashMap<Box<str>, VerifiedToken>,
}

/// Shows how many tokens are remembered, none of them: each opens a door.
impl fmt::Debug for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Read")
            .field("stat", &self.stat)
            .field("keyring", &self.keyring)
            .field("verified", &self.verified.len())
            .finish()
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyringFile {
    schema_version: u64,
    current: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
}

impl FileTokenAuthority {
    /// Opens the keyring of a home directory, making one with a new key if there is none.
    pub fn open(home: &Path, entropy: &dyn Entropy) -> Result<Self, KeyringError> {
        // Whoever can write to the home can put a keyring of his own there.
        PrivateDir::make(home).map_err(untrusted)?;
        let keys = PrivateDir::make(&home.join("keys")).map_err(untrusted)?.into_dir();
        let authority = Self { keys, read: Mutex::new(None) };
        if authority.keys.stat(FILE)?.is_none() {
            let _lock = authority.lock()?;
            // Another process may have made it while we waited.
            if authority.keys.stat(FILE)?.is_none() {
                authority.write(&Keyring::new(random_key(entropy)?, None))?;
            }
        }
        authority.keyring()?;
        Ok(authority)
    }

    /// Makes a new current key; the one before stays good for checking, the one before that does not.
    pub fn rotate(&self, entropy: &dyn Entropy) -> Result<(), KeyringError> {
        let _lock = self.lock()?;
        let rotated = self.keyring()?.rotated(random_key(entropy)?);
        self.write(&rotated)
    }

    /// Returns whether tokens signed before the last rotation are still accepted.
    pub fn has_previous(&self) -> Result<bool, KeyringError> {
        Ok(self.keyring()?.previous().is_some())
    }

    /// Returns the keyring, read again if its file changed.
    fn keyring(&self) -> Result<Keyring, KeyringError> {
        self.with_read(|read| read.keyring.clone())
    }

    /// Hands on the keyring as its file is now.
    fn with_read<T>(&self, use_it: impl FnOnce(&mut Read) -> T) -> Result<T, KeyringError> {
        let stat = self.keys.stat(FILE)?.ok_or_else(|| KeyringError::Io {
            action: "open the keyring",
            source: std::io::ErrorKind::NotFound.into(),
        })?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = read.as_mut().filter(|read| read.stat == stat) {
            return Ok(use_it(read));
        }
        // Remembered under the stat of the file that is opened here, not of the one looked at above: a
        // rotation in between is then seen by the next call.
        let (file, stat) = self.keys.open_regular(FILE)?;
        check_mode(&file)?;
        let bytes = self.keys.read(FILE, FILE_BYTES_MAX)?;
        let fresh = Read { stat, keyring: decode(&bytes)?, verified: HashMap::new() };
        Ok(use_it(read.insert(fresh)))
    }

    fn write(&self, keyring: &Keyring) -> Result<(), KeyringError> {
        let file = KeyringFile {
            schema_version: SCHEMA_VERSION,
            current: to_hex(keyring.current()),
            previous: keyring.previous().map(|key| to_hex(key)),
        };
        let mut bytes = serde_json::to_vec_pretty(&file).map_err(|_| KeyringError::Damaged)?;
        bytes.push(b'\n');
        // Synced before anything is signed: a key that a loss of power takes back makes every token of it void.
        self.keys.replace_synced(FILE, &bytes)?;
        Ok(self.keys.sync()?)
    }

    fn lock(&self) -> Result<FileLock, KeyringError> {
        match FileLock::take(&self.keys, ".lock", LOCK_PATIENCE)? {
            LockAttempt::Held(lock) => Ok(lock),
            LockAttempt::TimedOut => Err(KeyringError::Io {
                action: "lock the keyring",
                source: std::io::ErrorKind::WouldBlock.into(),
            }),
        }
    }
}

impl TokenAuthority for FileTokenAuthority {
    fn sign(&self, claims: &Claims) -> Result<String, KeyringError> {
        Ok(token::encode(claims, &self.keyring()?))
    }

    fn verify(&self, token: &str, now: Timestamp) -> Result<VerifiedToken, VerifyError> {
        self.with_read(|read| read.verify(token, now))?.map_err(VerifyError::from)
    }
}

impl Read {
    fn verify(&mut self, token: &str, now: Timestamp) -> Result<VerifiedToken, TokenError> {
        if let Some(known) = self.verified.get(token) {
            // Only the signature is remembered. Whether its time is over is asked each time.
            return known.check_time(now).map(|()| known.clone());
        }
        let verified = token::verify(token, &self.keyring, now)?;
        if self.verified.len() >= VERIFIED_MAX {
            // All at once: what is in use comes back with the next request, and an order of use would cost each one.
            self.verified.clear();
        }
        self.verified.insert(token.into(), verified.clone());
        Ok(verified)
    }
}

pub(crate) fn check_mode(file: &std::fs::File) -> Result<(), KeyringError> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file
        .metadata()
        .map_err(|source| KeyringError::Io { action: "look at the keyring", source })?;
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.mode() & 0o077 == 0 { Ok(()) } else { Err(KeyringError::TooOpen) }
}

pub(crate) fn untrusted(error: PrivateError) -> KeyringError {
    match error {
        PrivateError::Io { source, .. } => {
            KeyringError::Io { action: "open the directory of the keyring", source }
        }
        PrivateError::Foreign { .. }
        | PrivateError::Writable { .. }
        | PrivateError::TooOpen { .. }
        | PrivateError::Link { .. }
        | PrivateError::Kind { .. } => {
            KeyringError::Untrusted { message: error.to_string(), fix: error.fix() }
        }
    }
}

fn decode(bytes: &[u8]) -> Result<Keyring, KeyringError> {
    let file: KeyringFile = serde_json::from_slice(bytes).map_err(|_| KeyringError::Damaged)?;
    if file.schema_version != SCHEMA_VERSION {
        return Err(KeyringError::Damaged);
    }
    let previous = file.previous.as_deref().map(from_hex).transpose()?;
    Ok(Keyring::new(from_hex(&file.current)?, previous))
}

pub(crate) fn random_key(entropy: &dyn Entropy) -> Result<[u8; Keyring::KEY_BYTES], KeyringError> {
    let mut key = [0; Keyring::KEY_BYTES];
    entropy.fill(&mut key).map_err(|_| KeyringError::NoEntropy)?;
    Ok(key)
}

pub(crate) fn to_hex(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Result<[u8; Keyring::KEY_BYTES], KeyringError> {
    let mut key = [0; Keyring::KEY_BYTES];
    if text.len() != 2 * key.len() || !text.is_ascii() {
        return Err(KeyringError::Damaged);
    }
    for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let digits = std::str::from_utf8(digits).map_err(|_| KeyringError::Damaged)?;
        *byte = u8::from_str_radix(digits, 16).map_err(|_| KeyringError::Damaged)?;
    }
    Ok(key)
}

impl From<DiskError> for KeyringError {
    fn from(err: DiskError) -> Self {
        Self::Io { action: err.action, source: err.source }
    }
}
