//! Formats: what a template can ask for, and what each takes.

use serde_json::Value;

use super::buffer::TextBuffer;
use super::currency::Currency;
use super::date::{DateStyle, Moment, NoMoment, UnixUnit, write_date, write_datetime, write_time};
use super::decimal::Decimal;
use super::elapsed::{DurationUnit, is_one, write_duration, write_since};
use super::locale::Locale;
use super::number::{
    Digits, Sign, write_bytes, write_compact, write_css, write_currency, write_delta, write_number,
    write_percent,
};
use super::zone::Zone;
use crate::ids::Timestamp;

/// Everything besides template and data that a page depends on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Context {
    /// The language that formats write.
    pub locale: Locale,
    /// The zone that times are shown in.
    pub zone: Zone,
    /// When the data was fetched, which `since` counts from.
    pub refreshed_at: Timestamp,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            locale: Locale::default(),
            zone: Zone::default(),
            refreshed_at: Timestamp::from_unix_ms(0),
        }
    }
}

/// A format with its arguments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    Number { digits: Option<u8> },
    Percent { digits: u8 },
    Currency { currency: Currency, digits: Option<u8> },
    Compact { digits: Option<u8> },
    Bytes { digits: u8 },
    Duration { unit: DurationUnit },
    Date { style: DateStyle, unit: Option<UnixUnit> },
    Time { seconds: bool, unit: Option<UnixUnit> },
    DateTime { style: DateStyle, unit: Option<UnixUnit> },
    Since { unit: Option<UnixUnit> },
    Delta { digits: Option<u8>, percent: bool },
    Plural { one: Box<str>, other: Box<str> },
    Count,
    Upper,
    Lower,
    Title,
    Truncate { chars: u16 },
}

/// The text of a formatted value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Formatted<'v> {
    /// It is in the buffer.
    Buffered,
    /// It is this.
    Text(&'v str),
    /// It is this in another case.
    Cased(&'v str, Case),
    /// It is this up to so many characters, with an ellipsis.
    Cut(&'v str, usize),
}

/// The cases of letters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Case {
    Upper,
    Lower,
    /// The first letter of every word in capitals.
    Title,
}

/// The reasons why a value cannot be formatted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FormatFault {
    /// A value other than a number, or a decimal text.
    #[error("takes a number")]
    NotNumber,
    /// A value that is no time.
    #[error("takes RFC 3339, a date, or a number with :s or :ms")]
    NotTime,
    /// A number whose unit the format does not say.
    #[error("takes a number of seconds with :s, of milliseconds with :ms")]
    NoUnit,
    /// A day without a time of day.
    #[error("takes a time of day, and this is a date")]
    NoTimeOfDay,
    /// A time outside the years 0000 to 9999.
    #[error("takes times of the years 0000 to 9999")]
    Range,
    /// A value other than a list or object.
    #[error("takes a list")]
    NotList,
    /// A value other than a text.
    #[error("takes a text")]
    NotText,
}

impl From<NoMoment> for FormatFault {
    fn from(fault: NoMoment) -> Self {
        match fault {
            NoMoment::NoUnit => Self::NoUnit,
            NoMoment::Text | NoMoment::Kind => Self::NotTime,
            NoMoment::Range => Self::Range,
        }
    }
}

