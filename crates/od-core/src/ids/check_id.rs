//! The names of checks.

use super::{ParseIdError, string_newtype};

/// Names one check of an artifact.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct CheckId(String);

string_newtype!(
    CheckId,
    "^[a-z][a-z0-9-]{0,31}$",
    32,
    "a lower-case letter, then letters, digits and -"
);

impl std::str::FromStr for CheckId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let is_id = text.len() <= 32
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if is_id {
            Ok(Self(text.to_owned()))
        } else {
            let want = "a lower-case letter, then at most 31 of a-z 0-9 -";
            Err(ParseIdError { what: "check id", want })
        }
    }
}
