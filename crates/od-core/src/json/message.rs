//! Messages: requests and answers, whose parts are checked by their own rules.

use super::check::Rules;
use super::fault::JsonFaults;
use super::scanner::{scan, scan_past_faults};
use super::{Map, Value};
use crate::error::Issue;
use crate::limits;

/// The limits of what travels: as strict about JSON itself, bounded by the request; the parts inside
/// are checked by their own rules, with their own names.
pub(super) const MESSAGE: Rules = Rules {
    depth: limits::MESSAGE_DEPTH,
    keys: limits::MESSAGE_KEYS,
    items: limits::MESSAGE_ITEMS,
    string: limits::MESSAGE_STRING,
    document: limits::MESSAGE_DOCUMENT,
    denies_keys: false,
};

/// Reads a message (a request, an answer, a file of ours) as strictly as bounded JSON, under the
/// larger limits of a message; the parts that are stored are checked by their own rules.
///
/// Duplicate keys, NUL, lone surrogates and inexact numbers are refused here, where the bytes still
/// show them; doubles are read exactly, which `serde_json` does not do by default.
///
/// # Errors
///
/// As [`super::BoundedJson::parse`].
pub fn parse_message(bytes: &[u8]) -> Result<Value, JsonFaults> {
    scan(bytes, &MESSAGE).map(|(value, _)| value)
}

/// A message and what only its bytes show to be wrong with it, so that this is told together with
/// what its readers find.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    value: Value,
    faults: JsonFaults,
    /// Bytes that it was read from.
    size: usize,
}

impl Message {
    /// Reads a message past its faults; a stand-in takes the place of what is at fault.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, which stops the reading, or is larger than any message.
    pub fn read(bytes: &[u8]) -> Result<Self, JsonFaults> {
        let (value, faults) = scan_past_faults(bytes, &MESSAGE)?;
        Ok(Self { value, faults, size: bytes.len() })
    }

    /// Returns what the message says.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Returns how many bytes it was read from; 0 if it was made from a value.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns whether its bytes are as they should be.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Returns the members, if the message is an object.
    pub fn object_mut(&mut self) -> Option<&mut Map> {
        self.value.as_object_mut()
    }

    /// Returns everything that is wrong: with the message, then with what it says. At most 20, and
    /// nothing twice: what a reader says of a stand-in is no fault of the author.
    #[must_use]
    pub fn report(&self, found: Vec<Issue>) -> Vec<Issue> {
        let mut issues = self.faults.issues("");
        let of_bytes = issues.len();
        for issue in found {
            if issues[..of_bytes].iter().all(|fault| fault.path != issue.path) {
                issues.push(issue);
            }
        }
        issues.truncate(limits::JSON_FAULTS.max());
        issues
    }
}

impl From<Value> for Message {
    fn from(value: Value) -> Self {
        Self { value, faults: JsonFaults::default(), size: 0 }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_of_the_bytes_hides_nothing_after_it() {
        let text =
            r#"{"n":9007199254740993,"a":1,"a":2,"s":"x\u0000y","u":"\ud800","t":true,"d":[1]}"#;
        let message = Message::read(text.as_bytes()).unwrap();
        assert!(!message.is_sound());
        let want =
            json!({ "n": 0, "a": 2, "s": "x\u{fffd}y", "u": "\u{fffd}", "t": true, "d": [1] });
        assert_eq!(*message.value(), want);
        let issues = message.report(vec![
            Issue::new("/n", "wrong_type", "said of the stand-in"),
            Issue::new("/t", "wrong_type", "must be a string"),
        ]);
        let found: Vec<_> = issues.iter().map(|i| (i.path.as_str(), i.code.as_str())).collect();
        assert_eq!(
            found,
            [
                ("/n", "inexact_number"),
                ("/a", "duplicate_key"),
                ("/s", "nul_character"),
                ("/u", "lone_surrogate"),
                ("/t", "wrong_type"),
            ]
        );
        assert!(parse_message(text.as_bytes()).is_err());
    }

    #[test]
    fn what_is_not_json_stops_the_reading() {
        assert!(Message::read(br#"{"n":9007199254740993,"#).unwrap_err().is_syntax());
    }

    #[test]
    fn a_report_is_bounded() {
        let message = Message::read(b"{\"n\":1e999}").unwrap();
        let many = (0..30).map(|i| Issue::new(format!("/{i}"), "x", "y")).collect();
        let report = message.report(many);
        assert_eq!((report.len(), report[0].code.as_str()), (20, "inexact_number"));
    }
}
