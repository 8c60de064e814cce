//! Console sessions: a one-time code that a page exchanges for its bearer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use hyper::body::Incoming;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::Timestamp;
use od_core::token::{Claims, ConsoleClaims};
use od_wire::Empty;
use od_wire::session::{OpenSession, Session, SessionCode};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// The lifetime of a console bearer.
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

/// The time in which a code may be exchanged.
const CODE_LIFETIME_MS: i64 = 60_000;
/// Codes that may wait to be exchanged.
const CODES_MAX: usize = 64;

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

/// Codes that have been made and not yet exchanged. They die with the daemon.
#[derive(Default)]
pub(crate) struct Codes {
    waiting: Mutex<HashMap<String, Timestamp>>,
}

impl fmt::Debug for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codes").finish_non_exhaustive()
    }
}

impl Codes {
    /// Remembers a new code. The oldest gives way when too many wait.
    pub(crate) fn add(&self, code: &Code, now: Timestamp) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, made| is_live(*made, now));
        if waiting.len() >= CODES_MAX
            && let Some(oldest) =
                waiting.iter().min_by_key(|(_, made)| made.unix_ms()).map(|(code, _)| code.clone())
        {
            waiting.remove(&oldest);
        }
        waiting.insert(code.0.clone(), now);
    }

    /// Takes a code back; true exactly once for each code within its time.
    pub(crate) fn exchange(&self, code: &str, now: Timestamp) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // A lookup by hash tells a guesser nothing about how much of a code was right.
        waiting.remove(code).is_some_and(|made| is_live(made, now))
    }
}

/// A clock that jumped backwards kills a code as well: it fails closed.
fn is_live(made: Timestamp, now: Timestamp) -> bool {
    (0..CODE_LIFETIME_MS).contains(&now.unix_ms().saturating_sub(made.unix_ms()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    #[test]
    fn a_code_works_once_and_for_a_minute() {
        let codes = Codes::default();
        let (one, two) = (Code::from_entropy([1; 16]), Code::from_entropy([2; 16]));
        codes.add(&one, at(1_000));
        codes.add(&two, at(1_000));
        assert!(!codes.exchange("nonsense", at(1_000)));
        assert!(codes.exchange(one.as_str(), at(60_999)));
        assert!(!codes.exchange(one.as_str(), at(60_999)));
        assert!(!codes.exchange(two.as_str(), at(61_000)));
        assert!(!codes.exchange(two.as_str(), at(2_000)), "a refused code is gone");
    }

    #[test]
    fn no_debug_output_shows_a_code() {
        let (codes, code) = (Codes::default(), Code::from_entropy([0xab; 16]));
        codes.add(&code, at(1));
        assert!(!format!("{codes:?} {code:?}").contains("abab"));
    }

    #[test]
    fn the_clock_going_back_kills_codes() {
        let codes = Codes::default();
        let code = Code::from_entropy([1; 16]);
        codes.add(&code, at(5_000));
        assert!(!codes.exchange(code.as_str(), at(4_999)));
    }

    #[test]
    fn waiting_codes_are_bounded() {
        let codes = Codes::default();
        for n in 0..=CODES_MAX as u8 {
            codes.add(&Code::from_entropy([n; 16]), at(i64::from(n)));
        }
        assert!(!codes.exchange(Code::from_entropy([0; 16]).as_str(), at(100)));
        assert!(codes.exchange(Code::from_entropy([1; 16]).as_str(), at(100)));
    }
}
