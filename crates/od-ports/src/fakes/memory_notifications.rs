//! What carries notifications, in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::connector::ServiceName;
use od_core::ids::Timestamp;
use od_core::limits::REGISTERED_WEBHOOKS;
use od_core::notification::{DeliveryOutcome, Notification, Reach, Webhook};

use crate::notifier::{Notifier, NotifyError, Readiness};
use crate::webhooks::{PostError, WebhookCall, WebhookRegistry, WebhookSender, WebhooksError};

/// Keeps what it was to show.
#[derive(Debug, Default)]
pub struct MemoryNotifier {
    is_on: AtomicBool,
    shown: Mutex<Vec<Notification>>,
}

impl MemoryNotifier {
    /// Switches it on.
    pub fn switch_on(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Takes what was shown so far.
    pub fn take(&self) -> Vec<Notification> {
        std::mem::take(&mut *lock(&self.shown))
    }
}

#[async_trait]
impl Notifier for MemoryNotifier {
    fn readiness(&self) -> Readiness {
        if self.is_on.load(Ordering::Relaxed) {
            Readiness::Ready { program: "memory" }
        } else {
            Readiness::Off
        }
    }

    async fn show(&self, notification: &Notification) -> Result<(), NotifyError> {
        if self.readiness() == Readiness::Off {
            return Err(NotifyError::NotReady);
        }
        lock(&self.shown).push(notification.clone());
        Ok(())
    }
}

/// Keeps webhooks in memory.
#[derive(Debug, Default)]
pub struct MemoryWebhooks {
    webhooks: Mutex<BTreeMap<ServiceName, Webhook>>,
}

#[async_trait]
impl WebhookRegistry for MemoryWebhooks {
    async fn list(&self) -> Result<Vec<Webhook>, WebhooksError> {
        Ok(lock(&self.webhooks).values().cloned().collect())
    }

    async fn put(&self, webhook: Webhook) -> Result<(), WebhooksError> {
        let mut webhooks = lock(&self.webhooks);
        let is_new = !webhooks.contains_key(&webhook.name);
        if is_new && !REGISTERED_WEBHOOKS.allows(webhooks.len() + 1) {
            return Err(WebhooksError::Full);
        }
        webhooks.insert(webhook.name.clone(), webhook);
        Ok(())
    }

    async fn remove(&self, name: &ServiceName) -> Result<bool, WebhooksError> {
        Ok(lock(&self.webhooks).remove(name).is_some())
    }

    async fn note(
        &self,
        webhook: &Webhook,
        outcome: DeliveryOutcome,
        at: Timestamp,
    ) -> Result<(), WebhooksError> {
        let mut webhooks = lock(&self.webhooks);
        let held = webhooks.get_mut(&webhook.name);
        if let Some(held) = held.filter(|held| held.registered_at == webhook.registered_at) {
            held.deliveries.take_in(outcome, at);
        }
        Ok(())
    }
}

/// Answers posts by their path: `/204` takes the body, `/500` does not, `/never` does not answer.
#[derive(Debug, Default)]
pub struct PathSender {
    posted: Mutex<Vec<WebhookCall>>,
}

impl PathSender {
    /// A port of this machine at which nobody listens.
    pub const DEAD: &str = "http://127.0.0.1:1";

    /// Takes what was posted so far, whatever became of it.
    pub fn take(&self) -> Vec<WebhookCall> {
        std::mem::take(&mut *lock(&self.posted))
    }
}

#[async_trait]
impl WebhookSender for PathSender {
    async fn post(&self, call: WebhookCall) -> Result<u16, PostError> {
        let (url, reach) = (call.url.url().clone(), call.reach);
        lock(&self.posted).push(call);
        if url.as_str().starts_with(Self::DEAD) {
            return Err(PostError::Unreachable);
        }
        if reach == Reach::Public && url.scheme() == "http" {
            return Err(PostError::Refused { kind: "loopback" });
        }
        match url.path().trim_start_matches('/').parse() {
            Ok(status @ 200..=299) => Ok(status),
            Ok(status @ 300..=399) => Err(PostError::Redirected { status }),
            Ok(status) => Err(PostError::Status { status }),
            Err(_) => std::future::pending().await,
        }
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{check_notifier, check_webhook_registry, check_webhook_sender};

    #[tokio::test]
    async fn they_keep_the_contract() {
        let ready = MemoryNotifier::default();
        ready.switch_on();
        check_notifier(&ready, &MemoryNotifier::default()).await;
        check_webhook_registry(&MemoryWebhooks::default()).await;
        check_webhook_sender(&PathSender::default(), "http://127.0.0.1:9000", PathSender::DEAD)
            .await;
    }
}
