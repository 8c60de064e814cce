//! The output of a connector on its way out: without secrets, without credentials, within bounds, and no error in
//! disguise.

use std::borrow::Cow;

use super::error_as_data::disguised_error;
use crate::credential::{
    MemberRule, PlacePath, REDACTED, RedactionAction, RedactionLog, RedactionReason, Redactions,
    Scrubber, protect_member_text, redact_text,
};
use crate::error::ErrorCode;
use crate::json::{BoundedJson, JsonFaults, Map, Value};

/// A connector's output as agents and files may see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Protected {
    /// The output.
    pub output: BoundedJson,
    /// The values that were replaced or left out.
    pub redactions: Redactions,
}

/// Where an output came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// This machine: a project's own report `{ "ok": false }` is data.
    Local,
    /// Another one, whose errors may come dressed as data.
    Remote,
}

/// A bound on texts of an output that is applied once no secret can be cut in two.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clip {
    /// The texts, as a JSON pointer in which `*` stands for every item of an array.
    pub path: &'static str,
    /// The bytes that are kept.
    pub bytes_max: usize,
}

/// Why an output cannot be given on.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProtectError {
    /// It is larger than allowed, in one way or another.
    #[error("the output is larger than allowed: {faults}")]
    TooLarge {
        /// In which ways.
        faults: JsonFaults,
    },
    /// It holds what JSON of ours may not hold, or nests too deep.
    #[error("the output is not acceptable JSON: {faults}")]
    Unacceptable {
        /// What it holds.
        faults: JsonFaults,
    },
    /// It tells of an error.
    #[error("the connector answered with an error: {message}")]
    ErrorAsData {
        /// What it says, protected like the output.
        message: String,
    },
}

impl ProtectError {
    /// Returns the code of the refusal.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TooLarge { .. } => ErrorCode::ConnectorOutputTooLarge,
            Self::Unacceptable { .. } => ErrorCode::SourceUnreadable,
            Self::ErrorAsData { .. } => ErrorCode::ConnectorExecutionFailed,
        }
    }
}

/// Protects a connector's output: scrubs the secrets the daemon holds, leaves out keys that are
/// never stored, replaces texts that are credentials by their look or by their key, clips the texts
/// that are to be clipped, finds errors dressed as data if it came from elsewhere, and applies the
/// limits. A number, a truth value or null is never replaced, whatever its key; only a held secret of
/// digits that comes back as a number goes.
///
/// # Errors
///
/// Fails if the output tells of an error, or does not fit the limits.
pub fn protect_output(
    output: Value,
    origin: Origin,
    clips: &[Clip],
    secrets: &Scrubber,
) -> Result<Protected, ProtectError> {
    let (output, redactions) = protect_value(output, origin, clips, secrets)?;
    match BoundedJson::check(output) {
        Ok(output) => Ok(Protected { output, redactions }),
        Err(faults) if faults.is_size() => Err(ProtectError::TooLarge { faults }),
        Err(faults) => Err(ProtectError::Unacceptable { faults }),
    }
}

/// As [`protect_output`] without the limits of what is stored: they are applied to what is picked.
///
/// # Errors
///
/// Fails if the output tells of an error.
pub fn protect_value(
    mut output: Value,
    origin: Origin,
    clips: &[Clip],
    secrets: &Scrubber,
) -> Result<(Value, Redactions), ProtectError> {
    let mut redactor =
        Redactor { secrets, path: PlacePath::default(), log: RedactionLog::default() };
    redactor.protect(&mut output, false);
    // After the redaction: a text that is cut in the middle of a secret is one that nobody recognises any
    // more.
    for clip in clips {
        clip_texts(&mut output, clip.path, clip.bytes_max);
    }
    if origin == Origin::Remote
        && let Some(message) = disguised_error(&output)
    {
        return Err(ProtectError::ErrorAsData { message });
    }
    Ok((output, redactor.log.finish()))
}

/// Protects a text a connector gave, such as an error message.
#[must_use]
pub fn protect_text(text: &str, secrets: &Scrubber) -> String {
    let scrubbed = secrets.scrub_text(text).unwrap_or_else(|| text.to_owned());
    redact_text(&scrubbed).into_owned()
}

