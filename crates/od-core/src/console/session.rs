//! Sessions of the console: one browser each, known by the public key that it made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PublicKey;
use crate::ids::{Audience, ConsoleSessionId, Timestamp};
use crate::limits::{CONSOLE_SESSION_LIFETIME, CONSOLE_SESSIONS, CONSOLE_TOKEN_LIFETIME};

/// A browser that may open the console.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleSession {
    /// Names it.
    pub id: ConsoleSessionId,
    /// The data directory it is for.
    pub audience: Audience,
    /// The daemon's address when it was opened, `host:port`. The browser keeps its key for the pages of
    /// that address alone; whoever has the address later can let it sign anything.
    #[serde(default)]
    pub address: String,
    /// The key whose private half never leaves the browser.
    pub public_key: PublicKey,
    /// The browser, in a few words.
    pub browser: BrowserName,
    /// When the one-time code was exchanged.
    pub created_at: Timestamp,
    /// When it last got a bearer.
    pub last_used_at: Timestamp,
}

impl ConsoleSession {
    /// Returns from when on it gets no bearer any more.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus_ms(CONSOLE_SESSION_LIFETIME.allowed)
    }

    /// Returns whether it still gets bearers. A clock that was set back ends it as well: it fails closed.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        let age = now.unix_ms().saturating_sub(self.created_at.unix_ms());
        (0..CONSOLE_SESSION_LIFETIME.allowed.cast_signed()).contains(&age)
    }

    /// Returns when a bearer that it gets now ends; no bearer outlives its session.
    #[must_use]
    pub fn bearer_ends(&self, now: Timestamp) -> Timestamp {
        now.plus_ms(CONSOLE_TOKEN_LIFETIME.allowed).min(self.expires_at())
    }
}

/// Adds a session to those that are kept: the ended go, and then the ones that were not used for longest
/// give way.
#[must_use]
pub fn admit(
    kept: Vec<ConsoleSession>,
    new: ConsoleSession,
    now: Timestamp,
) -> Vec<ConsoleSession> {
    let mut sessions: Vec<_> =
        kept.into_iter().filter(|session| session.is_live(now) && session.id != new.id).collect();
    sessions.sort_by_key(|session| session.last_used_at);
    let excess = (sessions.len() + 1).saturating_sub(CONSOLE_SESSIONS.max());
    sessions.drain(..excess);
    sessions.push(new);
    sessions
}

/// A browser in a few words, such as `Firefox on Linux`: never the header itself, which anybody can fill.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String")]
#[schemars(inline, extend("maxLength" = 64))]
pub struct BrowserName(String);

/// The marks of browsers, the more specific first: nearly every one also claims to be Chrome and Safari.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("HeadlessChrome/", "Headless Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

impl BrowserName {
    /// Reads a `User-Agent`.
    #[must_use]
    pub fn of_user_agent(text: &str) -> Self {
        let find = |marks: &[(&str, &'static str)]| {
            marks.iter().find(|(mark, _)| text.contains(mark)).map(|(_, name)| *name)
        };
        let browser = find(&BROWSERS).unwrap_or("A browser");
        Self(match find(&SYSTEMS) {
            Some(system) => format!("{browser} on {system}"),
            None => browser.to_owned(),
        })
    }

    /// Returns the words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BrowserName {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_name = text.len() <= 64
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ');
        if is_name { Ok(Self(text)) } else { Err("not the name of a browser") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    fn session(id: &str, created: i64, used: i64) -> ConsoleSession {
        ConsoleSession {
            id: id.parse().unwrap(),
            audience: "here".parse().unwrap(),
            address: "127.0.0.1:7456".to_owned(),
            public_key: format!("B{}", "A".repeat(86)).parse().unwrap(),
            browser: BrowserName::of_user_agent(""),
            created_at: at(created),
            last_used_at: at(used),
        }
    }

    const DAYS_30: i64 = 30 * 24 * 3_600_000;
    const MINUTES_15: i64 = 15 * 60_000;

    #[test]
    fn a_session_lasts_thirty_days_from_its_code_however_often_it_is_used() {
        let session = session("a", 1_000, 9_000);
        assert!(session.is_live(at(1_000)) && session.is_live(at(1_000 + DAYS_30 - 1)));
        assert!(!session.is_live(at(1_000 + DAYS_30)));
        assert!(!session.is_live(at(999)), "a clock that was set back ends it");
    }

    #[test]
    fn a_bearer_lasts_a_quarter_of_an_hour_and_never_longer_than_its_session() {
        let session = session("a", 0, 0);
        assert_eq!(session.bearer_ends(at(5)), at(5 + MINUTES_15));
        assert_eq!(session.bearer_ends(at(DAYS_30 - 60_000)), at(DAYS_30));
    }

    #[test]
    fn sessions_are_bounded_and_the_one_unused_for_longest_gives_way() {
        let max = i64::try_from(CONSOLE_SESSIONS.allowed).unwrap();
        // The first made is the last used.
        let kept = (0..max).map(|n| session(&format!("s{n}"), 0, max - n)).collect();
        let after = admit(kept, session("new", 1, 1), at(2));
        assert_eq!(after.len(), CONSOLE_SESSIONS.max());
        let has = |id: &str| after.iter().any(|session| session.id.as_str() == id);
        assert!(has("new") && has("s0"));
        assert!(!has(&format!("s{}", max - 1)));
    }

    #[test]
    fn ended_sessions_leave_when_another_comes() {
        let after = admit(vec![session("old", 0, 5)], session("new", DAYS_30, 0), at(DAYS_30));
        assert_eq!(after, [session("new", DAYS_30, 0)]);
    }

    #[test]
    fn a_browser_is_named_by_known_words_only() {
        let linux = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
            Chrome/140.0.0.0 Safari/537.36";
        for (header, name) in [
            (linux, "Chrome on Linux"),
            (&linux.replace("Safari/", "Edg/140 Safari/"), "Edge on Linux"),
            ("Mozilla/5.0 (Windows NT 10.0; rv:140.0) Firefox/140.0", "Firefox on Windows"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/17 Safari/605",
                "Safari on macOS",
            ),
            ("<script>alert(1)</script>\u{1b}[31m", "A browser"),
            ("", "A browser"),
        ] {
            assert_eq!(BrowserName::of_user_agent(header).as_str(), name);
        }
        assert!(BrowserName::try_from("<b>".to_owned()).is_err());
    }
}
