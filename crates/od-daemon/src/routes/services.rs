//! Registered services, for the person.

use hyper::body::Incoming;
use od_app::Caller;
use od_app::services;
use od_core::connector::ServiceKind;
use od_core::error::{ErrorCode, Failure, Issue};
use od_ports::access::credential_vault::Secret;
use od_wire::Empty;
use od_wire::service::{AddService, ServiceAnswer, ServicesAnswer, TestService};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Lists them.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let services = services::list(&exchange.daemon.app).await?;
    let requests = services::requests(&exchange.daemon.app).await?;
    Ok(Reply::json(&ServicesAnswer { services, requests }))
}

/// Registers one.
pub(crate) async fn add(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let AddService { name, kind, url, header, secret } = exchange.body(body).await?;
    // The message names the rule, never the secret.
    let secret = secret.as_deref().map(Secret::parse).transpose().map_err(|error| {
        let issue = Issue::new("/secret", "invalid", error.to_string());
        Failure::validation(ErrorCode::BadRequest, &[issue])
    })?;
    let kind = kind.unwrap_or(ServiceKind::Http);
    let request = services::AddService { name, kind, url, header, secret };
    let service = services::add(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&ServiceAnswer { service, answered: None, tables: Vec::new() }))
}

/// Removes one.
pub(crate) async fn remove(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let name = exchange.params.first();
    let service = services::remove(&exchange.daemon.app, &Caller::Person, name).await?;
    Ok(Reply::json(&ServiceAnswer { service, answered: None, tables: Vec::new() }))
}

/// Drops an agent's request.
pub(crate) async fn dismiss(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let app = &exchange.daemon.app;
    let requests = services::dismiss(app, &Caller::Person, exchange.params.first()).await?;
    let services = services::list(app).await?;
    Ok(Reply::json(&ServicesAnswer { services, requests }))
}

/// Asks one whether it answers.
pub(crate) async fn test(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let TestService { path } = exchange.body(body).await?;
    let request = services::TestService { name: exchange.params.first().to_owned(), path };
    let tested = services::test(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&ServiceAnswer {
        service: tested.service,
        answered: Some(tested.summary),
        tables: tested.tables,
    }))
}
