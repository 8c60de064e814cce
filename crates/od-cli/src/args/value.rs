//! Whether a word is what a flag or an argument takes.

use std::ffi::OsStr;

use super::nearest::nearest;
use super::usage_error::{UsageError, VerbRef};
use super::verb::{Value, Verb};

/// Refuses a word that is not of the kind, with what would be.
pub(super) fn check_value(
    name: &str,
    kind: Value,
    value: &OsStr,
    verb: &'static Verb,
) -> Result<(), UsageError> {
    let text = value.to_str();
    let (good, want) = match kind {
        Value::File | Value::Directory => (!value.is_empty(), "a path".to_owned()),
        Value::Text => (text.is_some_and(|text| !text.is_empty()), "some text".to_owned()),
        Value::Number => {
            (text.is_some_and(|text| text.parse::<u64>().is_ok()), "a whole number".to_owned())
        }
        Value::Port => {
            (text.is_some_and(|text| text.parse::<u16>().is_ok()), "a port, 0 to 65535".to_owned())
        }
        Value::Choice(words) => {
            (text.is_some_and(|text| words.contains(&text)), format!("one of {}", words.join(", ")))
        }
    };
    if good {
        return Ok(());
    }
    let shown = value.display();
    let meant = match kind {
        Value::Choice(words) => nearest(&shown.to_string(), words.iter().copied()),
        Value::File | Value::Directory | Value::Text | Value::Number | Value::Port => None,
    };
    Err(UsageError::Value {
        problem: format!("`{name}` takes {want}, got `{shown}`"),
        verb: Some(VerbRef(verb)),
        fix: meant.map(|word| format!("did you mean `{word}`?")),
    })
}