/// Protects a value in place and names what it takes out.
struct Redactor<'a> {
    secrets: &'a Scrubber,
    path: PlacePath,
    log: RedactionLog,
}

impl Redactor<'_> {
    /// Protects a value; `is_credential` says that its key is the name of a credential.
    fn protect(&mut self, value: &mut Value, is_credential: bool) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if self.secrets.is_secret_number(&number.to_string()) {
                    *value = REDACTED.into();
                    self.note(RedactionAction::Replaced, RedactionReason::HeldSecret);
                }
            }
            Value::String(text) => {
                if let Some((protected, reason)) =
                    protect_member_text(text, is_credential, self.secrets)
                {
                    *text = protected;
                    self.note(RedactionAction::Replaced, reason);
                }
            }
            Value::Array(items) => {
                let before = self.path.enter_items();
                for item in items {
                    self.protect(item, is_credential);
                }
                self.path.leave(before);
            }
            Value::Object(map) => self.protect_members(map),
        }
    }

    fn protect_members(&mut self, map: &mut Map) {
        // The new name of every member, or nothing for what is left out.
        let mut names = Vec::with_capacity(map.len());
        for (key, item) in map.iter_mut() {
            let rule = MemberRule::of(key, self.secrets);
            let name = match &rule {
                MemberRule::Keep | MemberRule::Credential => Some(key.clone()),
                MemberRule::Rename(name) => Some(name.clone()),
                MemberRule::LeaveOut(_) => None,
            };
            // A key may itself be the credential: the report must not repeat it.
            let shown = name.as_deref().map_or_else(|| redact_text(key), Cow::Borrowed);
            let before = self.path.enter_key(&shown);
            match rule {
                MemberRule::Keep => self.protect(item, false),
                MemberRule::Credential => self.protect(item, true),
                MemberRule::Rename(_) => {
                    self.note(RedactionAction::Replaced, RedactionReason::HeldSecret);
                    self.protect(item, false);
                }
                MemberRule::LeaveOut(reason) => self.note(RedactionAction::LeftOut, reason),
            }
            self.path.leave(before);
            names.push(name);
        }
        // Made anew only where a name has changed: most objects keep theirs, and their order.
        if names.iter().zip(map.keys()).any(|(name, key)| name.as_ref() != Some(key)) {
            let members = std::mem::take(map).into_iter().zip(names);
            *map = members.filter_map(|((_, item), name)| Some((name?, item))).collect();
        }
    }

    fn note(&mut self, action: RedactionAction, reason: RedactionReason) {
        self.log.note(self.path.as_str(), action, reason);
    }
}