impl Format {
    /// Formats a value that is neither missing nor null.
    pub(crate) fn apply<'v>(
        &'v self,
        value: &'v Value,
        context: &Context,
        out: &mut TextBuffer,
    ) -> Result<Formatted<'v>, FormatFault> {
        out.clear();
        let locale = context.locale;
        let number = || Decimal::of(value).ok_or(FormatFault::NotNumber);
        match self {
            Self::Number { digits } => {
                write_number(number()?, digits_or_three(*digits), locale, out);
            }
            Self::Percent { digits } => {
                write_percent(number()?, Digits::exactly(*digits), Sign::Negative, locale, out);
            }
            Self::Currency { currency, digits } => {
                write_currency(number()?, *currency, *digits, locale, out);
            }
            Self::Compact { digits } => write_compact(number()?, *digits, locale, out),
            Self::Bytes { digits } => write_bytes(number()?, *digits, locale, out),
            Self::Duration { unit } => write_duration(number()?, *unit, locale, out),
            Self::Delta { digits, percent: false } => {
                write_delta(number()?, digits_or_three(*digits), locale, out);
            }
            Self::Delta { digits, percent: true } => {
                let digits = Digits::exactly(digits.unwrap_or_default());
                write_percent(number()?, digits, Sign::ExceptZero, locale, out);
            }
            Self::Date { .. } | Self::Time { .. } | Self::DateTime { .. } | Self::Since { .. } => {
                self.write_moment(value, context, out)?;
            }
            Self::Plural { one, other } => {
                let singular = is_one(&number()?, locale);
                return Ok(Formatted::Text(if singular { one } else { other }));
            }
            Self::Count => {
                let count = match value {
                    Value::Array(items) => items.len(),
                    Value::Object(map) => map.len(),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                        return Err(FormatFault::NotList);
                    }
                };
                let count = Decimal::of_integer(i64::try_from(count).unwrap_or(i64::MAX));
                write_number(count, Digits::exactly(0), locale, out);
            }
            Self::Upper => return text(value).map(|text| Formatted::Cased(text, Case::Upper)),
            Self::Lower => return text(value).map(|text| Formatted::Cased(text, Case::Lower)),
            Self::Title => return text(value).map(|text| Formatted::Cased(text, Case::Title)),
            Self::Truncate { chars } => return cut(text(value)?, usize::from(*chars)),
        }
        Ok(Formatted::Buffered)
    }

    fn write_moment(
        &self,
        value: &Value,
        context: &Context,
        out: &mut TextBuffer,
    ) -> Result<(), FormatFault> {
        let Context { locale, zone, refreshed_at } = context;
        match self {
            Self::Date { style, unit } => {
                let (date, _) = Moment::of(value, *unit)?.in_zone(zone);
                write_date(date, *style, *locale, out);
            }
            Self::Time { seconds, unit } => {
                let (_, time) = Moment::of(value, *unit)?.in_zone(zone);
                write_time(time.ok_or(FormatFault::NoTimeOfDay)?, *seconds, *locale, out);
            }
            Self::DateTime { style, unit } => {
                let (date, time) = Moment::of(value, *unit)?.in_zone(zone);
                let time = time.ok_or(FormatFault::NoTimeOfDay)?;
                write_datetime(date, time, *style, *locale, out);
            }
            Self::Since { unit } => {
                let at = Moment::of(value, *unit)?.instant(zone).as_millisecond();
                write_since(at, refreshed_at.unix_ms(), *locale, out);
            }
            Self::Number { .. }
            | Self::Percent { .. }
            | Self::Currency { .. }
            | Self::Compact { .. }
            | Self::Bytes { .. }
            | Self::Duration { .. }
            | Self::Delta { .. }
            | Self::Plural { .. }
            | Self::Count
            | Self::Upper
            | Self::Lower
            | Self::Title
            | Self::Truncate { .. } => {}
        }
        Ok(())
    }

    /// Formats a value as CSS reads it: only numbers and percentages can be.
    pub(crate) fn apply_css(&self, value: &Value, out: &mut TextBuffer) -> Result<(), FormatFault> {
        out.clear();
        let mut number = Decimal::of(value).ok_or(FormatFault::NotNumber)?;
        if let Self::Percent { digits } = self {
            number.shift(2);
            write_css(number, Digits::exactly(*digits), out);
            out.push("%");
        } else {
            let digits = if let Self::Number { digits } = self { *digits } else { None };
            write_css(number, digits_or_three(digits), out);
        }
        Ok(())
    }

    /// Returns the format's name in templates.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Number { .. } => "number",
            Self::Percent { .. } => "percent",
            Self::Currency { .. } => "currency",
            Self::Compact { .. } => "compact",
            Self::Bytes { .. } => "bytes",
            Self::Duration { .. } => "duration",
            Self::Date { .. } => "date",
            Self::Time { .. } => "time",
            Self::DateTime { .. } => "datetime",
            Self::Since { .. } => "since",
            Self::Delta { .. } => "delta",
            Self::Plural { .. } => "plural",
            Self::Count => "count",
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Title => "title",
            Self::Truncate { .. } => "truncate",
        }
    }

    /// Returns whether the format writes numbers, and takes every one.
    pub(crate) const fn takes_numbers(&self) -> bool {
        match self {
            Self::Number { .. }
            | Self::Percent { .. }
            | Self::Currency { .. }
            | Self::Compact { .. }
            | Self::Bytes { .. }
            | Self::Duration { .. }
            | Self::Delta { .. } => true,
            Self::Date { .. }
            | Self::Time { .. }
            | Self::DateTime { .. }
            | Self::Since { .. }
            | Self::Plural { .. }
            | Self::Count
            | Self::Upper
            | Self::Lower
            | Self::Title
            | Self::Truncate { .. } => false,
        }
    }

    /// Returns whether CSS can hold what the format writes.
    pub(crate) const fn fits_css(&self) -> bool {
        matches!(self, Self::Number { .. } | Self::Percent { .. })
    }
}

