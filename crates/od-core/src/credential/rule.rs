//! The rule for one member of a source's output, whichever form the output is held in.

use super::key::{is_credential_key, is_plainly_prose};
use super::redact::{REDACTED, redact_text};
use super::report::RedactionReason;
use super::scrub::Scrubber;
use crate::json::is_denied_key;

/// The treatment of a member, decided by its key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum MemberRule {
    /// Its texts are protected by their look.
    Keep,
    /// As `Keep`, under another name: the key itself held a secret.
    Rename(String),
    /// As `Keep`, and texts that are not plainly prose are replaced whole.
    Credential,
    /// It is left out.
    LeaveOut(RedactionReason),
}

impl MemberRule {
    pub(crate) fn of(key: &str, secrets: &Scrubber) -> Self {
        if is_denied_key(key) {
            return Self::LeaveOut(RedactionReason::NeverStored);
        }
        if redact_text(key) != key {
            return Self::LeaveOut(RedactionReason::CredentialValue);
        }
        if let Some(renamed) = secrets.scrub_text(key) {
            return Self::Rename(renamed);
        }
        if is_credential_key(key) { Self::Credential } else { Self::Keep }
    }
}

/// Returns what replaces a text and why, or nothing if it stays.
pub(crate) fn protect_member_text(
    text: &str,
    is_credential: bool,
    secrets: &Scrubber,
) -> Option<(String, RedactionReason)> {
    let scrubbed = secrets.scrub_text(text);
    let base = scrubbed.as_deref().unwrap_or(text);
    let because = |reason| if scrubbed.is_some() { RedactionReason::HeldSecret } else { reason };
    if is_credential && base != REDACTED && !is_plainly_prose(base) {
        return Some((REDACTED.to_owned(), because(RedactionReason::CredentialName)));
    }
    let redacted = redact_text(base);
    if redacted != base {
        return Some((redacted.into_owned(), because(RedactionReason::CredentialValue)));
    }
    scrubbed.map(|scrubbed| (scrubbed, RedactionReason::HeldSecret))
}
