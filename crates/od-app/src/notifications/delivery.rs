//! One try to deliver a notification to a webhook: its payload scrubbed and signed, its time bounded.

use od_core::credential::Scrubber;
use od_core::ids::Timestamp;
use od_core::limits::WEBHOOK_TIMEOUT;
use od_core::notification::{Notification, Webhook, signature};
use od_ports::Ports;
use od_ports::access::credential_vault::{Secret, VaultError};
use od_ports::webhooks::{PostError, WebhookCall, vault_key};

/// Sends one notification to a webhook, once, and returns the status it answered with.
pub(crate) async fn send_once(
    ports: &Ports,
    webhook: &Webhook,
    notification: &Notification,
    page: Option<String>,
) -> Result<u16, DeliveryFault> {
    let Some(secret) = ports.vault.secret(&vault_key(&webhook.name)).await? else {
        return Err(DeliveryFault::NoSecret);
    };
    // A title or value may repeat a secret that the daemon holds for somebody else.
    let secrets = ports.vault.secrets().await?;
    let mut payload = notification.payload(page.as_deref());
    Scrubber::new(secrets.iter().map(Secret::expose)).scrub_json(&mut payload);
    let body = payload.to_string().into_bytes();
    let at: Timestamp = ports.clock.now();
    let call = WebhookCall {
        url: webhook.url.clone(),
        reach: webhook.reach,
        delivery: notification.delivery(),
        signature: signature(secret.expose(), at, &body),
        body,
    };
    tokio::select! {
        answered = ports.webhook_sender.post(call) => Ok(answered?),
        () = ports.clock.sleep(WEBHOOK_TIMEOUT.duration()) => Err(DeliveryFault::TimedOut),
    }
}

/// Why one try of a delivery failed, as people are told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeliveryFault {
    /// The vault has no secret to sign with.
    #[error("its secret is gone: register it again")]
    NoSecret,
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The receiver did not take it.
    #[error(transparent)]
    Post(#[from] PostError),
    /// It took too long.
    #[error("it did not answer within {} s", WEBHOOK_TIMEOUT.allowed / 1_000)]
    TimedOut,
}
