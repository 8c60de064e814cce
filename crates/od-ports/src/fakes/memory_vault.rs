//! A vault that forgets everything when it is dropped.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use od_core::ids::ConnectorId;

use crate::credential_vault::{Connection, CredentialVault, Secret, VaultError};

type Kept = BTreeMap<ConnectorId, (Connection, Option<Secret>)>;

/// Keeps credentials in memory.
#[derive(Debug, Default)]
pub struct MemoryVault {
    kept: Mutex<Kept>,
}

impl MemoryVault {
    fn read<T>(&self, look: impl FnOnce(&Kept) -> T) -> T {
        look(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
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
    use crate::contract::check_credential_vault;

    #[tokio::test]
    async fn it_keeps_the_contract() {
        check_credential_vault(&MemoryVault::default()).await;
    }
}
