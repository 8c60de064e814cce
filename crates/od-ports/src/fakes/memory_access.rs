//! Who may act, kept in memory: runs, keys, credentials.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::ids::{ConnectorId, RunId, Timestamp};
use od_core::token::{self, Claims, Keyring, VerifiedToken};

use crate::credential_vault::{Connection, CredentialVault, Secret, VaultError};
use crate::run_store::{Run, RunStore, RunStoreError};
use crate::token_authority::{KeyringError, TokenAuthority, VerifyError};

/// Keeps runs in memory.
#[derive(Debug, Default)]
pub struct MemoryRunStore {
    runs: Mutex<HashMap<RunId, Run>>,
}

impl MemoryRunStore {
    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunStore for MemoryRunStore {
    async fn create(&self, run: &Run) -> Result<(), RunStoreError> {
        let mut runs = self.runs();
        if runs.contains_key(&run.id) {
            return Err(RunStoreError::Exists { run: run.id.clone() });
        }
        runs.insert(run.id.clone(), run.clone());
        Ok(())
    }

    async fn get(&self, run: &RunId) -> Result<Option<Run>, RunStoreError> {
        Ok(self.runs().get(run).cloned())
    }

    async fn replace(&self, from: &Run, to: &Run) -> Result<(), RunStoreError> {
        let mut runs = self.runs();
        if runs.get(&from.id) != Some(from) {
            return Err(RunStoreError::Changed { run: from.id.clone() });
        }
        runs.insert(to.id.clone(), to.clone());
        Ok(())
    }
}

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

type Kept = BTreeMap<ConnectorId, (Connection, Option<Secret>)>;

/// Keeps credentials in memory.
#[derive(Debug, Default)]
pub struct MemoryVault {
    kept: Mutex<Kept>,
}

impl MemoryVault {
    fn read<T>(&self, view: impl FnOnce(&Kept) -> T) -> T {
        view(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl CredentialVault for MemoryVault {
    async fn connections(&self) -> Result<Vec<Connection>, VaultError> {
        Ok(self.read(|kept| kept.values().map(|(connection, _)| connection.clone()).collect()))
    }

    async fn put(&self, connection: Connection, secret: Option<Secret>) -> Result<(), VaultError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(connection.connector.clone(), (connection, secret));
        Ok(())
    }

    async fn secret(&self, connector: &ConnectorId) -> Result<Option<Secret>, VaultError> {
        Ok(self.read(|kept| kept.get(connector).and_then(|(_, secret)| secret.clone())))
    }

    async fn secrets(&self) -> Result<Vec<Secret>, VaultError> {
        Ok(self.read(|kept| kept.values().filter_map(|(_, secret)| secret.clone()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{check_credential_vault, check_run_store};

    #[tokio::test]
    async fn they_keep_the_contract() {
        check_credential_vault(&MemoryVault::default()).await;
        let project = "p1".parse().expect("an id");
        check_run_store(&MemoryRunStore::default(), &project).await;
    }
}
