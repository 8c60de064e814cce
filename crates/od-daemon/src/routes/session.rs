//! Console sessions: a one-time code registers a browser's key, and a registered browser gets its bearer
//! by a proof that both sides sign.

use hyper::body::Incoming;
use hyper::header;
use od_app::Mode;
use od_app::sessions::{self, Met, Revoke};
use od_core::console::{BrowserName, ConsoleSession, Nonce, Signature};
use od_core::error::{ErrorCode, Failure};
use od_core::limits;
use od_core::token::{Claims, ConsoleClaims};
use od_wire::Empty;
use od_wire::route::QueryName;
use od_wire::session::{
    Challenge, ChallengeRequest, OpenSession, ProveSession, RevokedAnswer, Session, SessionCode,
    SessionLine, SessionsAnswer,
};

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::sign_in_codes::Code;

/// Proves the daemon to a page, which has sent nothing but a nonce so far.
pub(crate) async fn challenge(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let ChallengeRequest { nonce } = exchange.body(body).await?;
    let daemon = exchange.daemon;
    let made = sessions::challenge(&daemon.app, daemon.urls.address(), &nonce)?;
    let now = daemon.app.ports.clock.now();
    daemon.challenges.add(made.nonce.as_str(), now);
    Ok(Reply::json(&Challenge {
        challenge: made.nonce,
        daemon_key: made.daemon,
        signature: made.signature,
        expires_at: now.plus_ms(limits::CHALLENGE_LIFETIME.allowed),
    }))
}

/// Exchanges a code for a session and its first bearer.
pub(crate) async fn open(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let OpenSession { code, nonce, challenge, public_key, signature } = exchange.body(body).await?;
    // The challenge first: a code is used up by its first exchange, and a page that was not answered by
    // this very daemon must not cost the person theirs.
    let met = met(exchange, nonce, challenge, signature)?;
    if !exchange.daemon.codes.take(&code, exchange.daemon.app.ports.clock.now()) {
        return Err(Failure::new(ErrorCode::Unauthorized, "the code is used, expired or unknown")
            .suggest(OPEN_AGAIN));
    }
    // For the list of sessions only: the header says whatever its sender likes.
    let agent = exchange.head.headers.get(header::USER_AGENT).and_then(|it| it.to_str().ok());
    let browser = BrowserName::of_user_agent(agent.unwrap_or_default());
    let session = sessions::register(&exchange.daemon.app, &met, &code, public_key, browser)?;
    bearer(exchange, &session)
}

/// Gives the browser of a session a bearer.
pub(crate) async fn prove(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let ProveSession { session_id, nonce, challenge, signature } = exchange.body(body).await?;
    let met = met(exchange, nonce, challenge, signature)?;
    let session = sessions::prove(&exchange.daemon.app, &met, &session_id)?;
    bearer(exchange, &session)
}

/// Takes a challenge back: each is answered once, and in its time.
fn met<'e>(
    exchange: &'e Exchange<'_>,
    page_nonce: Nonce,
    daemon_nonce: Nonce,
    signature: Signature,
) -> Result<Met<'e>, Failure> {
    let daemon = exchange.daemon;
    if !daemon.challenges.take(daemon_nonce.as_str(), daemon.app.ports.clock.now()) {
        let message = "the challenge is used, expired or unknown";
        return Err(Failure::new(ErrorCode::Unauthorized, message)
            .suggest("ask for another with POST /api/session/challenge"));
    }
    let (address, audience) = (daemon.urls.address(), &daemon.audiences.console);
    Ok(Met { address, audience, page_nonce, daemon_nonce, signature })
}

fn bearer(exchange: &Exchange<'_>, session: &ConsoleSession) -> Result<Reply, Failure> {
    let daemon = exchange.daemon;
    let now = daemon.app.ports.clock.now();
    let expires_at = session.bearer_ends(now);
    let claims = Claims::Console(ConsoleClaims {
        token_id: daemon.token_id()?,
        session_id: session.id.clone(),
        audience: daemon.audiences.terminal.clone(),
        issued_at: now,
        expires_at,
    });
    let (session_id, session_expires_at) = (session.id.clone(), session.expires_at());
    let token = daemon.sign(&claims)?;
    Ok(Reply::json(&Session { token, expires_at, session_id, session_expires_at }))
}

/// Lists the browsers that may open the console.
pub(crate) fn list(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let found = sessions::list(&exchange.daemon.app, &exchange.person())?;
    Ok(Reply::json(&SessionsAnswer { sessions: found.iter().map(SessionLine::from).collect() }))
}

/// Ends every session.
pub(crate) async fn revoke_all(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    revoke(exchange, body, &Revoke::All).await
}

/// Ends the session that the path names.
pub(crate) async fn revoke_one(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let id = exchange.id(exchange.params.first(), ErrorCode::NotFound, "session")?;
    revoke(exchange, body, &Revoke::One(id)).await
}

async fn revoke(exchange: &Exchange<'_>, body: Incoming, which: &Revoke) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let dry_run: Option<bool> = exchange.query.get(QueryName::DryRun)?;
    let mode = if dry_run.unwrap_or_default() { Mode::DryRun } else { Mode::Commit };
    let daemon = exchange.daemon;
    let revoked = sessions::revoke(&daemon.app, &exchange.person(), which, mode)?;
    if mode == Mode::Commit {
        // A stream was let in when it was opened and asks nobody again: without this it would go on until
        // its bearer ends.
        daemon.hub.end_sessions(&revoked);
    }
    Ok(Reply::json(&RevokedAnswer { revoked: revoked.iter().map(SessionLine::from).collect() }))
}

const OPEN_AGAIN: &str = "open the console again with `od open`";

/// Makes a code.
pub(crate) async fn make_code(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let code = Code::from_entropy(exchange.daemon.random()?);
    let now = exchange.daemon.app.ports.clock.now();
    exchange.daemon.codes.add(code.as_str(), now);
    Ok(Reply::json(&SessionCode {
        url: exchange.daemon.console_with_code(&code),
        code: code.as_str().to_owned(),
        expires_at: now.plus_ms(limits::SIGN_IN_CODE_LIFETIME.allowed),
    }))
}
