//! Dates and times of day as a locale writes them, in a zone.

use jiff::civil;
use serde_json::Value;

use super::buffer::TextBuffer;
use super::decimal::Decimal;
use super::locale::{Locale, LocaleData, Periods};
use super::zone::Zone;
use crate::ids::Timestamp;

/// The lengths of dates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DateStyle {
    /// `11/17/26`.
    Short,
    /// `Nov 17, 2026`.
    Medium,
    /// `November 17, 2026`.
    Long,
    /// `Tuesday, November 17, 2026`.
    Full,
    /// `Nov 17`.
    Day,
    /// `November 2026`.
    Month,
    /// `Tue`.
    Weekday,
}

impl DateStyle {
    pub(crate) const WORDS: [(&'static str, Self); 7] = [
        ("short", Self::Short),
        ("medium", Self::Medium),
        ("long", Self::Long),
        ("full", Self::Full),
        ("day", Self::Day),
        ("month", Self::Month),
        ("weekday", Self::Weekday),
    ];

    const fn pattern(self, data: &LocaleData) -> &'static str {
        match self {
            Self::Short => data.date_short,
            Self::Medium => data.date_medium,
            Self::Long => data.date_long,
            Self::Full => data.date_full,
            Self::Day => data.date_day,
            Self::Month => data.date_month,
            Self::Weekday => "EEE",
        }
    }

    /// Returns what stands between the date and a time behind it.
    const fn join(self, data: &LocaleData) -> &'static str {
        match self {
            Self::Short => data.joins[0],
            Self::Medium | Self::Day | Self::Month | Self::Weekday => data.joins[1],
            Self::Long => data.joins[2],
            Self::Full => data.joins[3],
        }
    }
}

/// The unit of a number that is a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum UnixUnit {
    Seconds,
    Milliseconds,
}

/// A day, or a point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Moment {
    Day(civil::Date),
    Instant(jiff::Timestamp),
}

/// The reasons why a value is no time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoMoment {
    /// A number whose unit the format does not say.
    NoUnit,
    /// A text that is neither RFC 3339 nor a date.
    Text,
    /// A number outside the years 0000 to 9999.
    Range,
    /// Another kind of value.
    Kind,
}

impl Moment {
    /// Reads RFC 3339 (`2026-11-17T08:05:00Z`), a date (`2026-11-17`), or a number of `unit`.
    pub(crate) fn of(value: &Value, unit: Option<UnixUnit>) -> Result<Self, NoMoment> {
        match (value, unit) {
            (Value::String(text), _) => Self::parse(text).ok_or(NoMoment::Text),
            (Value::Number(_), None) => Err(NoMoment::NoUnit),
            (Value::Number(number), Some(unit)) => {
                let mut decimal = Decimal::of_number(number);
                if unit == UnixUnit::Seconds {
                    decimal.shift(3);
                }
                let ms = i64::try_from(decimal.to_integer()).map_err(|_| NoMoment::Range)?;
                // `Timestamp` knows which years there are, and moves others to the nearest.
                if Timestamp::from_unix_ms(ms).unix_ms() != ms {
                    return Err(NoMoment::Range);
                }
                jiff::Timestamp::from_millisecond(ms)
                    .map(Self::Instant)
                    .map_err(|_| NoMoment::Range)
            }
            (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_), _) => {
                Err(NoMoment::Kind)
            }
        }
    }

    /// Reads RFC 3339 or a date. By hand: jiff reads more than RFC 3339 (other separators, names of
    /// zones), and what one version reads, pages would depend on.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, len: usize| -> Option<i64> {
            let digits = bytes.get(from..from + len)?;
            digits.iter().try_fold(0, |sum, digit| {
                digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
            })
        };
        let mark =
            |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|byte| wanted.contains(byte));
        if !mark(4, b"-") || !mark(7, b"-") {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
        let date = civil::Date::new(year as i16, month as i8, day as i8).ok()?;
        if bytes.len() == 10 {
            return Some(Self::Day(date));
        }
        if !mark(10, b"Tt ") || !mark(13, b":") || !mark(16, b":") {
            return None;
        }
        let (hour, minute) = (number(11, 2)?, number(14, 2)?);
        // A leap second is shown as the one before it.
        let second = number(17, 2).filter(|second| *second <= 60)?.min(59);
        let (nanosecond, end) = fraction(bytes, 19)?;
        let offset_seconds = offset(bytes, end)?;
        let time = civil::Time::new(hour as i8, minute as i8, second as i8, nanosecond).ok()?;
        let offset = jiff::tz::Offset::from_seconds(offset_seconds).ok()?;
        offset.to_timestamp(date.to_datetime(time)).ok().map(Self::Instant)
    }

    /// Returns day and time of day in a zone; a day by itself has no time.
    pub(crate) fn in_zone(self, zone: &Zone) -> (civil::Date, Option<civil::Time>) {
        match self {
            Self::Day(date) => (date, None),
            Self::Instant(instant) => {
                let local = zone.datetime(instant);
                (local.date(), Some(local.time()))
            }
        }
    }

    /// Returns the point in time; a day begins at midnight of the zone.
    pub(crate) fn instant(self, zone: &Zone) -> jiff::Timestamp {
        match self {
            Self::Instant(instant) => instant,
            Self::Day(date) => zone.start_of_day(date),
        }
    }
}

