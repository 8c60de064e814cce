//! Lengths of time as people write them: `15m`, `1h30m`, `7d`.

use std::fmt;
use std::str::FromStr;

use crate::limits;

const MINUTE_MS: u64 = 60_000;
const UNITS: [(char, u64); 3] = [('d', 1_440), ('h', 60), ('m', 1)];

/// A length of time in whole minutes, from one minute to a year.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Interval {
    minutes: u64,
}

/// A text that is no interval.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct IntervalFault {
    /// The rule it breaks.
    pub message: String,
    /// The interval that was probably meant.
    pub fix: Option<String>,
}

impl Interval {
    /// The shape of an interval, for refusals.
    pub const WANT: &'static str =
        "a number of minutes, hours or days, such as 15m, 2h, 1h30m or 1d";

    /// Makes the interval of so many milliseconds, rounded up to whole minutes and kept in range.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        let minutes = ms.div_ceil(MINUTE_MS);
        let most = limits::INTERVAL.allowed / MINUTE_MS;
        Self {
            minutes: if minutes == 0 {
                1
            } else if minutes > most {
                most
            } else {
                minutes
            },
        }
    }

    /// Returns its milliseconds.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.minutes * MINUTE_MS
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.minutes;
        for (unit, minutes) in UNITS {
            if rest >= minutes {
                write!(f, "{}{unit}", rest / minutes)?;
                rest %= minutes;
            }
        }
        Ok(())
    }
}

impl FromStr for Interval {
    type Err = IntervalFault;

    fn from_str(text: &str) -> Result<Self, IntervalFault> {
        let fault = |message: &str, fix: Option<Self>| IntervalFault {
            message: message.to_owned(),
            fix: fix.map(|fix| fix.to_string()),
        };
        let Some(minutes) = strict_minutes(text) else {
            return Err(fault("is no length of time", meant(text)));
        };
        match minutes {
            0 => Err(fault("is shorter than a minute", Some(Self { minutes: 1 }))),
            minutes if minutes.saturating_mul(MINUTE_MS) > limits::INTERVAL.allowed => {
                Err(fault("is longer than a year", Some(Self::from_ms(u64::MAX))))
            }
            minutes => Ok(Self { minutes }),
        }
    }
}

/// Reads numbers with units that fall: days, hours, minutes.
fn strict_minutes(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total = 0_u64;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let unit = rest.get(digits..)?.chars().next()?;
        let (_, minutes) = units.find(|(known, _)| *known == unit)?;
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        total = total.checked_add(number.checked_mul(*minutes)?)?;
        rest = rest.get(digits + 1..)?;
    }
    (!text.is_empty()).then_some(total)
}

/// Guesses the interval that a text of another shape means: `15`, `90s`, `15 minutes`, `PT1H`.
fn meant(text: &str) -> Option<Interval> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_start_matches("every").trim_start();
    let text = text.strip_prefix("pt").unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let seconds = match text.get(digits..)?.trim_start().chars().next() {
        Some('s') => 1,
        None | Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 86_400,
        Some('w') => 604_800,
        Some(_) => return None,
    };
    Some(Interval::from_ms(number.checked_mul(seconds)?.checked_mul(1_000)?))
}

impl TryFrom<String> for Interval {
    type Error = IntervalFault;
    fn try_from(text: String) -> Result<Self, IntervalFault> {
        text.parse()
    }
}

impl serde::Serialize for Interval {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Interval {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Interval {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Interval".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": 64,
            "pattern": "^([0-9]+d)?([0-9]+h)?([0-9]+m)?$",
            "description": "a length of time such as 15m, 2h, 1h30m or 1d",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_shapes_are_refused_with_what_was_meant() {
        for (text, fix) in [
            ("15", Some("15m")),
            ("15min", Some("15m")),
            ("30 s", Some("1m")),
            ("1 week", Some("7d")),
            ("PT1H", Some("1h")),
            ("every 2 hours", Some("2h")),
            ("0m", Some("1m")),
            ("400d", Some("366d")),
            ("30m2h", Some("30m")),
            ("soon", None),
            ("", None),
            ("m", None),
            ("99999999999999999999d", None),
        ] {
            let fault = text.parse::<Interval>().unwrap_err();
            assert_eq!(fault.fix.as_deref(), fix, "{text}");
        }
        assert_eq!("90m".parse::<Interval>().unwrap().to_string(), "1h30m");
    }

    proptest! {
        #[test]
        fn printing_and_parsing_an_interval_is_identity(minutes in 1_u64..=366 * 1_440) {
            let interval = Interval { minutes };
            prop_assert_eq!(interval.to_string().parse::<Interval>().unwrap(), interval);
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<Interval>();
        }
    }
}
