//! The registered webhooks: one private file beside the credentials.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use od_core::connector::ServiceName;
use od_core::ids::Timestamp;
use od_core::limits::REGISTERED_WEBHOOKS;
use od_core::notification::{DeliveryOutcome, Webhook};
use od_ports::webhooks::{WebhookRegistry, WebhooksError};
use serde::{Deserialize, Serialize};

use super::private_file;

/// The format written and the only one read.
const VERSION: u32 = 1;
/// Twenty entries with the longest addresses are well below it.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Keeps webhooks in `<home>/connectors/webhooks.json`.
#[derive(Clone, Debug)]
pub struct FileWebhooks {
    directory: PathBuf,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stored {
    version: u32,
    webhooks: Vec<Webhook>,
}

impl FileWebhooks {
    /// Makes the registry of a home directory; nothing is touched before the first change.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self { directory: home.join("connectors") }
    }

    fn path(&self) -> PathBuf {
        self.directory.join("webhooks.json")
    }

    fn read(&self) -> Result<Vec<Webhook>, WebhooksError> {
        let Some(bytes) = private_file::read(&self.path(), FILE_BYTES_MAX)? else {
            return Ok(Vec::new());
        };
        let damaged = |reason: String| WebhooksError::Damaged { reason };
        let stored: Stored = serde_json::from_slice(&bytes)
            .map_err(|err| damaged(format!("webhooks.json at line {}", err.line())))?;
        if stored.version != VERSION {
            let version = stored.version;
            return Err(damaged(format!("webhooks.json has the unknown version {version}")));
        }
        Ok(stored.webhooks)
    }

    /// Changes the entries under the lock that all changes in this directory take; writes nothing if
    /// they are the same.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<Webhook>) -> Result<T, WebhooksError> + Send + 'static,
    ) -> Result<T, WebhooksError> {
        let registry = self.clone();
        let work = move || {
            private_file::make_directory(&registry.directory)?;
            let _lock = private_file::lock(&registry.directory.join("vault.lock"))?;
            let mut webhooks = registry.read()?;
            let before = webhooks.clone();
            let changed = change(&mut webhooks)?;
            if webhooks != before {
                webhooks.sort_by(|a, b| a.name.cmp(&b.name));
                let mut bytes =
                    serde_json::to_vec_pretty(&Stored { version: VERSION, webhooks })
                        .map_err(|err| WebhooksError::Damaged { reason: err.to_string() })?;
                bytes.push(b'\n');
                private_file::replace(&registry.path(), &bytes)?;
            }
            Ok(changed)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            Err(WebhooksError::Unavailable { reason: "the work was stopped".to_owned() })
        })
    }
}

#[async_trait]
impl WebhookRegistry for FileWebhooks {
    async fn list(&self) -> Result<Vec<Webhook>, WebhooksError> {
        // Read on the calling thread: one small file, or most often none.
        self.read()
    }

    async fn put(&self, webhook: Webhook) -> Result<(), WebhooksError> {
        self.change(move |webhooks| {
            webhooks.retain(|held| held.name != webhook.name);
            if !REGISTERED_WEBHOOKS.allows(webhooks.len() + 1) {
                return Err(WebhooksError::Full);
            }
            webhooks.push(webhook);
            Ok(())
        })
        .await
    }

    async fn remove(&self, name: &ServiceName) -> Result<bool, WebhooksError> {
        let name = name.clone();
        self.change(move |webhooks| {
            let before = webhooks.len();
            webhooks.retain(|held| held.name != name);
            Ok(webhooks.len() < before)
        })
        .await
    }

    async fn note(
        &self,
        webhook: &Webhook,
        outcome: DeliveryOutcome,
        at: Timestamp,
    ) -> Result<(), WebhooksError> {
        let (name, registered_at) = (webhook.name.clone(), webhook.registered_at);
        self.change(move |webhooks| {
            let same =
                |held: &&mut Webhook| held.name == name && held.registered_at == registered_at;
            if let Some(held) = webhooks.iter_mut().find(same) {
                held.deliveries.take_in(outcome, at);
            }
            Ok(())
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
        let registry = FileWebhooks::in_home(home.path());
        od_ports::contract::check_webhook_registry(&registry).await;
        let mode = std::fs::metadata(registry.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(registry.path(), b"{").unwrap();
        assert!(matches!(registry.list().await, Err(WebhooksError::Damaged { .. })));
    }
}