/// Reads the fraction of a second at `at`; returns nanoseconds and where it ends.
fn fraction(bytes: &[u8], at: usize) -> Option<(i32, usize)> {
    if bytes.get(at) != Some(&b'.') {
        return Some((0, at));
    }
    let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let nanoseconds = (0..9).fold(0, |sum, place| {
        let digit = bytes[at + 1..].get(place).filter(|_| place < digits);
        sum * 10 + digit.map_or(0, |digit| i32::from(digit - b'0'))
    });
    (digits > 0).then_some((nanoseconds, at + 1 + digits))
}

/// Reads `Z` or `+01:00` from `at` to the end; returns seconds east of Greenwich.
fn offset(bytes: &[u8], at: usize) -> Option<i32> {
    let digit = |at: usize| {
        bytes.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| i32::from(byte - b'0'))
    };
    match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => Some(0),
        sign @ (b'+' | b'-') if bytes.len() == at + 6 && bytes[at + 3] == b':' => {
            let hours = digit(at + 1)? * 10 + digit(at + 2)?;
            let minutes = digit(at + 4)? * 10 + digit(at + 5)?;
            let seconds = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

/// Writes a date.
pub(crate) fn write_date(
    date: civil::Date,
    style: DateStyle,
    locale: Locale,
    out: &mut TextBuffer,
) {
    let data = locale.data();
    write_pattern(style.pattern(data), date, civil::Time::midnight(), data, out);
}

/// Writes a time of day, with seconds or without.
pub(crate) fn write_time(time: civil::Time, seconds: bool, locale: Locale, out: &mut TextBuffer) {
    let data = locale.data();
    let pattern = if seconds { data.time_medium } else { data.time_short };
    write_pattern(pattern, civil::Date::ZERO, time, data, out);
}

/// Writes a date and a time of day.
pub(crate) fn write_datetime(
    date: civil::Date,
    time: civil::Time,
    style: DateStyle,
    locale: Locale,
    out: &mut TextBuffer,
) {
    write_date(date, style, locale, out);
    out.push(style.join(locale.data()));
    write_time(time, false, locale, out);
}

/// Returns a point in time as a reader of a locale writes it, in a zone: date and time of day.
pub(crate) fn written_at(at: Timestamp, locale: Locale, zone: &Zone) -> String {
    // Every timestamp lies in the years that a moment may have.
    let Some(moment) = Moment::parse(&at.to_string()) else { return at.to_string() };
    let (date, time) = moment.in_zone(zone);
    let mut out = TextBuffer::default();
    match time {
        Some(time) => write_datetime(date, time, DateStyle::Medium, locale, &mut out),
        None => write_date(date, DateStyle::Medium, locale, &mut out),
    }
    out.as_str().to_owned()
}

/// Fills a pattern of CLDR's letters; text in single quotes stands as it is.
fn write_pattern(
    pattern: &str,
    date: civil::Date,
    time: civil::Time,
    data: &LocaleData,
    out: &mut TextBuffer,
) {
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let start = at;
        let is_mark = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'\'';
        if !is_mark(first) {
            // Whole characters: the bytes of others than ASCII are no marks.
            at += bytes[at..].iter().take_while(|byte| !is_mark(byte)).count();
            out.push(&pattern[start..at]);
            continue;
        }
        if *first == b'\'' {
            let end = pattern[at + 1..].find('\'').map_or(bytes.len(), |end| at + 1 + end);
            out.push(&pattern[at + 1..end]);
            at = end + 1;
            continue;
        }
        let run = bytes[at..].iter().take_while(|byte| *byte == first).count();
        at += run;
        match first {
            b'y' | b'M' | b'd' | b'E' => write_date_field(*first, run, date, data, out),
            b'H' | b'h' | b'm' | b's' | b'a' | b'B' => {
                write_time_field(*first, run, time, data, out);
            }
            _ => out.push(&pattern[start..at]),
        }
    }
}

