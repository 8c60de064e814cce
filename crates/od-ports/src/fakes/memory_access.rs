//! Who may act, kept in memory: runs, keys, credentials, registered services.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::connector::{RegisteredService, ServiceName, ServiceRequest};
use od_core::ids::{ConnectorId, RunId, Timestamp};
use od_core::limits::REGISTERED_SERVICES;
use od_core::token::{self, Claims, Keyring, VerifiedToken};

use crate::access::credential_vault::{Connection, CredentialVault, Secret, VaultError};
use crate::access::token_authority::{KeyringError, TokenAuthority, VerifyError};
use crate::agents::run_store::{Run, RunStore, RunStoreError};
use crate::service_registry::{RegistryError, ServiceRegistry, put_request};

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

    async fn forget(&self, over_at: Timestamp) -> Result<(), RunStoreError> {
        self.runs().retain(|_, run| !run.was_over_at(over_at));
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

/// Keeps registered services in memory.
#[derive(Debug, Default)]
pub struct MemoryServiceRegistry {
    services: Mutex<BTreeMap<ServiceName, RegisteredService>>,
    requests: Mutex<Vec<ServiceRequest>>,
}

impl MemoryServiceRegistry {
    fn services(&self) -> MutexGuard<'_, BTreeMap<ServiceName, RegisteredService>> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requested(&self) -> MutexGuard<'_, Vec<ServiceRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ServiceRegistry for MemoryServiceRegistry {
    async fn list(&self) -> Result<Vec<RegisteredService>, RegistryError> {
        Ok(self.services().values().cloned().collect())
    }

    async fn put(&self, service: RegisteredService) -> Result<(), RegistryError> {
        let mut services = self.services();
        let is_new = !services.contains_key(&service.name);
        if is_new && !REGISTERED_SERVICES.allows(services.len() + 1) {
            return Err(RegistryError::Full);
        }
        services.insert(service.name.clone(), service);
        Ok(())
    }

    async fn remove(&self, name: &ServiceName) -> Result<bool, RegistryError> {
        Ok(self.services().remove(name).is_some())
    }

    async fn requests(&self) -> Result<Vec<ServiceRequest>, RegistryError> {
        Ok(self.requested().clone())
    }

    async fn ask(&self, request: ServiceRequest) -> Result<(), RegistryError> {
        put_request(&mut self.requested(), request);
        Ok(())
    }

    async fn dismiss(&self, name: &ServiceName) -> Result<bool, RegistryError> {
        let mut requests = self.requested();
        let before = requests.len();
        requests.retain(|held| held.name != *name);
        Ok(requests.len() < before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{check_credential_vault, check_run_store, check_service_registry};

    #[tokio::test]
    async fn they_keep_the_contract() {
        check_credential_vault(&MemoryVault::default()).await;
        check_service_registry(&MemoryServiceRegistry::default()).await;
        let project = "p1".parse().expect("an id");
        check_run_store(&MemoryRunStore::default(), &project).await;
    }
}
