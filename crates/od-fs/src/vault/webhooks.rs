//! The registered webhooks: one private file beside the credentials.

use std::path::Path;

use async_trait::async_trait;
use od_core::connector::ServiceName;
use od_core::ids::Timestamp;
use od_core::limits::REGISTERED_WEBHOOKS;
use od_core::notification::{DeliveryOutcome, Webhook};
use od_ports::webhooks::{WebhookRegistry, WebhooksError};

use super::list_file::ListFile;
use super::private_file;

/// Twenty entries with the longest addresses are well below it.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Keeps webhooks in `<home>/connectors/webhooks.json`.
#[derive(Clone, Debug)]
pub struct FileWebhooks {
    webhooks: ListFile,
}

impl FileWebhooks {
    /// Makes the registry of a home directory; nothing is touched before the first change.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        let webhooks = ListFile {
            directory: home.join("connectors"),
            name: "webhooks.json",
            member: "webhooks",
            lock: "vault.lock",
            bytes_max: FILE_BYTES_MAX,
            is_forgettable: false,
        };
        Self { webhooks }
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<Webhook>) -> Result<T, WebhooksError> + Send + 'static,
    ) -> Result<T, WebhooksError> {
        let webhooks = self.webhooks.clone();
        private_file::blocking(move || webhooks.change(change)).await
    }
}

#[async_trait]
impl WebhookRegistry for FileWebhooks {
    async fn list(&self) -> Result<Vec<Webhook>, WebhooksError> {
        // Read on the calling thread: one small file, or most often none.
        Ok(self.webhooks.read()?)
    }

    async fn put(&self, webhook: Webhook) -> Result<(), WebhooksError> {
        self.change(move |webhooks| {
            webhooks.retain(|held| held.name != webhook.name);
            if !REGISTERED_WEBHOOKS.allows(webhooks.len() + 1) {
                return Err(WebhooksError::Full);
            }
            webhooks.push(webhook);
            webhooks.sort_by(|a, b| a.name.cmp(&b.name));
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
        let mode = std::fs::metadata(registry.webhooks.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(registry.webhooks.path(), b"{").unwrap();
        assert!(matches!(registry.list().await, Err(WebhooksError::Damaged { .. })));
    }
}
