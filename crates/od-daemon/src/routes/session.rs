//! Codes and bearers of the console.

use hyper::body::Incoming;
use od_core::error::{ErrorCode, Failure};
use od_core::token::{Claims, ConsoleClaims};
use od_wire::Empty;
use od_wire::session::{OpenSession, Session, SessionCode};

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::session::{CODE_LIFETIME_MS, Code};

/// How long a console bearer lives.
const BEARER_LIFETIME_MS: u64 = 12 * 60 * 60 * 1000;

/// Exchanges a code for a bearer.
pub(crate) async fn open(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let OpenSession { code } = exchange.body(body).await?;
    let ports = &exchange.daemon.app.ports;
    let now = ports.clock.now();
    if !exchange.daemon.codes.exchange(&code, now) {
        return Err(Failure::new(ErrorCode::Unauthorized, "the code is used, expired or unknown")
            .suggest("open the console again with `od open`"));
    }
    let expires_at = now.plus_ms(BEARER_LIFETIME_MS);
    let token_id = exchange.daemon.token_id()?;
    let audience = exchange.daemon.audiences.console.clone();
    let claims = Claims::Console(ConsoleClaims { token_id, audience, issued_at: now, expires_at });
    let token = exchange.daemon.sign(&claims)?;
    Ok(Reply::json(&Session { token, expires_at }))
}

/// Makes a code.
pub(crate) async fn make_code(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let code = Code::from_entropy(exchange.daemon.random()?);
    let now = exchange.daemon.app.ports.clock.now();
    exchange.daemon.codes.add(&code, now);
    Ok(Reply::json(&SessionCode {
        url: exchange.daemon.urls.with_code(code.as_str()),
        code: code.as_str().to_owned(),
        expires_at: now.plus_ms(CODE_LIFETIME_MS.unsigned_abs()),
    }))
}
