//! The registered services: one private file beside the credentials.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use od_core::connector::{RegisteredService, ServiceName, ServiceRequest};
use od_core::limits::REGISTERED_SERVICES;
use od_ports::service_registry::{RegistryError, ServiceRegistry, put_request};
use serde::{Deserialize, Serialize};

use super::private_file;

/// The format written and the only one read.
const VERSION: u32 = 1;
/// A hundred entries with long addresses are well below it.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Keeps registered services in `<home>/connectors/services.json`.
#[derive(Clone, Debug)]
pub struct FileServiceRegistry {
    directory: PathBuf,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stored {
    version: u32,
    services: Vec<RegisteredService>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredRequests {
    version: u32,
    requests: Vec<ServiceRequest>,
}

impl FileServiceRegistry {
    /// Makes the registry of a home directory; nothing is touched before the first change.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self { directory: home.join("connectors") }
    }

    fn path(&self) -> PathBuf {
        self.directory.join("services.json")
    }

    fn read(&self) -> Result<Vec<RegisteredService>, RegistryError> {
        let Some(bytes) = private_file::read(&self.path(), FILE_BYTES_MAX)? else {
            return Ok(Vec::new());
        };
        let damaged = |reason: String| RegistryError::Damaged { reason };
        let stored: Stored = serde_json::from_slice(&bytes)
            .map_err(|err| damaged(format!("services.json at line {}", err.line())))?;
        if stored.version != VERSION {
            return Err(damaged(format!(
                "services.json has the unknown version {}",
                stored.version
            )));
        }
        Ok(stored.services)
    }

    fn requests_path(&self) -> PathBuf {
        self.directory.join("service-requests.json")
    }

    fn read_requests(&self) -> Result<Vec<ServiceRequest>, RegistryError> {
        let Some(bytes) = private_file::read(&self.requests_path(), FILE_BYTES_MAX)? else {
            return Ok(Vec::new());
        };
        // Nothing hangs on a question: one that cannot be read is asked again.
        let stored: Option<StoredRequests> = serde_json::from_slice(&bytes).ok();
        let known = stored.filter(|stored| stored.version == VERSION);
        Ok(known.map(|stored| stored.requests).unwrap_or_default())
    }

    async fn change_requests<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<ServiceRequest>) -> T + Send + 'static,
    ) -> Result<T, RegistryError> {
        let registry = self.clone();
        let work = move || {
            private_file::make_directory(&registry.directory)?;
            let _lock = private_file::lock(&registry.directory.join("vault.lock"))?;
            let mut requests = registry.read_requests()?;
            let before = requests.clone();
            let changed = change(&mut requests);
            if requests != before {
                let mut bytes =
                    serde_json::to_vec_pretty(&StoredRequests { version: VERSION, requests })
                        .map_err(|err| RegistryError::Damaged { reason: err.to_string() })?;
                bytes.push(b'\n');
                private_file::replace(&registry.requests_path(), &bytes)?;
            }
            Ok(changed)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            Err(RegistryError::Unavailable { reason: "the work was stopped".to_owned() })
        })
    }

    /// Changes the entries under the lock that all changes in this directory take.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<RegisteredService>) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let registry = self.clone();
        let work = move || {
            private_file::make_directory(&registry.directory)?;
            let _lock = private_file::lock(&registry.directory.join("vault.lock"))?;
            let mut services = registry.read()?;
            let changed = change(&mut services)?;
            services.sort_by(|a, b| a.name.cmp(&b.name));
            let mut bytes = serde_json::to_vec_pretty(&Stored { version: VERSION, services })
                .map_err(|err| RegistryError::Damaged { reason: err.to_string() })?;
            bytes.push(b'\n');
            private_file::replace(&registry.path(), &bytes)?;
            Ok(changed)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            Err(RegistryError::Unavailable { reason: "the work was stopped".to_owned() })
        })
    }
}

#[async_trait]
impl ServiceRegistry for FileServiceRegistry {
    async fn list(&self) -> Result<Vec<RegisteredService>, RegistryError> {
        // Read on the calling thread: one small file, or most often none.
        self.read()
    }

    async fn put(&self, service: RegisteredService) -> Result<(), RegistryError> {
        self.change(move |services| {
            services.retain(|held| held.name != service.name);
            if !REGISTERED_SERVICES.allows(services.len() + 1) {
                return Err(RegistryError::Full);
            }
            services.push(service);
            Ok(())
        })
        .await
    }

    async fn remove(&self, name: &ServiceName) -> Result<bool, RegistryError> {
        let name = name.clone();
        self.change(move |services| {
            let before = services.len();
            services.retain(|held| held.name != name);
            Ok(services.len() < before)
        })
        .await
    }

    async fn requests(&self) -> Result<Vec<ServiceRequest>, RegistryError> {
        self.read_requests()
    }

    async fn ask(&self, request: ServiceRequest) -> Result<(), RegistryError> {
        self.change_requests(move |requests| put_request(requests, request)).await
    }

    async fn dismiss(&self, name: &ServiceName) -> Result<bool, RegistryError> {
        let name = name.clone();
        self.change_requests(move |requests| {
            let before = requests.len();
            requests.retain(|held| held.name != name);
            requests.len() < before
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_keeps_the_contract_and_a_private_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::TempDir::new().unwrap();
        let registry = FileServiceRegistry::in_home(home.path());
        od_ports::contract::check_service_registry(&registry).await;
        let mode = std::fs::metadata(registry.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(registry.path(), b"{").unwrap();
        assert!(matches!(registry.list().await, Err(RegistryError::Damaged { .. })));
    }
}
