//! The output of a connector as it leaves it: without secrets, without credentials, within bounds, and no error in
//! disguise.

use super::disguise::disguised_error;
use crate::credential::{REDACTED, Scrubber, is_sensitive_key, redact_text};
use crate::error::ErrorCode;
use crate::json::{BoundedJson, JsonFaults, Value, is_denied_key};

/// A connector's output as agents and files may see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Protected {
    /// The output.
    pub output: BoundedJson,
    /// The number of values that were replaced or left out.
    pub redactions: usize,
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
    /// It holds what JSON of ours may not hold.
    #[error("the output is not acceptable JSON: {faults}")]
    Unacceptable {
        /// The faults of what it holds.
        faults: JsonFaults,
    },
    /// It tells of an error.
    #[error("the connector answered with an error: {message}")]
    ErrorAsData {
        /// The message of the error, protected like the output.
        message: String,
    },
}

impl ProtectError {
    /// Returns the code of the refusal.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TooLarge { .. } => ErrorCode::ConnectorOutputTooLarge,
            Self::Unacceptable { .. } | Self::ErrorAsData { .. } => {
                ErrorCode::ConnectorExecutionFailed
            }
        }
    }
}

/// Protects a connector's output: scrubs the secrets the daemon holds, leaves out keys that are
/// never stored, redacts keys and values that look like credentials, finds errors dressed as data,
/// and applies the limits.
///
/// # Errors
///
/// Fails if the output tells of an error, or does not fit the limits.
pub fn protect_output(mut output: Value, secrets: &Scrubber) -> Result<Protected, ProtectError> {
    let redactions = secrets.scrub_json(&mut output) + redact(&mut output, 0);
    if let Some(message) = disguised_error(&output) {
        return Err(ProtectError::ErrorAsData { message });
    }
    match BoundedJson::check(output) {
        Ok(output) => Ok(Protected { output, redactions }),
        Err(faults) if faults.faults().iter().any(|fault| fault.kind.is_size()) => {
            Err(ProtectError::TooLarge { faults })
        }
        Err(faults) => Err(ProtectError::Unacceptable { faults }),
    }
}

/// Protects a text a connector gave, such as an error message.
#[must_use]
pub fn protect_text(text: &str, secrets: &Scrubber) -> String {
    let scrubbed = secrets.scrub_text(text).unwrap_or_else(|| text.to_owned());
    redact_text(&scrubbed).into_owned()
}

/// Redacts in place, as deep as output may be; what is deeper is refused afterwards.
fn redact(value: &mut Value, depth: usize) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => {
            let redacted = redact_text(text);
            if redacted == text.as_str() {
                return 0;
            }
            *text = redacted.into_owned();
            1
        }
        Value::Array(_) | Value::Object(_) if depth > crate::limits::JSON_DEPTH.max() => 0,
        Value::Array(items) => items.iter_mut().map(|item| redact(item, depth + 1)).sum(),
        Value::Object(map) => {
            let before = map.len();
            map.retain(|key, _| !is_denied_key(key) && redact_text(key) == key.as_str());
            let mut count = before - map.len();
            for (key, item) in map.iter_mut() {
                if is_sensitive_key(key) {
                    count += usize::from(*item != REDACTED);
                    *item = REDACTED.into();
                } else {
                    count += redact(item, depth + 1);
                }
            }
            count
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn protect(value: Value) -> Result<Value, ProtectError> {
        protect_output(value, &Scrubber::new(["s3cr3t-value"]))
            .map(|protected| protected.output.into_value())
    }

    #[test]
    fn secrets_keys_and_values_are_taken_out() {
        let link = ["https://u", ":p@host/x"].concat();
        let value = json!({
            "items": [{ "name": "a s3cr3t-value b", "body": "long", "page_token": "abc", "n": 1 }],
            "link": link,
        });
        assert_eq!(
            protect(value).unwrap(),
            json!({
                "items": [{ "name": "a [redacted] b", "page_token": "[redacted]", "n": 1 }],
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
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(s3cr3t-value|sk-a1|[a-z ]{0,8}){0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let key = "(to_ken|body|id_token|secretary|[a-z]{1,5})";
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
                let again = protect_output(once.clone(), &Scrubber::new(["s3cr3t-value"])).unwrap();
                prop_assert_eq!(again.redactions, 0);
                prop_assert_eq!(again.output.value(), &once);
                prop_assert!(!once.to_string().contains("s3cr3t-value"));
            }
        }
    }
}
