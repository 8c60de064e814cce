//! A refused call as text for a model.

use std::fmt::Write as _;

use od_core::error::{Failure, Issue, Retry};

/// Writes a refusal for a model: what was wrong, every issue with its fix, what to do next.
///
/// Says nothing that the daemon's answer does not say.
pub(crate) fn refusal_text(failure: &Failure) -> String {
    let mut text = format!("{}: {}", failure.code.as_str(), failure.message);
    let listed = failure.details.as_ref().and_then(|details| details.get("issues"));
    let issues: Vec<Issue> =
        listed.and_then(|issues| serde_json::from_value(issues.clone()).ok()).unwrap_or_default();
    for issue in &issues {
        text.push_str("\n- ");
        write_issue(&mut text, issue);
    }
    if !failure.suggestion.is_empty() {
        push(&mut text, format_args!("\nTo do: {}", failure.suggestion));
    }
    match failure.retry {
        Retry::NotRetryable => {}
        Retry::RetryableImmediate => text.push_str("\nThe same call may be made again."),
        Retry::RetryableAfterMs { after_ms } => {
            push(&mut text, format_args!("\nThe same call may be made again in {after_ms} ms."));
        }
    }
    for (name, value) in failure.details.iter().flatten() {
        if name != "issues" && name != "kind" {
            push(&mut text, format_args!("\n{name}: {value}"));
        }
    }
    text
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
        assert_eq!(
            refusal_text(&Failure::validation(ErrorCode::LiveArtifactInvalid, &issues)),
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
        assert_eq!(
            refusal_text(&failure),
            "REFRESH_LOCKED: a refresh is running\nTo do: wait for it\n\
             The same call may be made again in 500 ms.\nrefreshId: \"refresh-000002\""
        );
    }
}