/// A number without digits in its format has up to three, as `Intl` writes it.
fn digits_or_three(digits: Option<u8>) -> Digits {
    digits.map_or(Digits::up_to(3), Digits::exactly)
}

fn text(value: &Value) -> Result<&str, FormatFault> {
    value.as_str().ok_or(FormatFault::NotText)
}

fn cut(text: &str, chars: usize) -> Result<Formatted<'_>, FormatFault> {
    Ok(match text.char_indices().nth(chars) {
        Some(_) => Formatted::Cut(text, chars),
        None => Formatted::Text(text),
    })
}

impl Case {
    /// Hands the text in this case to `write`, a character at a time.
    pub(crate) fn write<E>(
        self,
        text: &str,
        mut write: impl FnMut(char) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut begins_word = true;
        for letter in text.chars() {
            let upper = match self {
                Self::Upper => true,
                Self::Lower => false,
                Self::Title if begins_word => true,
                // `McDonald` stays as it is.
                Self::Title => {
                    write(letter)?;
                    begins_word = letter.is_whitespace() || letter == '-';
                    continue;
                }
            };
            if upper {
                letter.to_uppercase().try_for_each(&mut write)?;
            } else {
                letter.to_lowercase().try_for_each(&mut write)?;
            }
            begins_word = letter.is_whitespace() || letter == '-';
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cased(text: &str, case: Case) -> String {
        let mut out = String::new();
        let _: Result<(), ()> = case.write(text, |letter| {
            out.push(letter);
            Ok(())
        });
        out
    }

    #[test]
    fn cases_follow_unicode() {
        assert_eq!(cased("straße ÄÖ ﬁ", Case::Upper), "STRASSE ÄÖ FI");
        assert_eq!(cased("ÄÖ İ", Case::Lower), "äö i\u{307}");
        assert_eq!(
            cased("in progress, well-known élan McD", Case::Title),
            "In Progress, Well-Known Élan McD"
        );
    }

    #[test]
    fn formats_take_what_they_are_for_and_nothing_else() {
        let context = Context::default();
        let mut out = TextBuffer::default();
        let mut fault = |format: &Format, value: Value| {
            format.apply(&value, &context, &mut out).map(|_| ()).unwrap_err()
        };
        let number = Format::Number { digits: None };
        for value in [json!("x"), json!(true), json!([]), json!({})] {
            assert_eq!(fault(&number, value), FormatFault::NotNumber);
        }
        let date = Format::Date { style: DateStyle::Medium, unit: None };
        assert_eq!(fault(&date, json!(1)), FormatFault::NoUnit);
        assert_eq!(fault(&date, json!("soon")), FormatFault::NotTime);
        assert_eq!(
            fault(&Format::Time { seconds: false, unit: None }, json!("2026-11-17")),
            FormatFault::NoTimeOfDay
        );
        assert_eq!(fault(&Format::Count, json!("abc")), FormatFault::NotList);
        assert_eq!(fault(&Format::Upper, json!(1)), FormatFault::NotText);
        assert_eq!(fault(&Format::Truncate { chars: 3 }, json!(null)), FormatFault::NotText);
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(cut("äöü", 3), Ok(Formatted::Text("äöü")));
        assert_eq!(cut("äöü", 2), Ok(Formatted::Cut("äöü", 2)));
    }
}
