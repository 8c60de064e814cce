//! What a call came to, in the words of the tool result: payload or refusal, and as text.

use std::fmt::Write as _;

use od_core::error::{Failure, Issue, Retry};
use serde_json::{Value, json};

/// Why a call was refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// The neutral form every door tells.
    pub(crate) failure: Box<Failure>,
    /// The id of the request at the daemon, if it came that far.
    pub(crate) request_id: Option<String>,
}

impl Refusal {
    /// Makes a refusal that never reached the daemon.
    pub(crate) fn of_ours(failure: Failure) -> Self {
        Self { failure: Box::new(failure), request_id: None }
    }

    /// Returns the daemon's envelope again: `{ "error": … }`.
    pub(crate) fn envelope(&self) -> Value {
        let mut error = self.failure.to_json();
        if let (Some(id), Value::Object(fields)) = (&self.request_id, &mut error) {
            fields.insert("requestId".to_owned(), json!(id));
        }
        json!({ "error": error })
    }

    /// Returns the refusal for a model: what was wrong, every issue with its fix, what to do next.
    ///
    /// Says nothing that the daemon's answer does not say.
    pub(crate) fn text(&self) -> String {
        let failure = &self.failure;
        let mut text = format!("{}: {}", failure.code.as_str(), failure.message);
        for issue in self.issues() {
            text.push_str("\n- ");
            write_issue(&mut text, &issue);
        }
        if !failure.suggestion.is_empty() {
            push(&mut text, format_args!("\nTo do: {}", failure.suggestion));
        }
        match failure.retry {
            Retry::NotRetryable => {}
            Retry::RetryableImmediate => text.push_str("\nThe same call may be made again."),
            Retry::RetryableAfterMs { after_ms } => {
                push(
                    &mut text,
                    format_args!("\nThe same call may be made again in {after_ms} ms."),
                );
            }
        }
        for (name, value) in failure.details.iter().flatten() {
            if name != "issues" && name != "kind" {
                push(&mut text, format_args!("\n{name}: {value}"));
            }
        }
        text
    }

    fn issues(&self) -> Vec<Issue> {
        let listed = self.failure.details.as_ref().and_then(|details| details.get("issues"));
        listed.and_then(|issues| serde_json::from_value(issues.clone()).ok()).unwrap_or_default()
    }
}

fn write_issue(text: &mut String, issue: &Issue) {
    let place = if issue.path.is_empty() { "(root)" } else { &issue.path };
    push(text, format_args!("{place} [{}]: {}", issue.code, issue.message));
    for (label, part) in [("got", &issue.got), ("want", &issue.want), ("fix", &issue.fix)] {
        if let Some(part) = part {
            push(text, format_args!("; {label}: {part}"));
        }
    }
}

fn push(text: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = text.write_fmt(piece);
}

#[cfg(test)]
mod tests {
    use od_core::error::ErrorCode;

    use super::*;

    #[test]
    fn every_issue_comes_with_its_fix_and_nothing_is_added() {
        let issues = [
            Issue::new("/input/title", "required", "`title` is missing").fix("add `title`"),
            Issue::new("template.html:1:4", "TEMPLATE_BINDING_INVALID", "unknown path")
                .got("data.x")
                .want("data.n"),
        ];
        let refusal =
            Refusal::of_ours(Failure::validation(ErrorCode::LiveArtifactInvalid, &issues));
        assert_eq!(
            refusal.text(),
            "LIVE_ARTIFACT_INVALID: /input/title: `title` is missing (and 1 more)\n\
             - /input/title [required]: `title` is missing; fix: add `title`\n\
             - template.html:1:4 [TEMPLATE_BINDING_INVALID]: unknown path; got: data.x; want: data.n\n\
             To do: add `title`"
        );
    }

    #[test]
    fn a_locked_artifact_says_when_to_come_back_and_what_holds_it() {
        let failure = Failure::new(ErrorCode::RefreshLocked, "a refresh is running")
            .suggest("wait for it")
            .retry(Retry::RetryableAfterMs { after_ms: 500 })
            .detail("refreshId", "refresh-000002");
        let refusal = Refusal { failure: Box::new(failure), request_id: Some("r-1".to_owned()) };
        assert_eq!(
            refusal.text(),
            "REFRESH_LOCKED: a refresh is running\nTo do: wait for it\n\
             The same call may be made again in 500 ms.\nrefreshId: \"refresh-000002\""
        );
        assert_eq!(refusal.envelope()["error"]["requestId"], "r-1");
    }
}
