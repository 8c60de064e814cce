//! One-time codes and challenges: given out, taken back once, dead after their time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use od_core::ids::Timestamp;
use od_core::limits::{self, Limit};

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
