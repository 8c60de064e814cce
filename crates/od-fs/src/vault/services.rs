//! The registered services: one private file beside the credentials.

use std::path::Path;

use async_trait::async_trait;
use od_core::connector::{RegisteredService, ServiceName, ServiceRequest};
use od_core::limits::REGISTERED_SERVICES;
use od_ports::service_registry::{RegistryError, ServiceRegistry, put_request};

use super::list_file::ListFile;
use super::private_file;

/// A hundred entries with long addresses are well below it.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Keeps registered services in `<home>/connectors/services.json`, and what agents asked for beside it.
#[derive(Clone, Debug)]
pub struct FileServiceRegistry {
    services: ListFile,
    requests: ListFile,
}

impl FileServiceRegistry {
    /// Makes the registry of a home directory; nothing is touched before the first change.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        let services = ListFile {
            directory: home.join("connectors"),
            name: "services.json",
            member: "services",
            lock: "vault.lock",
            bytes_max: FILE_BYTES_MAX,
            is_forgettable: false,
        };
        // Nothing hangs on a question: one that cannot be read is asked again.
        let (name, member) = ("service-requests.json", "requests");
        let requests = ListFile { name, member, is_forgettable: true, ..services.clone() };
        Self { services, requests }
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<RegisteredService>) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let services = self.services.clone();
        private_file::blocking(move || services.change(change)).await
    }

    async fn change_requests<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<ServiceRequest>) -> T + Send + 'static,
    ) -> Result<T, RegistryError> {
        let requests = self.requests.clone();
        private_file::blocking(move || requests.change(|entries| Ok(change(entries)))).await
    }
}

#[async_trait]
impl ServiceRegistry for FileServiceRegistry {
    async fn list(&self) -> Result<Vec<RegisteredService>, RegistryError> {
        // Read on the calling thread: one small file, or most often none.
        Ok(self.services.read()?)
    }

    async fn put(&self, service: RegisteredService) -> Result<(), RegistryError> {
        self.change(move |services| {
            services.retain(|held| held.name != service.name);
            if !REGISTERED_SERVICES.allows(services.len() + 1) {
                return Err(RegistryError::Full);
            }
            services.push(service);
            services.sort_by(|a, b| a.name.cmp(&b.name));
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
        Ok(self.requests.read()?)
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
        let mode = std::fs::metadata(registry.services.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(registry.services.path(), b"{").unwrap();
        assert!(matches!(registry.list().await, Err(RegistryError::Damaged { .. })));
    }
}