/// Cuts the texts at a path to a length, at a character.
fn clip_texts(value: &mut Value, path: &str, bytes_max: usize) {
    let Some((step, rest)) = path.strip_prefix('/').map(|path| match path.split_once('/') {
        Some((step, _)) => (step, &path[step.len()..]),
        None => (path, ""),
    }) else {
        if let Value::String(text) = value {
            clip_text(text, bytes_max);
        }
        return;
    };
    match value {
        Value::Array(items) if step == "*" => {
            items.iter_mut().for_each(|item| clip_texts(item, rest, bytes_max));
        }
        Value::Object(map) => {
            if let Some(item) = map.get_mut(step) {
                clip_texts(item, rest, bytes_max);
            }
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn clip_text(text: &mut String, bytes_max: usize) {
    if text.len() <= bytes_max {
        return;
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    text.push('…');
    // The beginning of a text may look like a credential where the whole does not.
    if let Cow::Owned(redacted) = redact_text(text) {
        *text = redacted;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn protect(value: Value) -> Result<Value, ProtectError> {
        protect_output(value, Origin::Remote, &[], &Scrubber::new(["s3cr3t-value"]))
            .map(|protected| protected.output.into_value())
    }

    fn places(value: Value) -> Vec<String> {
        let secrets = Scrubber::new(["s3cr3t-value", "87654321"]);
        let protected = protect_output(value, Origin::Local, &[], &secrets).unwrap();
        let words = |place: &crate::credential::RedactedPlace| {
            format!("{} {} {} {}", place.path, place.count, place.action, place.reason)
        };
        protected.redactions.places.iter().map(words).collect()
    }

    #[test]
    fn numbers_stay_whatever_their_key() {
        let value = json!({
            "total_tokens": 1540, "tokens_used": [1, 2, null], "auth_token": 42, "api_secret": true,
            "passphrase": null, "secretary": "Ada", "nextPageToken": "CAUQAA",
            "signing_key": ["rotated 3 days ago", 7],
        });
        assert_eq!(protect(value.clone()).unwrap(), value);
        assert_eq!(places(value), [""; 0]);
    }

    #[test]
    fn what_is_left_out_or_replaced_is_named_with_how_often_and_why() {
        let key = ["gh", "p_", "abcdefghij0123456789KLMNOP"].concat();
        let row = |n: u32| json!({ "body": "text", "n": n, "auth_token": "hunter2" });
        assert_eq!(
            places(json!({
                "items": [row(1), row(2)],
                "a/b": { "link": key.clone(), key: 1 },
                "s3cr3t-value": ["x s3cr3t-value"],
                "pin": 87_654_321,
                "headers": { "set-cookie": "a" },
            })),
            [
                "/items/*/body 2 left_out never_stored",
                "/items/*/auth_token 2 replaced credential_name",
                "/a~1b/link 1 replaced credential_value",
                "/a~1b/[redacted] 1 left_out credential_value",
                "/[redacted] 1 replaced held_secret",
                "/[redacted]/* 1 replaced held_secret",
                "/pin 1 replaced held_secret",
                "/headers 1 left_out never_stored",
            ]
        );
    }

    #[test]
    fn texts_are_clipped_after_secrets_were_taken_out() {
        let secrets = Scrubber::new(["s3cr3t-value"]);
        let clips = [Clip { path: "/items/*/notes", bytes_max: 12 }];
        let items = json!([
            { "notes": "12345 s3cr3t-value", "title": "a long title stays" },
            { "notes": "üüüüüüü" }, { "notes": 1 }, { "notes": "short" },
        ]);
        let protected =
            protect_output(json!({ "items": items }), Origin::Remote, &clips, &secrets).unwrap();
        let want = json!([
            { "notes": "12345 [redac…", "title": "a long title stays" },
            { "notes": "üüüüüü…" }, { "notes": 1 }, { "notes": "short" },
        ]);
        assert_eq!(protected.output.value()["items"], want);
        assert_eq!(protected.redactions.count, 1);
    }

    #[test]
    fn secrets_keys_and_values_are_taken_out() {
        let link = ["https://u", ":p@host/x"].concat();
        let value = json!({
            "items": [{ "name": "a s3cr3t-value b", "body": "long", "api_token": "abc", "n": 1 }],
            "link": link,
        });
        assert_eq!(
            protect(value).unwrap(),
            json!({
                "items": [{ "name": "a [redacted] b", "api_token": "[redacted]", "n": 1 }],
                "link": "https://[redacted]host/x",
            })
        );
    }

    #[test]
    fn sizes_and_disguised_errors_have_their_codes() {
        let large = protect(json!({ "rows": vec![1; 501] })).unwrap_err();
        assert_eq!(large.code(), ErrorCode::ConnectorOutputTooLarge);
        let error = protect(json!({ "error": "bad s3cr3t-value" })).unwrap_err();
        assert_eq!(error, ProtectError::ErrorAsData { message: "bad [redacted]".to_owned() });
        assert_eq!(error.code(), ErrorCode::ConnectorExecutionFailed);
        let report = json!({ "ok": false, "errors": ["lint"] });
        let local = protect_output(report.clone(), Origin::Local, &[], &Scrubber::new([""; 0]));
        assert_eq!(local.unwrap().output.value(), &report, "a project's own report is data");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(s3cr3t-value|sk-a1|[a-z ]{0,8}){0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let key = "(to_ken|body|id_token|auth_token|secretary|s3cr3t-value|[a-z]{1,5})";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn protection_is_idempotent(value in any_json()) {
            if let Ok(once) = protect(value) {
                let secrets = Scrubber::new(["s3cr3t-value"]);
                let again = protect_output(once.clone(), Origin::Local, &[], &secrets).unwrap();
                prop_assert!(again.redactions.is_empty());
                prop_assert_eq!(again.output.value(), &once);
                prop_assert!(!once.to_string().contains("s3cr3t-value"));
            }
        }
    }
}
