//! Names of the parts of an artifact: its sources, which are also tables, and its checks.

use super::{ParseIdError, string_newtype};

/// Names one source of an artifact, and the table that queries read its rows from.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct SourceId(String);

string_newtype!(
    SourceId,
    "^[a-z][a-z0-9_]{0,31}$",
    32,
    "a lower-case letter, then letters, digits and _; also the name of the table"
);

impl std::str::FromStr for SourceId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let fault = |want| Err(ParseIdError { what: "source id", want });
        let is_id = text.len() <= 32
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !is_id {
            return fault("a lower-case letter, then at most 31 of a-z 0-9 _");
        }
        if text.starts_with("sqlite_") {
            return fault("no name that begins with sqlite_, which the engine keeps for itself");
        }
        Ok(Self(text.to_owned()))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_name_that_sql_takes_without_quotes() {
        for good in ["a", "orders", "last_month", "t2"] {
            assert!(good.parse::<SourceId>().is_ok(), "{good}");
        }
        let long = "a".repeat(33);
        for bad in ["", "A", "2a", "_a", "a-b", "a.b", "a b", "sqlite_master", "é", &long] {
            assert!(bad.parse::<SourceId>().is_err(), "{bad}");
        }
    }
}
