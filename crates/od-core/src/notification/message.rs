//! The text of a notification: for a desktop, and for a webhook.

use serde_json::json;

use crate::checks::{CheckResult, CheckState, Severity};
use crate::event::CheckEvent;
use crate::ids::{ArtifactId, CheckId, Digest, ProjectId, Timestamp};
use crate::json::Value;

/// The digits of a delivery's name: enough that two are never the same on one machine.
const NAME_DIGITS: usize = 32;

/// One check of one artifact that is in another state than before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Notification {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub artifact: ArtifactId,
    /// What a person calls it.
    pub title: String,
    /// The check's state before; none if it is new.
    pub from: Option<CheckState>,
    /// What the check comes to now.
    pub check: CheckResult,
}

impl Notification {
    /// Makes the notification of a change.
    #[must_use]
    pub fn of(event: &CheckEvent) -> Self {
        Self {
            project: event.project_id.clone(),
            artifact: event.artifact_id.clone(),
            title: event.title.clone(),
            from: event.from,
            check: event.check.clone(),
        }
    }

    /// Makes the one by which a person tries whether notifications arrive.
    #[must_use]
    pub fn trial(at: Timestamp) -> Self {
        let parse = "a word fits the alphabet of ids";
        let check = CheckResult {
            id: "test".parse::<CheckId>().expect(parse),
            state: CheckState::Passing,
            severity: Severity::Info,
            found: Some("1".to_owned()),
            message: "a test that a person asked for".to_owned(),
            since: at,
        };
        Self {
            project: "none".parse().expect(parse),
            artifact: "la-test-000000000000".parse().expect(parse),
            title: "Test of od".to_owned(),
            from: None,
            check,
        }
    }

    /// Returns the name of its delivery, the same for every try: a receiver can tell a repetition by it.
    #[must_use]
    pub fn delivery(&self) -> String {
        let named = json!([
            self.project,
            self.artifact,
            self.check.id,
            self.from,
            self.check.state,
            self.check.since,
            self.check.found
        ]);
        let digest = Digest::of_json(&named);
        digest.hex_digits().chars().take(NAME_DIGITS).collect()
    }

    /// Returns what a webhook is sent. Nothing else of the artifact leaves the machine.
    #[must_use]
    pub fn payload(&self, console_url: Option<&str>) -> Value {
        let mut payload = json!({
            "title": self.title,
            "check": self.check.id,
            "state": self.check.state,
            "value": self.check.found,
        });
        if let Some(url) = console_url {
            payload["consoleUrl"] = url.into();
        }
        payload
    }

    /// Returns the first line for a desktop.
    #[must_use]
    pub fn headline(&self) -> String {
        plain(&self.title)
    }

    /// Returns the text below it: the check, its state, and why where it does not hold.
    #[must_use]
    pub fn text(&self) -> String {
        let CheckResult { id, state, found, message, .. } = &self.check;
        let found = found.as_ref().map(|found| format!(" ({found})")).unwrap_or_default();
        match state {
            CheckState::Passing => plain(&format!("{id} holds again{found}")),
            CheckState::Unknown => plain(&format!("{id} cannot be worked out{found}: {message}")),
            CheckState::Failing => plain(&format!("{id} does not hold{found}: {message}")),
        }
    }
}

/// Replaces what a desktop would not show as text: control characters, and those that turn the direction
/// of writing, by which a title could pose as another sentence.
fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing() -> Notification {
        let mut told = Notification::trial(Timestamp::from_unix_ms(1_777_507_200_000));
        told.title = "Release\u{1b}[31m\u{202e} dashboard\n".to_owned();
        told.from = Some(CheckState::Passing);
        told.check.state = CheckState::Failing;
        told.check.found = Some("7".to_owned());
        told.check.message = "Too many open errors".to_owned();
        told
    }

    #[test]
    fn a_webhook_is_sent_these_fields_and_no_other() {
        let payload = failing().payload(Some("http://127.0.0.1:7456/#/p/web/live/x"));
        let payload = payload.as_object().unwrap();
        let mut names: Vec<&str> = payload.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["check", "consoleUrl", "state", "title", "value"]);
        assert!(!serde_json::to_string(payload).unwrap().contains("Too many"), "{payload:?}");
    }

    #[test]
    fn a_desktop_is_given_text_alone() {
        let told = failing();
        assert_eq!(told.headline(), "Release [31m  dashboard ");
        assert_eq!(told.text(), "test does not hold (7): Too many open errors");
    }

    #[test]
    fn a_repetition_has_the_same_name_and_the_next_change_another() {
        let (told, mut next) = (failing(), failing());
        assert_eq!(told.delivery(), next.delivery());
        next.check.since = next.check.since.plus_ms(1);
        assert_ne!(told.delivery(), next.delivery());
        assert_eq!(told.delivery().len(), NAME_DIGITS);
    }
}
