//! The count of an artifact's commits.

use std::fmt;

use super::ParseIdError;

/// Counts the commits of an artifact: 1 when created, one more with each commit.
#[derive(
    Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "u64", into = "u64")]
pub struct Revision(u64);

impl Revision {
    /// Returns the revision of a new artifact.
    #[must_use]
    pub const fn first() -> Self {
        Self(1)
    }

    /// Returns the revision of the next commit.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl schemars::JsonSchema for Revision {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Revision".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "integer",
            "minimum": 1,
            "maximum": 9007199254740991_u64,
            "description": "how many commits the artifact has had",
        })
    }
}

impl TryFrom<u64> for Revision {
    type Error = ParseIdError;
    fn try_from(number: u64) -> Result<Self, ParseIdError> {
        if (1..1 << 53).contains(&number) {
            Ok(Self(number))
        } else {
            Err(ParseIdError { what: "revision", want: "an integer from 1 to 2^53 - 1" })
        }
    }
}

impl From<Revision> for u64 {
    fn from(revision: Revision) -> Self {
        revision.0
    }
}

impl std::str::FromStr for Revision {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        text.parse::<u64>().unwrap_or(0).try_into()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_inexact_numbers_are_no_revision() {
        assert!("0".parse::<Revision>().is_err());
        assert!("9007199254740992".parse::<Revision>().is_err());
        assert!("x".parse::<Revision>().is_err());
        assert_eq!("9007199254740991".parse::<Revision>().unwrap().get(), (1 << 53) - 1);
        assert_eq!(Revision::first().next().to_string(), "2");
    }
}
