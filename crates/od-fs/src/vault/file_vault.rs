//! The vault in `<home>/connectors`.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::ids::ConnectorId;
use od_ports::access::credential_vault::{Connection, CredentialVault, Secret, VaultError};

use super::private_file;
use super::record::Records;
use super::seal::Key;

/// Bytes of `credentials.enc`: room for far more connectors than there are.
const FILE_BYTES_MAX: u64 = od_core::limits::VAULT_FILE.allowed;
/// Bytes of the key file; anything but a whole key is refused later.
const KEY_FILE_BYTES_MAX: u64 = 64;

/// Keeps credentials in `credentials.enc`, sealed with the key in `vault.key`.
///
/// Key and credentials lie side by side: the seal keeps a copied or committed `credentials.enc` from
/// being of use and shows tampering; the key file's mode is what keeps other users out.
#[derive(Clone, Debug)]
pub struct FileVault {
    places: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    directory: PathBuf,
}

impl FileVault {
    /// Makes a vault in `<home>/connectors`. Nothing is created until something is put.
    pub fn in_home(home: &std::path::Path) -> Self {
        Self { places: Arc::new(Places { directory: home.join("connectors") }) }
    }

    /// Asks what is kept. One look tells that nothing is, which is so for most people: no thread has
    /// to be woken for that, and a refresh asks three times.
    async fn reading<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(Vec<(Connection, Option<Secret>)>) -> T + Send + 'static,
    ) -> Result<T, VaultError> {
        if self.places.is_empty() {
            return Ok(T::default());
        }
        self.blocking(move |places| places.open().map(work)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Places) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let places = Arc::clone(&self.places);
        private_file::blocking(move || work(&places)).await
    }
}

#[async_trait]
impl CredentialVault for FileVault {
    async fn connections(&self) -> Result<Vec<Connection>, VaultError> {
        self.reading(|opened| opened.into_iter().map(|(connection, _)| connection).collect()).await
    }

    async fn put(&self, connection: Connection, secret: Option<Secret>) -> Result<(), VaultError> {
        self.blocking(move |places| places.put(&connection, secret.as_ref())).await
    }

    async fn secret(&self, connector: &ConnectorId) -> Result<Option<Secret>, VaultError> {
        let connector = connector.clone();
        self.reading(move |opened| {
            let found =
                opened.into_iter().find(|(connection, _)| connection.connector == connector);
            found.and_then(|(_, secret)| secret)
        })
        .await
    }

    async fn secrets(&self) -> Result<Vec<Secret>, VaultError> {
        self.reading(|opened| opened.into_iter().filter_map(|(_, secret)| secret).collect()).await
    }
}

impl Places {
    /// Returns whether nothing was ever put. A link, or anything else of that name, is not nothing.
    fn is_empty(&self) -> bool {
        std::fs::symlink_metadata(self.credentials_path())
            .is_err_and(|err| err.kind() == std::io::ErrorKind::NotFound)
    }

    fn open(&self) -> Result<Vec<(Connection, Option<Secret>)>, VaultError> {
        let Some(records) = self.records()? else { return Ok(Vec::new()) };
        let Some(key) = self.key()? else {
            return Err(VaultError::Damaged { reason: "vault.key is missing".to_owned() });
        };
        records.open(&key)
    }

    fn records(&self) -> Result<Option<Records>, VaultError> {
        let bytes = private_file::read(&self.credentials_path(), FILE_BYTES_MAX)?;
        bytes.map(|bytes| Records::parse(&bytes)).transpose()
    }

    fn key(&self) -> Result<Option<Key>, VaultError> {
        let bytes = private_file::read(&self.key_path(), KEY_FILE_BYTES_MAX)?;
        bytes.map(|bytes| Key::from_bytes(&bytes)).transpose()
    }

    fn put(&self, connection: &Connection, secret: Option<&Secret>) -> Result<(), VaultError> {
        private_file::make_directory(&self.directory)?;
        let _lock = private_file::lock(&self.directory.join("vault.lock"))?;
        let records = self.records()?;
        // Only where nothing is kept yet: beside credentials a new key would be one that opens none of
        // them.
        if records.is_none() {
            private_file::create_once(&self.key_path(), Key::generate()?.as_slice())?;
        }
        let Some(key) = self.key()? else {
            // Credentials without their key: a new key would make them unreadable for good.
            return Err(VaultError::Damaged { reason: "vault.key is missing".to_owned() });
        };
        let mut records = records.unwrap_or_default();
        // What is kept has to be whole before anything is written beside it.
        records.open(&key)?;
        records.put(&key, connection, secret)?;
        private_file::replace(&self.credentials_path(), &records.to_bytes()?)
    }

    fn credentials_path(&self) -> PathBuf {
        self.directory.join("credentials.enc")
    }

    fn key_path(&self) -> PathBuf {
        self.directory.join("vault.key")
    }
}
