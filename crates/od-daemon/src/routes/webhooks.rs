//! Webhooks, for the person.

use hyper::body::Incoming;
use od_app::{Caller, notifications};
use od_core::error::{ErrorCode, Failure, Issue};
use od_ports::access::credential_vault::Secret;
use od_wire::Empty;
use od_wire::webhook::{AddWebhook, WebhookAnswer, WebhooksAnswer};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Lists them.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let webhooks = notifications::list(&exchange.daemon.app).await?;
    Ok(Reply::json(&WebhooksAnswer { webhooks }))
}

/// Registers one.
pub(crate) async fn add(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let AddWebhook { name, url, private, secret } = exchange.body(body).await?;
    // The message names the rule, never the secret.
    let secret = Secret::parse(&secret).map_err(|error| {
        let issue = Issue::new("/secret", "invalid", error.to_string());
        Failure::validation(ErrorCode::BadRequest, &[issue])
    })?;
    let request = notifications::AddWebhook { name, url, private, secret: Some(secret) };
    let webhook = notifications::add(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&WebhookAnswer { webhook, answered: None }))
}

/// Removes one.
pub(crate) async fn remove(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let name = exchange.params.first();
    let webhook = notifications::remove(&exchange.daemon.app, &Caller::Person, name).await?;
    Ok(Reply::json(&WebhookAnswer { webhook, answered: None }))
}

/// Sends one a test.
pub(crate) async fn test(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let name = exchange.params.first();
    let tested = notifications::test(&exchange.daemon.app, &Caller::Person, name).await?;
    Ok(Reply::json(&WebhookAnswer { webhook: tested.webhook, answered: Some(tested.status) }))
}
