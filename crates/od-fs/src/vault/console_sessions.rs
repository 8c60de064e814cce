//! Console sessions and the daemon's key: two private files beside the keyring.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use od_core::console::{ConsoleSession, PublicKey, Signature, admit};
use od_core::ids::{ConsoleSessionId, Timestamp};
use od_core::limits::{CONSOLE_SESSIONS_FILE, KEYRING_FILE};
use od_ports::access::console_sessions::{ConsoleSessions, SessionsError};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};

use super::list_file::ListFile;
use super::private_file;
use crate::disk::FileStat;

/// Keeps sessions in `<home>/keys/sessions.json` and the daemon's key in `<home>/keys/daemon.key`.
pub struct FileConsoleSessions {
    sessions: ListFile,
    random: SystemRandom,
    key: Mutex<Option<std::sync::Arc<EcdsaKeyPair>>>,
    /// The sessions as they were last read, and what the file looked like then: every request of a page
    /// asks for its own.
    read: Mutex<Option<(FileStat, Vec<ConsoleSession>)>>,
}

/// Shows where they are, and nothing of the key.
impl fmt::Debug for FileConsoleSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileConsoleSessions")
            .field("directory", &self.sessions.directory)
            .finish_non_exhaustive()
    }
}

impl FileConsoleSessions {
    /// Makes the keeper of a home directory; nothing is touched before the first use.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self {
            sessions: ListFile {
                directory: home.join("keys"),
                name: "sessions.json",
                member: "sessions",
                lock: "sessions.lock",
                bytes_max: CONSOLE_SESSIONS_FILE.allowed,
                is_forgettable: false,
            },
            random: SystemRandom::new(),
            key: Mutex::default(),
            read: Mutex::default(),
        }
    }

    /// Returns the daemon's key, making it if this home has none.
    fn key(&self) -> Result<std::sync::Arc<EcdsaKeyPair>, SessionsError> {
        // Held while the key is made, too: of two first requests one makes it and the other waits.
        let mut held = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &*held {
            return Ok(std::sync::Arc::clone(key));
        }
        let path = self.sessions.directory.join("daemon.key");
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let read = || private_file::read(&path, KEYRING_FILE.allowed);
        let document = match read()? {
            Some(document) => document,
            None => {
                let made = EcdsaKeyPair::generate_pkcs8(algorithm, &self.random);
                let made = made.map_err(|_| no_random_bytes())?;
                private_file::make_directory(&self.sessions.directory)?;
                private_file::create_once(&path, made.as_ref())?;
                // Another process may have been first: there is one key, the one in the file.
                read()?.ok_or_else(|| SessionsError::Unavailable {
                    reason: "daemon.key is gone again".to_owned(),
                })?
            }
        };
        let key = EcdsaKeyPair::from_pkcs8(algorithm, &document, &self.random)
            .map_err(|_| damaged_key())?;
        Ok(std::sync::Arc::clone(held.insert(std::sync::Arc::new(key))))
    }

    /// Hands on the sessions as their file is now.
    fn with_read<T>(
        &self,
        use_them: impl FnOnce(&[ConsoleSession]) -> T,
    ) -> Result<T, SessionsError> {
        let unavailable = |err: crate::disk::DiskError| SessionsError::Unavailable {
            reason: format!("cannot {} sessions.json: {}", err.action, err.source.kind()),
        };
        let Some(stat) = FileStat::of_path(&self.sessions.path()).map_err(unavailable)? else {
            return Ok(use_them(&[]));
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sessions)) = read.as_ref().filter(|(known, _)| *known == stat) {
            return Ok(use_them(sessions));
        }
        // Looked at before it is read: a file that is replaced in between is read again next time.
        let (_, sessions) = read.insert((stat, self.sessions.read()?));
        Ok(use_them(sessions))
    }

    /// Changes the sessions, the last used first. A use within the same instant, or a revoke of nothing,
    /// writes nothing.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<ConsoleSession>) -> T,
    ) -> Result<T, SessionsError> {
        self.sessions.change(|sessions| {
            let changed = change(sessions);
            sessions.sort_by_key(|session| std::cmp::Reverse(session.last_used_at));
            Ok(changed)
        })
    }
}

impl ConsoleSessions for FileConsoleSessions {
    fn daemon_key(&self) -> Result<PublicKey, SessionsError> {
        PublicKey::from_bytes(self.key()?.public_key().as_ref()).ok_or_else(damaged_key)
    }

    fn sign(&self, text: &str) -> Result<Signature, SessionsError> {
        let made =
            self.key()?.sign(&self.random, text.as_bytes()).map_err(|_| no_random_bytes())?;
        Signature::from_bytes(made.as_ref()).ok_or_else(damaged_key)
    }

    fn list(&self) -> Result<Vec<ConsoleSession>, SessionsError> {
        self.with_read(<[ConsoleSession]>::to_vec)
    }

    fn get(&self, id: &ConsoleSessionId) -> Result<Option<ConsoleSession>, SessionsError> {
        self.with_read(|sessions| sessions.iter().find(|session| session.id == *id).cloned())
    }

    fn add(&self, session: ConsoleSession) -> Result<(), SessionsError> {
        let now = session.created_at;
        self.change(|sessions| *sessions = admit(std::mem::take(sessions), session, now))
    }

    fn note_use(&self, id: &ConsoleSessionId, at: Timestamp) -> Result<(), SessionsError> {
        self.change(|sessions| {
            if let Some(session) = sessions.iter_mut().find(|session| session.id == *id) {
                session.last_used_at = at;
            }
        })
    }

    fn revoke(&self, ids: &[ConsoleSessionId]) -> Result<Vec<ConsoleSession>, SessionsError> {
        self.change(|sessions| {
            sessions.extract_if(.., |session| ids.contains(&session.id)).collect()
        })
    }
}

fn no_random_bytes() -> SessionsError {
    SessionsError::Unavailable { reason: "the system gave no random bytes".to_owned() }
}

fn damaged_key() -> SessionsError {
    SessionsError::Damaged { reason: "daemon.key holds no key".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_keeps_the_contract_and_private_files() {
        let home = tempfile::TempDir::new().unwrap();
        let [one, two] = [(); 2].map(|()| FileConsoleSessions::in_home(home.path()));
        od_ports::contract::check_console_sessions(&one, &two);
        for file in ["sessions.json", "daemon.key", "sessions.lock"] {
            let path = home.path().join("keys").join(file);
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        std::fs::write(one.sessions.path(), b"{").unwrap();
        assert!(matches!(one.list(), Err(SessionsError::Damaged { .. })));
    }

    #[test]
    fn a_key_that_others_can_read_is_not_used() {
        let home = tempfile::TempDir::new().unwrap();
        FileConsoleSessions::in_home(home.path()).daemon_key().unwrap();
        let path = home.path().join("keys/daemon.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let after = FileConsoleSessions::in_home(home.path());
        assert!(matches!(after.daemon_key(), Err(SessionsError::Unavailable { .. })));
        assert!(matches!(after.sign("text"), Err(SessionsError::Unavailable { .. })));
    }

    #[test]
    fn no_debug_output_shows_the_key() {
        let home = tempfile::TempDir::new().unwrap();
        let sessions = FileConsoleSessions::in_home(home.path());
        sessions.daemon_key().unwrap();
        assert!(!format!("{sessions:?}").contains("EcdsaKeyPair"));
    }
}
