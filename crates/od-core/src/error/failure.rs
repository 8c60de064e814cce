//! The neutral form of every refusal, the same through every door.

use serde_json::{Map, Value};

use super::{ErrorCode, Issue, Retry};

/// A refusal as every door tells it; written as the `error` object of the envelope.
///
/// The door adds its `requestId`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Which failure.
    pub code: ErrorCode,
    /// What went wrong, in one sentence.
    #[schemars(length(max = 4096))]
    pub message: String,
    /// What the client may do.
    pub retry: Retry,
    /// The next step that helps, derived from the rule that refused.
    #[schemars(length(max = 4096))]
    pub suggestion: String,
    /// Facts for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub details: Option<Details>,
}

/// The longest fix that is also the suggestion, in bytes: a long one is not worth its tokens twice.
const REPEATED_FIX_MAX: usize = 28;
const APPLY_FIXES: &str = "apply every fix";

/// The details of a failure: an object, its keys in the order they were added.
pub type Details = Map<String, Value>;

impl Failure {
    /// Makes a failure with the code's own retry advice; the suggestion says where to look further.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry: code.retry(),
            suggestion: look_further(code).to_owned(),
            details: None,
        }
    }

    /// Makes the failure of an input that breaks rules: every issue in the details, the first
    /// issue's fix as the suggestion.
    #[must_use]
    pub fn validation(code: ErrorCode, issues: &[Issue]) -> Self {
        let message = match issues {
            [] => code.doc().to_owned(),
            [only] => format!("{}: {}", place(only), headline(only)),
            [first, rest @ ..] => {
                format!("{}: {} (and {} more)", place(first), headline(first), rest.len())
            }
        };
        let suggestion = issues
            .iter()
            .find_map(|issue| issue.fix.clone())
            .map(|fix| if fix.len() <= REPEATED_FIX_MAX { fix } else { APPLY_FIXES.to_owned() })
            .or_else(|| issues.iter().find_map(|issue| issue.want.clone()))
            .unwrap_or_else(|| look_further(code).to_owned());
        // Strings only: writing them cannot fail.
        let listed = serde_json::to_value(issues).unwrap_or_default();
        Self::new(code, message)
            .suggest(suggestion)
            .detail("kind", "validation")
            .detail("issues", listed)
    }

    /// Replaces the suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = suggestion.into();
        self
    }

    /// Replaces the retry advice.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Adds one fact to the details.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.get_or_insert_with(Map::new).insert(key.to_owned(), value.into());
        self
    }

    /// Returns the failure as the `error` object of the envelope.
    #[must_use]
    pub fn to_json(&self) -> Value {
        // Strings, numbers and JSON only: writing them cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Returns the advice for a failure that nothing more is known of.
fn look_further(code: ErrorCode) -> &'static str {
    if code == ErrorCode::Internal {
        "`od doctor` checks this installation; the daemon's log may say more"
    } else {
        "`od help errors` says what each code means"
    }
}

/// Returns the part of an issue's message that stands for all of it: of a template's the rule.
fn headline(issue: &Issue) -> &str {
    let rule = issue.message.split_once(": ").map(|(rule, _)| rule);
    let of_template = issue.path.starts_with("template.html");
    rule.filter(|rule| of_template && !rule.contains(' ')).unwrap_or(&issue.message)
}

fn place(issue: &Issue) -> &str {
    if issue.path.is_empty() { "the document" } else { &issue.path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_that_nobody_wrote_reads_as_one_that_somebody_did() {
        for code in ErrorCode::ALL {
            for failure in [Failure::new(*code, "no"), Failure::validation(*code, &[])] {
                let suggestion = failure.suggestion;
                assert!(!suggestion.starts_with(char::is_uppercase), "{code}: {suggestion}");
                assert!(!suggestion.ends_with('.'), "{code}: {suggestion}");
            }
        }
    }

    #[test]
    fn the_suggestion_is_the_fix_of_the_rule_that_refused() {
        let issues = [
            Issue::new("/title", "too_long", "title is too long").want("at most 200"),
            Issue::new("/slug", "bad", "slug is bad").fix("use `a-b`"),
        ];
        let failure = Failure::validation(ErrorCode::LiveArtifactInvalid, &issues);
        assert_eq!(failure.suggestion, "use `a-b`");
        assert_eq!(failure.message, "/title: title is too long (and 1 more)");
    }

    #[test]
    fn a_failure_reads_back_as_it_was_written() {
        let issues = [Issue::new("/a", "c", "m").got("g").want("w").fix("f")];
        let retry = Retry::RetryableAfterMs { after_ms: 7 };
        let failure = Failure::validation(ErrorCode::LiveArtifactInvalid, &issues).retry(retry);
        assert_eq!(
            failure.to_json().to_string(),
            concat!(
                r#"{"code":"LIVE_ARTIFACT_INVALID","message":"/a: m","#,
                r#""retry":{"kind":"retryable_after_ms","afterMs":7},"suggestion":"f","#,
                r#""details":{"kind":"validation","issues":["#,
                r#"{"path":"/a","code":"c","message":"m","got":"g","want":"w","fix":"f"}]}}"#
            )
        );
        assert_eq!(serde_json::from_value::<Failure>(failure.to_json()).unwrap(), failure);
    }
}
