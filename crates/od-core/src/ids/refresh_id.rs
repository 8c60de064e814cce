//! The number of a refresh, as text.

use super::{ParseIdError, string_newtype};

/// Names one refresh of an artifact: `refresh-000001` and on, rising with every refresh.
#[derive(Clone, Debug, Eq, Hash, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefreshId(String);

string_newtype!(
    RefreshId,
    "^refresh-([0-9]{6}|[1-9][0-9]{6,15})$",
    24,
    "refresh id, rising with every refresh of its artifact"
);

/// Numbers stay exact in a double, as every integer of the contract.
const LARGEST: u64 = (1 << 53) - 1;

impl RefreshId {
    /// Makes the id of the refresh with this number; numbers past 2^53 - 1 are cut to it.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(format!("refresh-{:06}", number.min(LARGEST)))
    }

    /// Returns the number of the refresh.
    #[must_use]
    pub fn number(&self) -> u64 {
        // The constructor let only digits after the prefix; nothing is lost here.
        self.0["refresh-".len()..].bytes().fold(0, |n, b| n * 10 + u64::from(b - b'0'))
    }
}

impl std::str::FromStr for RefreshId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let number = text
            .strip_prefix("refresh-")
            .filter(|digits| digits.len() <= 16 && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse::<u64>().ok())
            .filter(|number| *number <= LARGEST);
        // One number has one spelling: ids are compared and used as folder names.
        match number.map(Self::from_number) {
            Some(id) if id.0 == text => Ok(id),
            Some(_) | None => {
                Err(ParseIdError { what: "refresh id", want: "refresh- and six or more digits" })
            }
        }
    }
}

impl Ord for RefreshId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for RefreshId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_number_has_one_spelling() {
        for bad in ["refresh-1", "refresh-0000001", "refresh-", "refresh-00000a", "Refresh-000001"]
        {
            assert!(bad.parse::<RefreshId>().is_err(), "{bad}");
        }
        assert_eq!("refresh-000007".parse::<RefreshId>().unwrap().number(), 7);
    }

    #[test]
    fn order_follows_the_number_past_six_digits() {
        assert!(RefreshId::from_number(999_999) < RefreshId::from_number(1_000_000));
    }

    proptest! {
        #[test]
        fn number_and_text_agree(number in 0..=LARGEST) {
            let id = RefreshId::from_number(number);
            prop_assert_eq!(id.number(), number);
            prop_assert_eq!(id.as_str().parse::<RefreshId>().unwrap(), id);
        }
    }
}
