//! Lengths of time: `1 hr 5 min`, and how long ago something was.

use super::buffer::TextBuffer;
use super::decimal::Decimal;
use super::locale::{Locale, PluralRule};
use super::number::{Digits, write_number};

/// The unit of a number that is a length of time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DurationUnit {
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl DurationUnit {
    pub(crate) const WORDS: [(&'static str, Self); 5] = [
        ("ms", Self::Milliseconds),
        ("s", Self::Seconds),
        ("min", Self::Minutes),
        ("h", Self::Hours),
        ("d", Self::Days),
    ];

    const fn microseconds(self) -> i128 {
        match self {
            Self::Milliseconds => 1_000,
            Self::Seconds => SECOND,
            Self::Minutes => MINUTE,
            Self::Hours => HOUR,
            Self::Days => DAY,
        }
    }
}

const SECOND: i128 = 1_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

/// Writes a length of time in its two largest units: `2 days 3 hr`, `1 min 5 sec`, `2.4 sec`.
pub(crate) fn write_duration(
    mut value: Decimal,
    unit: DurationUnit,
    locale: Locale,
    out: &mut TextBuffer,
) {
    const MILLIONTHS: i32 = 6;
    value.shift(MILLIONTHS);
    let total = value.to_integer().saturating_mul(unit.microseconds()) / 10_i128.pow(6);
    let length = total.saturating_abs();
    if total < 0 {
        out.push_ascii(b'-');
    }
    let names = &locale.data().durations;
    // Each limit is where rounding reaches the next unit: 59.95 s are one minute.
    if length < 999_500 {
        let digits = if length < 9_950 { 1 } else { 0 };
        return write_one(length, 1_000, digits, names[4], locale, out);
    }
    if length < MINUTE - 50_000 {
        return write_one(length, SECOND, 1, names[3], locale, out);
    }
    if length < HOUR - SECOND / 2 {
        return write_two(length, (MINUTE, SECOND), (names[2], names[3]), locale, out);
    }
    if length < DAY - MINUTE / 2 {
        return write_two(length, (HOUR, MINUTE), (names[1], names[2]), locale, out);
    }
    write_two(length, (DAY, HOUR), (names[0], names[1]), locale, out);
}

type Names = (&'static str, &'static str);

fn write_one(
    length: i128,
    unit: i128,
    digits: u8,
    names: Names,
    locale: Locale,
    out: &mut TextBuffer,
) {
    // A unit is a power of ten of microseconds here.
    let exponent = unit.ilog10() as i32;
    let mut value = Decimal::scaled(i64::try_from(length).unwrap_or(i64::MAX), -exponent);
    value.round(i32::from(digits));
    write_number(value, Digits::up_to(digits), locale, out);
    out.push(if value == Decimal::of_integer(1) { names.0 } else { names.1 });
}

fn write_two(
    length: i128,
    units: (i128, i128),
    names: (Names, Names),
    locale: Locale,
    out: &mut TextBuffer,
) {
    let (large, small) = units;
    let smalls = (length + small / 2) / small;
    let per_large = large / small;
    write_count(smalls / per_large, names.0, locale, out);
    let rest = smalls % per_large;
    if rest > 0 {
        out.push(" ");
        write_count(rest, names.1, locale, out);
    }
}

fn write_count(count: i128, names: Names, locale: Locale, out: &mut TextBuffer) {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    write_number(Decimal::of_integer(count), Digits::exactly(0), locale, out);
    out.push(if count == 1 { names.0 } else { names.1 });
}

/// Writes how long before `now` something was, or how long after: `3 hours ago`, `in 2 days`.
///
/// The largest unit of which there is at least one, without its fraction; a month is a twelfth of a
/// year of 365.25 days.
pub(crate) fn write_since(at_ms: i64, now_ms: i64, locale: Locale, out: &mut TextBuffer) {
    const MS: [i64; 6] = [1_000, 60_000, 3_600_000, 86_400_000, 2_629_800_000, 31_557_600_000];
    let data = locale.data();
    let elapsed = now_ms.saturating_sub(at_ms);
    let length = elapsed.saturating_abs();
    let Some(unit) = MS.iter().rposition(|ms| length >= *ms) else { return out.push(data.now) };
    let count = length / MS[unit];
    let patterns = if elapsed > 0 { &data.ago } else { &data.ahead };
    let (one, others) = patterns[unit];
    let pattern = if is_one(&Decimal::of_integer(count), locale) { one } else { others };
    let (before, behind) = pattern.split_once('#').unwrap_or((pattern, ""));
    out.push(before);
    write_number(Decimal::of_integer(count), Digits::exactly(0), locale, out);
    out.push(behind);
}

/// Returns whether a number takes the singular.
pub(crate) fn is_one(value: &Decimal, locale: Locale) -> bool {
    let mut size = *value;
    size.negative = false;
    match locale.data().plural {
        PluralRule::None => false,
        PluralRule::One => size == Decimal::of_integer(1),
        PluralRule::BelowTwo => {
            size.is_zero()
                || size.magnitude() < 0
                || (size.magnitude() == 0 && size.digit_at(0) == b'1')
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn duration(value: f64, unit: DurationUnit, locale: Locale, expected: &str) {
        let mut out = TextBuffer::default();
        write_duration(Decimal::of(&json!(value)).unwrap(), unit, locale, &mut out);
        assert_eq!(out.as_str(), expected, "{value}");
    }

    #[test]
    fn durations_show_two_units_and_round_into_the_next() {
        duration(350.0, DurationUnit::Milliseconds, Locale::En, "350 ms");
        duration(1.25, DurationUnit::Milliseconds, Locale::En, "1.3 ms");
        duration(0.0, DurationUnit::Seconds, Locale::En, "0 ms");
        duration(999.6, DurationUnit::Milliseconds, Locale::En, "1 sec");
        duration(2.44, DurationUnit::Seconds, Locale::En, "2.4 sec");
        duration(59.96, DurationUnit::Seconds, Locale::En, "1 min");
        duration(192.0, DurationUnit::Seconds, Locale::En, "3 min 12 sec");
        duration(3599.6, DurationUnit::Seconds, Locale::En, "1 hr");
        duration(65.0, DurationUnit::Minutes, Locale::De, "1 Std. 5 Min.");
        duration(23.999, DurationUnit::Hours, Locale::En, "1 day");
        duration(51.0, DurationUnit::Hours, Locale::Fr, "2\u{202f}j 3\u{202f}h");
        duration(-90.0, DurationUnit::Minutes, Locale::En, "-1 hr 30 min");
        duration(1000.5, DurationUnit::Days, Locale::En, "1,000 days 12 hr");
    }

    #[test]
    fn time_since_counts_whole_units_both_ways() {
        let since = |seconds: i64, locale| {
            let mut out = TextBuffer::default();
            write_since(1_000_000_000_000 - seconds * 1000, 1_000_000_000_000, locale, &mut out);
            out.as_str().to_owned()
        };
        assert_eq!(since(0, Locale::En), "now");
        assert_eq!(since(1, Locale::En), "1 second ago");
        assert_eq!(since(59, Locale::En), "59 seconds ago");
        assert_eq!(since(3 * 3600 + 1799, Locale::En), "3 hours ago");
        assert_eq!(since(-2 * 86_400, Locale::De), "in 2 Tagen");
        assert_eq!(since(40 * 86_400, Locale::Fr), "il y a 1 mois");
        assert_eq!(since(800 * 86_400, Locale::Ja), "2 年前");
        assert_eq!(since(1 << 40, Locale::En), "34,841 years ago");
    }

    #[test]
    fn the_singular_is_the_locales() {
        let one = |value: f64, locale| is_one(&Decimal::of(&json!(value)).unwrap(), locale);
        assert!(
            one(1.0, Locale::En)
                && one(-1.0, Locale::De)
                && !one(0.0, Locale::En)
                && !one(1.5, Locale::En)
        );
        assert!(
            one(0.0, Locale::Fr)
                && one(1.9, Locale::PtBr)
                && !one(2.0, Locale::Fr)
                && one(0.05, Locale::Fr)
        );
        assert!(!one(1.0, Locale::Ja));
    }
}