fn write_date_field(
    letter: u8,
    width: usize,
    date: civil::Date,
    data: &LocaleData,
    out: &mut TextBuffer,
) {
    let year = u64::from(date.year().unsigned_abs());
    let month = usize::from(date.month().unsigned_abs());
    let weekday = || usize::from(date.weekday().to_sunday_zero_offset().unsigned_abs());
    match (letter, width) {
        (b'y', 2) => out.push_integer(year % 100, 2),
        (b'y', _) => out.push_integer(year, 1),
        (b'M', 4) => out.push(data.months_long[month - 1]),
        (b'M', 3) => out.push(data.months_short[month - 1]),
        (b'M', _) => out.push_integer(month as u64, width),
        (b'd', _) => out.push_integer(u64::from(date.day().unsigned_abs()), width),
        (_, 4) => out.push(data.weekdays_long[weekday()]),
        (_, _) => out.push(data.weekdays_short[weekday()]),
    }
}

fn write_time_field(
    letter: u8,
    width: usize,
    time: civil::Time,
    data: &LocaleData,
    out: &mut TextBuffer,
) {
    let hour = u64::from(time.hour().unsigned_abs());
    match letter {
        b'H' => out.push_integer(hour, width),
        b'h' => out.push_integer((hour + 11) % 12 + 1, width),
        b'm' => out.push_integer(u64::from(time.minute().unsigned_abs()), width),
        b's' => out.push_integer(u64::from(time.second().unsigned_abs()), width),
        _ => out.push(period(hour, data.periods)),
    }
}

