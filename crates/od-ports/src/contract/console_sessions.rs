//! The contract suite of every keeper of console sessions.

use od_core::console::{BrowserName, ConsoleSession};
use od_core::ids::{ConsoleSessionId, Timestamp};
use od_core::limits::CONSOLE_SESSIONS;

use crate::access::console_sessions::ConsoleSessions;

/// Puts an empty keeper, and a second one over the same place, through the contract of [`ConsoleSessions`].
///
/// # Panics
///
/// When a keeper breaks the contract.
pub fn check_console_sessions(sessions: &dyn ConsoleSessions, again: &dyn ConsoleSessions) {
    assert_eq!(sessions.list(), Ok(Vec::new()), "a new keeper has none");
    let key = sessions.daemon_key().expect("a key");
    assert_eq!(again.daemon_key(), Ok(key.clone()), "the key is made once");
    let signature = again.sign("here and now").expect("a signature");
    assert!(key.signed("here and now", &signature), "the key's owner signs");
    assert!(!key.signed("there and then", &signature));

    let (one, two) = (session("one", 1), session("two", 2));
    assert_eq!(sessions.add(one.clone()), Ok(()));
    assert_eq!(sessions.add(two.clone()), Ok(()));
    assert_eq!(again.list(), Ok(vec![two.clone(), one.clone()]), "the one used last is first");
    let used = Timestamp::from_unix_ms(9);
    assert_eq!(sessions.note_use(&one.id, used), Ok(()));
    let one = ConsoleSession { last_used_at: used, ..one };
    assert_eq!(again.get(&one.id), Ok(Some(one.clone())));
    assert_eq!(again.list(), Ok(vec![one.clone(), two.clone()]));

    assert_eq!(again.revoke(&[id("none"), one.id.clone()]), Ok(vec![one.clone()]));
    assert_eq!(sessions.get(&one.id), Ok(None), "what another process revoked is gone");
    assert_eq!(sessions.note_use(&one.id, used), Ok(()));
    assert_eq!(sessions.get(&one.id), Ok(None), "using it does not bring it back");

    for number in 0..CONSOLE_SESSIONS.allowed {
        let at = 10 + number.cast_signed();
        assert_eq!(sessions.add(session(&format!("s{number}"), at)), Ok(()), "{number}");
    }
    let kept = sessions.list().expect("a list");
    assert_eq!(kept.len(), CONSOLE_SESSIONS.max(), "the number is bounded");
    assert_eq!(sessions.get(&two.id), Ok(None), "the one unused for longest gave way");
}

fn id(text: &str) -> ConsoleSessionId {
    text.parse().expect("the suite's ids are well formed")
}

fn session(name: &str, at: i64) -> ConsoleSession {
    ConsoleSession {
        id: id(name),
        audience: "here".parse().expect("an audience"),
        address: "127.0.0.1:7456".to_owned(),
        public_key: format!("B{}", "A".repeat(86)).parse().expect("a key"),
        browser: BrowserName::of_user_agent(""),
        created_at: Timestamp::from_unix_ms(at),
        last_used_at: Timestamp::from_unix_ms(at),
    }
}
