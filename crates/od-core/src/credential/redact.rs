//! Taking credentials out of texts and values.

use std::borrow::Cow;

use super::pattern::{CredentialKind, find, find_from};
use crate::json::{Pointer, Value};

/// The mark that stands where a credential stood.
pub const REDACTED: &str = "[redacted]";

/// Returns a text with everything that looks like a credential replaced.
#[must_use]
pub fn redact_text(text: &str) -> Cow<'_, str> {
    if find(text).is_none() {
        return Cow::Borrowed(text);
    }
    // The mark may complete a form with what stands beside it, such as `://` before and `@` after.
    let mut redacted = redact_once(text);
    for _ in 0..8 {
        if find(&redacted).is_none() {
            return Cow::Owned(redacted);
        }
        redacted = redact_once(&redacted);
    }
    Cow::Borrowed(REDACTED)
}

fn redact_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((_, range)) = find_from(text, at) {
        // The forms are ASCII at both ends, so the range ends on character boundaries.
        out.push_str(&text[at..range.start]);
        out.push_str(REDACTED);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Replaces everything in a value's strings that looks like a credential, and returns where.
pub fn redact_json(value: &mut Value) -> Vec<Pointer> {
    let mut found = Vec::new();
    walk_mut(value, &Pointer::root(), &mut found);
    found
}

fn walk_mut(value: &mut Value, here: &Pointer, found: &mut Vec<Pointer>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if find(text).is_some() {
                *text = redact_text(text).into_owned();
                found.push(here.clone());
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                walk_mut(item, &here.clone().index(i), found);
            }
        }
        Value::Object(map) => {
            for (key, item) in map.iter_mut() {
                walk_mut(item, &here.clone().key(key), found);
            }
        }
    }
}

/// Returns where a value's strings or keys look like credentials, at most `most` places.
#[must_use]
pub fn find_in_json(value: &Value, most: usize) -> Vec<(Pointer, CredentialKind)> {
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), most, &mut found);
    found
}

/// A step on the way to a value; pointers are written only for what is found.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn walk<'a>(
    value: &'a Value,
    path: &mut Vec<Step<'a>>,
    most: usize,
    found: &mut Vec<(Pointer, CredentialKind)>,
) {
    if found.len() >= most {
        return;
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if let Some((kind, _)) = find(text) {
                found.push((pointer(path), kind));
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push(Step::Index(i));
                walk(item, path, most, found);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                path.push(Step::Key(key));
                if found.len() < most
                    && let Some((kind, _)) = find(key)
                {
                    found.push((pointer(path), kind));
                }
                walk(item, path, most, found);
                path.pop();
            }
        }
    }
}

fn pointer(path: &[Step<'_>]) -> Pointer {
    path.iter().fold(Pointer::root(), |pointer, step| match step {
        // A key may itself be the credential: the refusal must not repeat it.
        Step::Key(key) => pointer.key(&redact_text(key)),
        Step::Index(index) => pointer.index(*index),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(redact_text(text), want);
    }

    /// Joined at run time, so that no scanner takes the source for a leak.
    fn fake(parts: &[&str]) -> String {
        parts.concat()
    }

    #[test]
    fn every_form_is_found() {
        let tail = "abcdefghij0123456789KLMNOPQRSTUVWXYZ0123456789";
        check(&fake(&["key gh", "p_", tail, "!"]), "key [redacted]!");
        check(&fake(&["s", "k-proj-", tail]), "[redacted]");
        check(&fake(&["AK", "IA", "ABCDEFGHIJKLMNO1"]), "[redacted]");
        check(&fake(&["od", "t.v1.", tail]), "[redacted]");
        check(&fake(&["x ey", "JhbGciOi.ey", "JzdWIiOi.c2ln y"]), "x [redacted] y");
        check(&fake(&["Authorization: Bea", "rer ", tail]), "Authorization: [redacted]");
        check(
            &fake(&[
                "a -----BEG",
                "IN RSA PRIVATE KEY-----\nMII\n-----E",
                "ND RSA PRIVATE KEY----- b",
            ]),
            "a [redacted] b",
        );
        check(&fake(&["-----BEG", "IN PRIVATE KEY-----\ncut off"]), "[redacted]");
        check(&fake(&["postgres://us", "er:pw@host/db"]), "postgres://[redacted]host/db");
        check(&fake(&["https://a@", "b@c/?x=@"]), "https://[redacted]c/?x=@");
        check(
            &fake(&["server=db;uid=a;pw", "d=hunter2;x=1"]),
            "server=db;uid=a;pwd=[redacted];x=1",
        );
        check(&fake(&["/f?si", "g=", tail, "&x=1"]), "/f?sig=[redacted]&x=1");
    }

    #[test]
    fn what_stands_between_many_credentials_stays() {
        let key = fake(&["gh", "p_abcdefghij0123456789KLMNOPQRSTUVWXYZ0123"]);
        check(&format!("and {key} ").repeat(20), &format!("and {REDACTED} ").repeat(20));
    }

    #[test]
    fn a_value_is_redacted_wherever_it_stands_and_named() {
        let key = fake(&["gh", "p_abcdefghij0123456789KLMNOPQRSTUVWXYZ0123"]);
        let mut value = json!({ "a": key, "b": [1, { "c": ["x", key] }], "d": "plain" });
        let places = redact_json(&mut value);
        assert_eq!(places.iter().map(Pointer::as_str).collect::<Vec<_>>(), ["/a", "/b/1/c/1"]);
        let redacted = json!({ "a": REDACTED, "b": [1, { "c": ["x", REDACTED] }], "d": "plain" });
        assert_eq!(value, redacted);
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "task-list-with-a-very-long-name-and-number-1",
            "The bearer of this letter is trustworthy",
            "bearer authentication",
            "https://medium.com/@someone/a-post",
            "mail me at a@b.org",
            "risk-adjusted-returns-over-the-long-term",
            "----- BEGIN -----",
            "secret_santa_list",
            "asiatic",
            "class sk-circle-fade-dot-animation",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn places_are_named_without_repeating_the_credential() {
        let key = fake(&["gh", "p_", "abcdefghij0123456789KLMNOP"]);
        let value = json!({ "a": [1, key], key.clone(): true });
        let found = find_in_json(&value, 20);
        let places: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(places, ["/a/1", "/[redacted]"]);
        assert_eq!(find_in_json(&value, 1).len(), 1);
    }

    proptest! {
        #[test]
        fn redaction_is_idempotent(
            text in "(ghp_|sk-|eyJ|Bearer |://|@|-----BEGIN A-----|-----END |\\.|[a-z0-9]{1,24}|é| ){0,12}"
        ) {
            let once = redact_text(&text).into_owned();
            prop_assert_eq!(redact_text(&once).into_owned(), once.clone());
            prop_assert!(find(&once).is_none());
        }

        #[test]
        fn any_text_can_be_redacted(text in "\\PC{0,200}") {
            let once = redact_text(&text).into_owned();
            prop_assert!(find(&once).is_none());
        }
    }
}
