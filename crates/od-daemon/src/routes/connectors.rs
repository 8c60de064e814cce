//! Connectors, for the person.

use hyper::body::Incoming;
use od_app::Caller;
use od_app::connectors::connect::Connect;
use od_app::connectors::{connect, disconnect, get, list};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::ConnectorId;
use od_ports::access::credential_vault::Secret;
use od_wire::Empty;
use od_wire::connector::{ConnectConnector, ConnectorAnswer, ConnectorsAnswer};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Lists the catalog.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let connectors = list(&exchange.daemon.app, &Caller::Person).await?;
    Ok(Reply::json(&ConnectorsAnswer { connectors }))
}

/// Shows one.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let connector = get(&exchange.daemon.app, &id(exchange)?).await?;
    Ok(Reply::json(&ConnectorAnswer { connector }))
}

/// Connects one.
pub(crate) async fn open(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let ConnectConnector { secret } = exchange.body(body).await?;
    let secret = match secret.as_deref().map(Secret::parse) {
        None => None,
        Some(Ok(secret)) => Some(secret),
        // The message names the rule, never the secret.
        Some(Err(error)) => {
            let issue = Issue::new("/secret", "invalid", error.to_string());
            return Err(Failure::validation(ErrorCode::BadRequest, &[issue]));
        }
    };
    let request = Connect { connector: id(exchange)?, secret };
    let connector = connect(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&ConnectorAnswer { connector }))
}

/// Disconnects one.
pub(crate) async fn close(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let connector = id(exchange)?;
    let connector = disconnect(&exchange.daemon.app, &Caller::Person, &connector).await?;
    Ok(Reply::json(&ConnectorAnswer { connector }))
}

fn id(exchange: &Exchange<'_>) -> Result<ConnectorId, Failure> {
    exchange.id(exchange.params.first(), ErrorCode::ConnectorNotFound, "connector")
}
