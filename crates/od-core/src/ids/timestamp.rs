//! Points in time, to the millisecond, in UTC.

use std::fmt;

use super::ParseIdError;

/// A point in time: RFC 3339, UTC, milliseconds (`2026-04-30T00:00:00.000Z`), years 0000 to 9999 (two days
/// before its end, where jiff's range ends).
///
/// Reading accepts any number of fraction digits up to nine and keeps three.
#[derive(
    Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

const FIRST_MS: i64 = -62_167_219_200_000;
const LAST_MS: i64 = 253_402_127_999_999;

impl Timestamp {
    /// Makes the time so many milliseconds after 1970; times outside the years 0000 to 9999 are
    /// moved to the nearest that is inside.
    #[must_use]
    pub fn from_unix_ms(ms: i64) -> Self {
        Self(ms.clamp(FIRST_MS, LAST_MS))
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub const fn unix_ms(self) -> i64 {
        self.0
    }

    /// Returns the time so many milliseconds later.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self::from_unix_ms(self.0.saturating_add_unsigned(ms))
    }

    /// Returns how many milliseconds lie between `earlier` and this time, 0 if it is not earlier.
    #[must_use]
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let error = ParseIdError {
            what: "timestamp",
            want: "RFC 3339 in UTC with milliseconds, such as 2026-04-30T00:00:00.000Z",
        };
        // jiff reads more than RFC 3339 (other separators, zone names): the shape comes first.
        if !has_shape(text.as_bytes()) {
            return Err(error);
        }
        let ms = text
            .parse::<jiff::Timestamp>()
            .ok()
            .and_then(|time| i64::try_from(time.as_nanosecond().div_euclid(1_000_000)).ok());
        match ms {
            Some(ms) if (FIRST_MS..=LAST_MS).contains(&ms) => Ok(Self(ms)),
            Some(_) | None => Err(error),
        }
    }
}

/// Checks `YYYY-MM-DDTHH:MM:SS`, an optional fraction, and `Z`.
fn has_shape(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let Some((head, rest)) = text.split_at_checked(SHAPE.len()) else { return false };
    let head_fits = head
        .iter()
        .zip(SHAPE)
        .all(|(b, shape)| if *shape == b'0' { b.is_ascii_digit() } else { b == shape });
    let rest_fits = match rest {
        b"Z" => true,
        [b'.', digits @ .., b'Z'] => {
            (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    head_fits && rest_fits
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both constructors keep the value inside jiff's range, so the fallback is never printed.
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        write!(f, "{time:.3}")
    }
}

impl TryFrom<String> for Timestamp {
    type Error = ParseIdError;
    fn try_from(text: String) -> Result<Self, ParseIdError> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "date-time",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$",
            "maxLength": 30,
            "description": "RFC 3339 time in UTC; written with milliseconds",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_written_form_has_milliseconds_and_z() {
        assert_eq!(Timestamp::from_unix_ms(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_unix_ms(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_unix_ms(i64::MAX).to_string(), "9999-12-29T23:59:59.999Z");
        assert_eq!(Timestamp::from_unix_ms(i64::MIN).to_string(), "0000-01-01T00:00:00.000Z");
    }

    #[test]
    fn other_spellings_and_impossible_dates_are_refused() {
        for bad in [
            "",
            "2026-04-30",
            "2026-04-30 00:00:00Z",
            "2026-04-30T00:00:00",
            "2026-04-30T00:00:00+00:00",
            "2026-04-30T00:00:00.Z",
            "2026-04-30T00:00:00z",
            "2026-02-30T00:00:00Z",
            "2026-04-30T25:00:00Z",
            "2026-04-30T00:00:00Z[UTC]",
            "+02026-04-30T00:00:00Z",
        ] {
            assert!(bad.parse::<Timestamp>().is_err(), "{bad:?}");
        }
        let read = "2026-04-30T01:02:03.987654321Z".parse::<Timestamp>().unwrap();
        assert_eq!(read.to_string(), "2026-04-30T01:02:03.987Z");
    }

    #[test]
    fn a_clock_that_went_back_gives_no_negative_duration() {
        let early = Timestamp::from_unix_ms(5);
        let late = Timestamp::from_unix_ms(9);
        assert_eq!(late.ms_since(early), 4);
        assert_eq!(early.ms_since(late), 0);
    }

    proptest! {
        #[test]
        fn printing_and_parsing_a_time_is_identity(ms in FIRST_MS..=LAST_MS) {
            let time = Timestamp::from_unix_ms(ms);
            prop_assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
    }
}