fn period(hour: u64, periods: Periods) -> &'static str {
    match periods {
        Periods::None => "",
        Periods::Half(before, after) => {
            if hour < 12 {
                before
            } else {
                after
            }
        }
        Periods::Taiwan => match hour {
            0..5 => "凌晨",
            5..8 => "清晨",
            8..12 => "上午",
            12 => "中午",
            13..19 => "下午",
            _ => "晚上",
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn shown(text: &str, zone: &str, style: DateStyle, locale: Locale, expected: &str) {
        let zone: Zone = zone.parse().unwrap();
        let (date, time) = Moment::parse(text).unwrap().in_zone(&zone);
        let mut out = TextBuffer::default();
        match time {
            Some(time) => write_datetime(date, time, style, locale, &mut out),
            None => write_date(date, style, locale, &mut out),
        }
        assert_eq!(out.as_str(), expected, "{text}");
    }

    #[test]
    fn dates_are_written_as_the_locale_does() {
        shown(
            "2026-11-17T08:05:00Z",
            "UTC",
            DateStyle::Medium,
            Locale::En,
            "Nov 17, 2026, 8:05 AM",
        );
        shown(
            "2026-11-17T23:05:00Z",
            "Asia/Tokyo",
            DateStyle::Long,
            Locale::Ja,
            "2026年11月18日 8:05",
        );
        shown(
            "2026-11-17",
            "Asia/Tokyo",
            DateStyle::Full,
            Locale::De,
            "Dienstag, 17. November 2026",
        );
        shown(
            "2026-11-07T20:05:00+01:00",
            "UTC",
            DateStyle::Full,
            Locale::Es,
            "sábado, 7 de noviembre de 2026, 19:05",
        );
        shown("2026-01-05", "UTC", DateStyle::Short, Locale::Ko, "26. 1. 5.");
        shown("2026-01-05", "UTC", DateStyle::Month, Locale::PtBr, "janeiro de 2026");
        shown("2026-01-05", "UTC", DateStyle::Day, Locale::Fr, "5 janv.");
        shown("2026-01-05", "UTC", DateStyle::Weekday, Locale::Nl, "ma");
        shown("2026-01-05T00:05:00Z", "UTC", DateStyle::Short, Locale::ZhTw, "2026/1/5 凌晨12:05");
    }

    #[test]
    fn clocks_that_are_changed_show_the_hour_that_people_saw() {
        for (text, zone, expected) in [
            ("2026-03-29T00:59:59Z", "Europe/Berlin", "29.03.2026, 01:59"),
            ("2026-03-29T01:00:00Z", "Europe/Berlin", "29.03.2026, 03:00"),
            ("2026-10-25T00:30:00Z", "Europe/Berlin", "25.10.2026, 02:30"),
            ("2026-10-25T01:30:00Z", "Europe/Berlin", "25.10.2026, 02:30"),
            ("2026-03-08T06:59:00Z", "America/New_York", "08.03.2026, 01:59"),
            ("2026-03-08T07:00:00Z", "America/New_York", "08.03.2026, 03:00"),
            ("2026-04-04T15:59:00Z", "Australia/Lord_Howe", "05.04.2026, 02:29"),
            ("2026-10-03T15:30:00Z", "Australia/Lord_Howe", "04.10.2026, 02:30"),
            ("2026-06-01T12:00:00Z", "Asia/Kathmandu", "01.06.2026, 17:45"),
            ("2026-09-06T03:59:00Z", "America/Santiago", "05.09.2026, 23:59"),
            ("2026-09-06T04:00:00Z", "America/Santiago", "06.09.2026, 01:00"),
        ] {
            shown(text, zone, DateStyle::Medium, Locale::De, expected);
        }
    }

    #[test]
    fn only_rfc_3339_dates_and_numbers_with_a_unit_are_times() {
        for good in [
            "2026-11-17T08:05:00Z",
            "2026-11-17t08:05:00.123456789z",
            "2026-11-17 08:05:60+23:59",
            "0000-01-01",
            "9999-12-30T00:00:00-00:00",
        ] {
            assert!(Moment::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-02-29",
            "17.11.2026",
            "2026-11-17T08:05:00",
            "2026-11-17T08:05Z",
            "2026-11-17T24:00:00Z",
            "2026-11-17T08:05:61Z",
            "2026-11-17T08:05:00.Z",
            "2026-11-17T08:05:00+0100",
            "2026-11-17T08:05:00+24:00",
            "2026-11-17T08:05:00Z ",
            "2026-11-17T08:05:00[UTC]",
            "+026-11-17",
            "2026-11-1é",
        ] {
            assert_eq!(Moment::parse(bad), None, "{bad}");
        }
        let at = Moment::parse("2026-11-17T08:05:00Z");
        assert_eq!(Moment::of(&json!(1_794_902_700), Some(UnixUnit::Seconds)).ok(), at);
        assert_eq!(
            Moment::of(&json!(1_794_902_700_000_i64), Some(UnixUnit::Milliseconds)).ok(),
            at
        );
        assert_eq!(Moment::of(&json!(1_794_902_700), None), Err(NoMoment::NoUnit));
        assert_eq!(Moment::of(&json!(1e300), Some(UnixUnit::Seconds)), Err(NoMoment::Range));
        assert_eq!(Moment::of(&json!(true), None), Err(NoMoment::Kind));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_not(text in "[0-9TZ:+. -]{0,30}|\\PC{0,20}") {
            let _ = Moment::parse(&text);
        }
    }
}
