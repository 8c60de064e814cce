//! The webhooks that a person has registered, and the way to them.

use std::fmt;

use async_trait::async_trait;
use od_core::connector::ServiceName;
use od_core::ids::{ConnectorId, Timestamp};
use od_core::limits::REGISTERED_WEBHOOKS;
use od_core::notification::{DeliveryOutcome, Reach, Webhook, WebhookUrl};

use crate::access::credential_vault::VaultError;

/// Keeps the webhooks of one machine; their secrets are in the vault.
///
/// # Contract
///
/// - What `put` acknowledged survives a loss of power; a reader sees the registry before a change or
///   after it.
/// - `list` is ordered by name.
/// - A change made by another process is seen by the next call.
/// - `note` of a webhook that is gone, or that was registered anew since, changes nothing.
/// - No project, clone or bundle can bring an entry: it is kept outside every data directory.
#[async_trait]
pub trait WebhookRegistry: fmt::Debug + Send + Sync {
    /// Returns every webhook.
    async fn list(&self) -> Result<Vec<Webhook>, WebhooksError>;

    /// Adds a webhook, or replaces the one of its name.
    async fn put(&self, webhook: Webhook) -> Result<(), WebhooksError>;

    /// Removes a webhook; returns whether it was there.
    async fn remove(&self, name: &ServiceName) -> Result<bool, WebhooksError>;

    /// Notes what became of deliveries to a webhook as it was registered.
    async fn note(
        &self,
        webhook: &Webhook,
        outcome: DeliveryOutcome,
        at: Timestamp,
    ) -> Result<(), WebhooksError>;
}

/// A refusal or failure of the registry.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WebhooksError {
    /// There are as many as there may be.
    #[error("{} webhooks are registered, and more are not taken", REGISTERED_WEBHOOKS.allowed)]
    Full,
    /// The file is not what was written.
    #[error("the webhooks cannot be read: {reason}")]
    Damaged {
        /// The fault.
        reason: String,
    },
    /// The file cannot be read or written now.
    #[error("the webhooks cannot be used: {reason}")]
    Unavailable {
        /// The action that failed.
        reason: String,
    },
}

/// The registry is a private file like those of the vault, and fails in the same ways.
impl From<VaultError> for WebhooksError {
    fn from(err: VaultError) -> Self {
        match err {
            VaultError::Damaged { reason } => Self::Damaged { reason },
            VaultError::NotPrivate { reason } | VaultError::Unavailable { reason } => {
                Self::Unavailable { reason }
            }
        }
    }
}

/// Returns the name under which the vault keeps the secret of a webhook.
///
/// No connector has an id with this prefix, and no service: theirs is another.
#[must_use]
pub fn vault_key(name: &ServiceName) -> ConnectorId {
    format!("webhook.{name}").parse().expect("a service name fits the alphabet of ids")
}

/// Sends what was signed to a webhook.
///
/// # Contract
///
/// - `post` is one attempt, and one connection to an address that was checked against `reach`.
/// - No redirect is followed, no proxy used, no byte of the answer kept but its status.
/// - Dropping it closes the connection.
#[async_trait]
pub trait WebhookSender: fmt::Debug + Send + Sync {
    /// Posts one body; returns the status of a receiver that took it.
    async fn post(&self, call: WebhookCall) -> Result<u16, PostError>;
}

/// One body on its way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WebhookCall {
    /// Where it goes.
    pub url: WebhookUrl,
    /// The addresses that its host may be at.
    pub reach: Reach,
    /// The name of the delivery.
    pub delivery: String,
    /// The proof of who sent it.
    pub signature: String,
    /// JSON.
    pub body: Vec<u8>,
}

/// Why a body did not arrive. No message repeats a byte of the answer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PostError {
    /// The host is at an address that the person did not allow.
    #[error("its host is at a {kind} address")]
    Refused {
        /// The kind of address.
        kind: &'static str,
    },
    /// Name, connection or TLS.
    #[error("its host cannot be reached")]
    Unreachable,
    /// The connection broke, or what came was not HTTP.
    #[error("the connection broke before it answered")]
    Broken,
    /// It answers with a redirect, which nobody follows.
    #[error("it redirects ({status}), and a redirect is not followed")]
    Redirected {
        /// The status.
        status: u16,
    },
    /// It answers with another status than those of success.
    #[error("it answers {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The request could not be built.
    #[error("the request could not be built")]
    Unbuildable,
}
