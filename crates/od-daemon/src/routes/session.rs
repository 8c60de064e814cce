//! Console sessions: a one-time code registers a browser's key, and a registered browser gets its bearer
//! by a proof that both sides sign.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::header;
use od_app::Mode;
use od_app::sessions::{self, Met, Revoke};
use od_core::console::{BrowserName, ConsoleSession, Nonce, Signature};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::Timestamp;
use od_core::limits::{self, Limit};
use od_core::token::{Claims, ConsoleClaims};
use od_wire::Empty;
use od_wire::route::QueryName;
use od_wire::session::{
    Challenge, ChallengeRequest, OpenSession, ProveSession, RevokedAnswer, Session, SessionCode,
    SessionLine, SessionsAnswer,
};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

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

/// A code of 128 bits, as hex digits.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Code(String);

/// Shows nothing: whoever knows the code gets a bearer.
impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(..)")
    }
}

impl Code {
    /// Makes a code from random bytes.
    pub(crate) fn from_entropy(entropy: [u8; 16]) -> Self {
        use fmt::Write as _;
        let mut text = String::with_capacity(32);
        for byte in entropy {
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// Returns the code as it stands in the URL fragment.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Numbers that have been given out and not yet come back: codes, challenges. They die with the daemon.
pub(crate) struct Waiting {
    lifetime: Limit,
    count: Limit,
    given: Mutex<HashMap<String, Timestamp>>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Waiting {
    /// Waits for one-time codes.
    pub(crate) fn for_codes() -> Self {
        Self::within(limits::SIGN_IN_CODE_LIFETIME, limits::SIGN_IN_CODES)
    }

    /// Waits for answers to challenges.
    pub(crate) fn for_challenges() -> Self {
        Self::within(limits::CHALLENGE_LIFETIME, limits::CHALLENGES)
    }

    fn within(lifetime: Limit, count: Limit) -> Self {
        Self { lifetime, count, given: Mutex::default() }
    }

    /// Remembers a new number. The oldest gives way when too many wait.
    pub(crate) fn add(&self, number: &str, now: Timestamp) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        // Anybody on this machine may ask for a challenge: what is over goes with the next one, no timer
        // is needed, and the count bounds the rest.
        given.retain(|_, made| self.is_live(*made, now));
        if !self.count.allows(given.len() + 1)
            && let Some(oldest) =
                given.iter().min_by_key(|(_, made)| made.unix_ms()).map(|(text, _)| text.clone())
        {
            given.remove(&oldest);
        }
        given.insert(number.to_owned(), now);
    }

    /// Takes a number back; true exactly once for each within its time.
    pub(crate) fn take(&self, number: &str, now: Timestamp) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        // A lookup by hash tells a guesser nothing about how much of a number was right.
        given.remove(number).is_some_and(|made| self.is_live(made, now))
    }

    /// A clock that jumped backwards kills a number as well: it fails closed.
    fn is_live(&self, made: Timestamp, now: Timestamp) -> bool {
        let age = now.unix_ms().saturating_sub(made.unix_ms());
        (0..self.lifetime.allowed.cast_signed()).contains(&age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    #[test]
    fn a_code_works_once_and_for_a_minute() {
        let codes = Waiting::for_codes();
        let (one, two) = (Code::from_entropy([1; 16]), Code::from_entropy([2; 16]));
        codes.add(one.as_str(), at(1_000));
        codes.add(two.as_str(), at(1_000));
        assert!(!codes.take("nonsense", at(1_000)));
        assert!(codes.take(one.as_str(), at(60_999)));
        assert!(!codes.take(one.as_str(), at(60_999)));
        assert!(!codes.take(two.as_str(), at(61_000)));
        assert!(!codes.take(two.as_str(), at(2_000)), "a refused code is gone");
    }

    #[test]
    fn no_debug_output_shows_a_code() {
        let (codes, code) = (Waiting::for_codes(), Code::from_entropy([0xab; 16]));
        codes.add(code.as_str(), at(1));
        assert!(!format!("{codes:?} {code:?}").contains("abab"));
    }

    #[test]
    fn the_clock_going_back_kills_codes() {
        let codes = Waiting::for_codes();
        let code = Code::from_entropy([1; 16]);
        codes.add(code.as_str(), at(5_000));
        assert!(!codes.take(code.as_str(), at(4_999)));
    }

    #[test]
    fn waiting_codes_are_bounded() {
        let codes = Waiting::for_codes();
        for n in 0..=limits::SIGN_IN_CODES.max() as u8 {
            codes.add(Code::from_entropy([n; 16]).as_str(), at(i64::from(n)));
        }
        assert!(!codes.take(Code::from_entropy([0; 16]).as_str(), at(100)));
        assert!(codes.take(Code::from_entropy([1; 16]).as_str(), at(100)));
    }
}
