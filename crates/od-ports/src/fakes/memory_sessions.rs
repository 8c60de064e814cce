//! Console sessions kept in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use od_core::console::{ConsoleSession, PublicKey, Signature, admit};
use od_core::ids::{ConsoleSessionId, Timestamp};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};

use crate::access::console_sessions::{ConsoleSessions, SessionsError};

/// Keeps sessions and a key of its own in memory.
#[derive(Debug)]
pub struct MemoryConsoleSessions {
    key: EcdsaKeyPair,
    random: SystemRandom,
    kept: Mutex<Vec<ConsoleSession>>,
}

impl Default for MemoryConsoleSessions {
    fn default() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("random bytes");
        let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random);
        Self { key: key.expect("the key just made"), random, kept: Mutex::default() }
    }
}

impl MemoryConsoleSessions {
    fn kept(&self) -> MutexGuard<'_, Vec<ConsoleSession>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConsoleSessions for MemoryConsoleSessions {
    fn daemon_key(&self) -> Result<PublicKey, SessionsError> {
        Ok(PublicKey::from_bytes(self.key.public_key().as_ref()).expect("a point"))
    }

    fn sign(&self, text: &str) -> Result<Signature, SessionsError> {
        let made = self.key.sign(&self.random, text.as_bytes()).expect("random bytes");
        Ok(Signature::from_bytes(made.as_ref()).expect("64 bytes"))
    }

    fn list(&self) -> Result<Vec<ConsoleSession>, SessionsError> {
        let mut sessions = self.kept().clone();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_used_at));
        Ok(sessions)
    }

    fn get(&self, id: &ConsoleSessionId) -> Result<Option<ConsoleSession>, SessionsError> {
        Ok(self.kept().iter().find(|session| session.id == *id).cloned())
    }

    fn add(&self, session: ConsoleSession) -> Result<(), SessionsError> {
        let mut kept = self.kept();
        let now = session.created_at;
        *kept = admit(std::mem::take(&mut kept), session, now);
        Ok(())
    }

    fn note_use(&self, id: &ConsoleSessionId, at: Timestamp) -> Result<(), SessionsError> {
        if let Some(session) = self.kept().iter_mut().find(|session| session.id == *id) {
            session.last_used_at = at;
        }
        Ok(())
    }

    fn revoke(&self, ids: &[ConsoleSessionId]) -> Result<Vec<ConsoleSession>, SessionsError> {
        Ok(self.kept().extract_if(.., |session| ids.contains(&session.id)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_keep_the_contract() {
        let sessions = MemoryConsoleSessions::default();
        crate::contract::check_console_sessions(&sessions, &sessions);
    }
}
