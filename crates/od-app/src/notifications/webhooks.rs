//! Webhooks that a person registers, so that they hear of changed checks elsewhere.

use od_core::connector::ServiceName;
use od_core::error::{ErrorCode, Failure, nearest_name};
use od_core::notification::{Deliveries, DeliveryOutcome, Notification, Webhook, WebhookUrl};
use od_ports::access::credential_vault::{Secret, VaultError};
use od_ports::webhooks::{WebhooksError, vault_key};

use super::delivery::DeliveryFault;
use crate::connectors::connect::{forget_secret, keep_secret};
use crate::{App, Caller, PersonOnly, failure};

/// Registers a webhook, or changes the one of its name. Only a person may.
pub async fn add(
    app: &App,
    caller: &Caller,
    request: AddWebhook,
) -> Result<Webhook, AddWebhookError> {
    caller.require_person()?;
    let AddWebhook { name, url, private, secret } = request;
    let Some(secret) = secret else { return Err(AddWebhookError::SecretNeeded { name }) };
    let at = app.ports.clock.now();
    let reach = url.reach(private);
    let deliveries = Deliveries::default();
    let webhook = Webhook { name: name.clone(), url, reach, registered_at: at, deliveries };
    // The old secret goes before the new address comes: nothing that is signed with it reaches a host
    // that it was not given to.
    forget_secret(app, vault_key(&name)).await?;
    app.ports.webhooks.put(webhook.clone()).await?;
    keep_secret(app, vault_key(&name), webhook.url.to_string(), secret, at).await?;
    Ok(webhook)
}

/// Lists the webhooks, by name, each with how its deliveries went.
pub async fn list(app: &App) -> Result<Vec<Webhook>, ListWebhooksError> {
    Ok(app.ports.webhooks.list().await?)
}

/// Removes a webhook and forgets its secret; what waits for it is dropped. Only a person may.
pub async fn remove(app: &App, caller: &Caller, name: &str) -> Result<Webhook, FindWebhookError> {
    caller.require_person()?;
    let webhook = find(app, name).await?;
    // The secret first: broken off in between, a webhook that cannot sign is left, and not a secret that
    // nothing names.
    forget_secret(app, vault_key(&webhook.name)).await?;
    app.ports.webhooks.remove(&webhook.name).await?;
    Ok(webhook)
}

/// Sends a notification that says it is a test, once. Only a person may.
pub async fn test(
    app: &App,
    caller: &Caller,
    name: &str,
) -> Result<TestedWebhook, TestWebhookError> {
    caller.require_person().map_err(FindWebhookError::from)?;
    let webhook = find(app, name).await?;
    let trial = Notification::trial(app.ports.clock.now());
    let sent = app.outbox.try_webhook(&webhook, &trial).await;
    let outcome = match &sent {
        Ok(_) => DeliveryOutcome::Delivered,
        Err(fault) => DeliveryOutcome::Lost { count: 1, because: fault.to_string() },
    };
    app.outbox.note(&webhook, outcome).await;
    let status = sent.map_err(|fault| TestWebhookError::NotDelivered {
        name: webhook.name.clone(),
        because: fault.to_string(),
        is_gone: matches!(fault, DeliveryFault::NoSecret),
    })?;
    // As it is known now, with this delivery.
    Ok(TestedWebhook { webhook: find(app, name).await?, status })
}

/// Returns one webhook.
pub async fn find(app: &App, name: &str) -> Result<Webhook, FindWebhookError> {
    let webhooks = app.ports.webhooks.list().await?;
    let found = webhooks.iter().find(|webhook| webhook.name.as_str() == name);
    found.cloned().ok_or_else(|| FindWebhookError::NotFound {
        name: name.chars().take(40).collect(),
        nearest: nearest_name(name, webhooks.iter().map(|webhook| webhook.name.as_str()))
            .map(str::to_owned),
    })
}

/// A webhook to register.
#[derive(Debug)]
pub struct AddWebhook {
    /// Its name.
    pub name: ServiceName,
    /// Where notifications are sent.
    pub url: WebhookUrl,
    /// Whether its host may be in a private network.
    pub private: bool,
    /// The secret that signs what is sent.
    pub secret: Option<Secret>,
}

/// A webhook that took a test.
#[derive(Clone, Debug)]
pub struct TestedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// The status that it answered.
    pub status: u16,
}

/// Why a webhook was not registered.
#[derive(Debug, thiserror::Error)]
pub enum AddWebhookError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// No secret was given.
    #[error("webhook `{name}` has no secret, and what is sent to it is signed with one")]
    SecretNeeded {
        /// The webhook.
        name: ServiceName,
    },
    /// The registry refused or failed.
    #[error(transparent)]
    Registry(#[from] WebhooksError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<AddWebhookError> for Failure {
    fn from(err: AddWebhookError) -> Self {
        let message = err.to_string();
        match err {
            AddWebhookError::PersonOnly(err) => err.into(),
            AddWebhookError::SecretNeeded { .. } => Self::new(ErrorCode::BadRequest, message)
                .suggest("give one at the prompt or on stdin, such as the output of `openssl rand -hex 32`"),
            AddWebhookError::Registry(err) => failure::webhooks(&err),
            AddWebhookError::Vault(err) => failure::vault(&err),
        }
    }
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListWebhooksError {
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] WebhooksError),
}

impl From<ListWebhooksError> for Failure {
    fn from(err: ListWebhooksError) -> Self {
        match err {
            ListWebhooksError::Registry(err) => failure::webhooks(&err),
        }
    }
}

/// Why a webhook was not found or removed.
#[derive(Debug, thiserror::Error)]
pub enum FindWebhookError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is none of this name.
    #[error("no webhook `{name}` is registered")]
    NotFound {
        /// The name asked for, cut.
        name: String,
        /// The nearest there is.
        nearest: Option<String>,
    },
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] WebhooksError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<FindWebhookError> for Failure {
    fn from(err: FindWebhookError) -> Self {
        let message = err.to_string();
        match err {
            FindWebhookError::PersonOnly(err) => err.into(),
            FindWebhookError::NotFound { nearest, .. } => {
                let hint = match nearest {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`od webhooks list` shows them all".to_owned(),
                };
                Self::new(ErrorCode::NotFound, message).suggest(hint)
            }
            FindWebhookError::Registry(err) => failure::webhooks(&err),
            FindWebhookError::Vault(err) => failure::vault(&err),
        }
    }
}

/// Why a test did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum TestWebhookError {
    /// The webhook cannot be had.
    #[error(transparent)]
    Find(#[from] FindWebhookError),
    /// It did not take the test.
    #[error("webhook `{name}` did not take the test: {because}")]
    NotDelivered {
        /// The webhook.
        name: ServiceName,
        /// Why not.
        because: String,
        /// Whether it is for want of its secret.
        is_gone: bool,
    },
}

impl From<TestWebhookError> for Failure {
    fn from(err: TestWebhookError) -> Self {
        let message = err.to_string();
        match err {
            TestWebhookError::Find(err) => err.into(),
            TestWebhookError::NotDelivered { is_gone: true, name, .. } => {
                Self::new(ErrorCode::Conflict, message)
                    .suggest(format!("register it again: od webhooks add {name} URL"))
            }
            TestWebhookError::NotDelivered { .. } => {
                Self::new(ErrorCode::ConnectorExecutionFailed, message).suggest(
                    "look at the receiver; a host in a private network has to be registered with --private",
                )
            }
        }
    }
}
