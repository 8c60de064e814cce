//! Cron expressions: five fields, no extensions but names of months and weekdays.
//!
//! Written here rather than taken from a crate: the grammar is small and closed, refusals name the text
//! that was meant, and the zones are those of the program's own database, which crates on jiff look up
//! for themselves.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};

use crate::error::nearest_name;

/// A cron expression: minute, hour, day of the month, month, weekday.
///
/// A day fits if both day fields fit; if both are restricted, if one of them does, as in every cron.
#[derive(Clone, Eq, PartialEq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
}

/// A text that is no cron expression.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CronFault {
    /// The rule it breaks.
    pub message: String,
    /// The expression that was probably meant.
    pub fix: Option<String>,
}

/// One field: its name, its values, and the names that stand for some of them.
struct Field {
    name: &'static str,
    first: u8,
    last: u8,
    names: &'static [&'static str],
}

const MONTHS: &[&str] =
    &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIELDS: [Field; 5] = [
    Field { name: "minute", first: 0, last: 59, names: &[] },
    Field { name: "hour", first: 0, last: 23, names: &[] },
    Field { name: "day", first: 1, last: 31, names: &[] },
    Field { name: "month", first: 1, last: 12, names: MONTHS },
    // Both 0 and 7 are Sunday.
    Field { name: "weekday", first: 0, last: 7, names: WEEKDAYS },
];
const SHORTHANDS: [(&str, &str); 6] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
];
/// The days that are looked through for the next one that fits: 29 February comes after at most eight
/// years.
const SEARCHED_DAYS: u32 = 9 * 366;
const MINUTE_MS: u64 = 60_000;

impl Cron {
    /// The shape of an expression, for refusals.
    pub const WANT: &'static str =
        "five fields: minute hour day month weekday, such as `0 9 * * 1-5`";

    /// Returns whether it says nothing of the hour: then it goes by the time that passes, and is not
    /// held to run once where an hour of the clock comes twice.
    #[must_use]
    pub(super) const fn has_any_hour(&self) -> bool {
        self.hours == 0xff_ffff
    }

    /// Returns the least time between two of its minutes.
    #[must_use]
    pub const fn shortest_gap_ms(&self) -> u64 {
        let mut least = 60;
        let (mut first, mut last) = (None, None);
        let mut minute = 0_u64;
        while minute < 60 {
            if self.minutes >> minute & 1 == 1 {
                match last {
                    Some(before) => least = min(least, minute - before),
                    None => first = Some(minute),
                }
                last = Some(minute);
            }
            minute += 1;
        }
        // The last minute of an hour and the first of the next, if both hours fit.
        let hours = self.hours & 0xff_ffff;
        let follows = hours & (hours >> 1 | (hours & 1) << 23) != 0;
        if let (Some(first), Some(last), true) = (first, last, follows) {
            least = min(least, 60 - last + first);
        }
        least * MINUTE_MS
    }

    /// Returns the first minute at or after a time of the clock that fits, before `until`.
    pub(super) fn first_from(&self, from: DateTime, until: Option<DateTime>) -> Option<DateTime> {
        let mut date = from.date();
        let mut time = ceil_minute(from);
        for _ in 0..SEARCHED_DAYS {
            if until.is_some_and(|until| date > until.date()) {
                return None;
            }
            if let Some(found) = time.filter(|_| self.fits_day(date))
                && let Some((hour, minute)) = self.first_time(found)
            {
                let found = at(date, hour, minute);
                return until.is_none_or(|until| found < until).then_some(found);
            }
            date = date.tomorrow().ok()?;
            time = Some((0, 0));
        }
        None
    }

    /// Returns the last minute at or before a time of the clock that fits, not before `from`.
    pub(super) fn last_until(&self, until: DateTime, from: Option<DateTime>) -> Option<DateTime> {
        let mut date = until.date();
        let mut time = (until.hour(), until.minute());
        for _ in 0..SEARCHED_DAYS {
            if from.is_some_and(|from| date < from.date()) {
                return None;
            }
            if self.fits_day(date)
                && let Some((hour, minute)) = self.last_time(time)
            {
                let found = at(date, hour, minute);
                return from.is_none_or(|from| found >= from).then_some(found);
            }
            date = date.yesterday().ok()?;
            time = (23, 59);
        }
        None
    }

    fn fits_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        let is_restricted = |mask: u64, all: u64| mask & all != all;
        let any_of_both =
            is_restricted(self.days, 0xffff_fffe) && is_restricted(self.weekdays, 0x7f);
        has(self.months, date.month()) && if any_of_both { day || weekday } else { day && weekday }
    }

    fn first_time(&self, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        let here = has(self.hours, hour).then(|| first_at_or_above(self.minutes, minute)).flatten();
        here.map(|minute| (hour, minute)).or_else(|| {
            Some((first_at_or_above(self.hours, hour + 1)?, first_at_or_above(self.minutes, 0)?))
        })
    }

    fn last_time(&self, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        let here = has(self.hours, hour).then(|| last_at_or_below(self.minutes, minute)).flatten();
        here.map(|minute| (hour, minute)).or_else(|| {
            Some((last_at_or_below(self.hours, hour - 1)?, last_at_or_below(self.minutes, 59)?))
        })
    }

    fn ever_fits(&self) -> bool {
        // A leap year and the days of its months; a weekday alone always comes.
        let start = Date::constant(2024, 1, 1);
        let mut date = start;
        for _ in 0..366 {
            if self.fits_day(date) {
                return true;
            }
            match date.tomorrow() {
                Ok(next) => date = next,
                Err(_) => return false,
            }
        }
        false
    }
}

const fn min(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

fn at(date: Date, hour: i8, minute: i8) -> DateTime {
    // Both come out of masks that hold hours and minutes only.
    date.to_datetime(Time::new(hour, minute, 0, 0).unwrap_or_default())
}

/// Returns the hour and minute of the first whole minute at or after a time; none if that is tomorrow.
fn ceil_minute(time: DateTime) -> Option<(i8, i8)> {
    let (hour, minute) = (time.hour(), time.minute());
    if time.second() == 0 && time.subsec_nanosecond() == 0 {
        return Some((hour, minute));
    }
    match (hour, minute) {
        (23, 59) => None,
        (hour, 59) => Some((hour + 1, 0)),
        (hour, minute) => Some((hour, minute + 1)),
    }
}

fn has(mask: u64, value: i8) -> bool {
    u32::try_from(value).is_ok_and(|value| value < 64 && mask >> value & 1 == 1)
}

fn first_at_or_above(mask: u64, value: i8) -> Option<i8> {
    let shift = u32::try_from(value).ok().filter(|shift| *shift < 64)?;
    let above = mask >> shift << shift;
    (above != 0).then(|| i8::try_from(above.trailing_zeros()).ok()).flatten()
}

fn last_at_or_below(mask: u64, value: i8) -> Option<i8> {
    let bits = u32::try_from(value).ok()?;
    let below = if bits >= 63 { mask } else { mask & ((1 << (bits + 1)) - 1) };
    (below != 0).then(|| i8::try_from(63 - below.leading_zeros()).ok()).flatten()
}

impl FromStr for Cron {
    type Err = CronFault;

    fn from_str(text: &str) -> Result<Self, CronFault> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if let [word] = words[..]
            && word.starts_with('@')
        {
            let names = SHORTHANDS.iter().map(|(name, _)| *name);
            let known = nearest_name(word, names);
            let meant = SHORTHANDS.iter().find(|(name, _)| Some(*name) == known);
            return Err(CronFault {
                message: "is a shorthand; write out its five fields".to_owned(),
                fix: meant.map(|(_, meant)| (*meant).to_owned()),
            });
        }
        let Ok([minutes, hours, days, months, weekdays]) = <[&str; 5]>::try_from(words.clone())
        else {
            return Err(count_fault(&words));
        };
        let given = [minutes, hours, days, months, weekdays];
        let mut masks = [0_u64; 5];
        for (index, (field, word)) in FIELDS.iter().zip(given).enumerate() {
            masks[index] = field.parse(word).map_err(|(message, meant)| CronFault {
                message: format!("the field {} {message}", field.name),
                fix: meant.map(|meant| {
                    let mut fixed = given.map(str::to_owned);
                    fixed[index] = meant;
                    fixed.join(" ")
                }),
            })?;
        }
        let [minutes, hours, days, months, weekdays] = masks;
        let weekdays = (weekdays | weekdays >> 7) & 0x7f;
        let cron = Self { text: given.join(" "), minutes, hours, days, months, weekdays };
        if cron.ever_fits() {
            Ok(cron)
        } else {
            Err(CronFault { message: "names a day that no month of it has".to_owned(), fix: None })
        }
    }
}

fn count_fault(words: &[&str]) -> CronFault {
    let message = format!("has {} fields; a cron expression has five", words.len());
    let fix = match words.len() {
        3 | 4 => {
            let mut fields = words.to_vec();
            fields.resize(5, "*");
            Some(fields.join(" "))
        }
        // Six fields begin with seconds where there are any.
        6 => words.get(1..).map(|fields| fields.join(" ")),
        _ => None,
    };
    CronFault { message, fix: fix.filter(|fix| fix.parse::<Cron>().is_ok()) }
}

impl Field {
    /// Reads a field as a set of its values, or says what is wrong and what was meant.
    fn parse(&self, word: &str) -> Result<u64, (String, Option<String>)> {
        let mut mask = 0;
        for part in word.split(',') {
            mask |= self.parse_part(part).map_err(|(message, meant)| {
                (message, meant.map(|meant| word.replacen(part, &meant, 1)))
            })?;
        }
        Ok(mask)
    }

    fn parse_part(&self, part: &str) -> Result<u64, (String, Option<String>)> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => {
                let step: u8 = step.parse().ok().filter(|step| *step > 0).ok_or_else(|| {
                    (
                        format!("has the step `{step}`, which is no number above 0"),
                        Some(range.to_owned()),
                    )
                })?;
                (range, Some(step))
            }
            None => (part, None),
        };
        let (first, last) = match (range, range.split_once('-')) {
            ("*", _) => (self.first, if self.last == 7 { 6 } else { self.last }),
            (_, Some((first, last))) => {
                let rename = |old: &str, new: String| range.replacen(old, &new, 1);
                let low =
                    self.value(first).map_err(|(m, fix)| (m, fix.map(|fix| rename(first, fix))))?;
                let high =
                    self.value(last).map_err(|(m, fix)| (m, fix.map(|fix| rename(last, fix))))?;
                if low > high {
                    let meant = format!("{low}-{},{}-{high}", self.last, self.first);
                    return Err((
                        format!("has the range {range}, which goes backwards"),
                        Some(meant),
                    ));
                }
                (low, high)
            }
            (_, None) => {
                let value = self.value(range)?;
                // `5/15` is every fifteenth from the fifth on, as in every cron.
                (value, if step.is_some() { self.last } else { value })
            }
        };
        let step = usize::from(step.unwrap_or(1));
        Ok((first..=last).step_by(step).fold(0, |mask, value| mask | 1 << value))
    }

    fn value(&self, word: &str) -> Result<u8, (String, Option<String>)> {
        if let Ok(number) = word.parse::<u8>() {
            if (self.first..=self.last).contains(&number) {
                return Ok(number);
            }
            let message = format!("has {number}; it goes from {} to {}", self.first, self.last);
            return Err((message, Some(number.clamp(self.first, self.last).to_string())));
        }
        let upper = word.to_ascii_uppercase();
        if let Some(at) = self.names.iter().position(|name| *name == upper)
            && let Ok(at) = u8::try_from(at)
        {
            return Ok(at + self.first);
        }
        let meant = nearest_name(word, self.names.iter().copied()).map(str::to_owned);
        let shown: String = word.chars().filter(|c| !c.is_control()).take(20).collect();
        Err((format!("has `{shown}`, which is none of its values"), meant))
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cron").field(&self.text).finish()
    }
}

impl serde::Serialize for Cron {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> serde::Deserialize<'de> for Cron {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Cron {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cron".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "minLength": 9,
            "maxLength": 64,
            "description": "minute hour day month weekday, such as 0 9 * * 1-5",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date_time(text: &str) -> DateTime {
        text.parse().unwrap()
    }

    #[track_caller]
    fn next(cron: &str, from: &str) -> String {
        let cron: Cron = cron.parse().unwrap();
        cron.first_from(date_time(from), None).unwrap().to_string()
    }

    #[test]
    fn the_next_minute_that_fits_is_found() {
        for (cron, from, want) in [
            ("0 9 * * 1-5", "2026-11-20T09:00:01", "2026-11-23T09:00:00"),
            ("0 9 * * 1-5", "2026-11-20T09:00:00", "2026-11-20T09:00:00"),
            ("*/15 * * * *", "2026-12-31T23:50:00", "2027-01-01T00:00:00"),
            ("59 23 31 DEC *", "2026-12-31T23:59:30", "2027-12-31T23:59:00"),
            ("0 0 29 2 *", "2096-03-01T00:00:00", "2104-02-29T00:00:00"),
            ("0 0 13 * FRI", "2026-11-01T00:00:00", "2026-11-06T00:00:00"),
            ("0 0 * * 7", "2026-11-18T00:00:00", "2026-11-22T00:00:00"),
            ("5/20 8-10/2 * * sun,MON", "2026-11-23T08:46:00", "2026-11-23T10:05:00"),
        ] {
            assert_eq!(next(cron, from), want, "{cron} from {from}");
        }
    }

    #[test]
    fn what_never_comes_and_what_is_no_cron_is_refused() {
        for (text, fix) in [
            ("0 0 31 2 *", None),
            ("0 0 31 4,6 *", None),
            ("", None),
            ("0 9 * *", Some("0 9 * * *")),
            ("0 0 9 * * 1", Some("0 9 * * 1")),
            ("60 * * * *", Some("59 * * * *")),
            ("*/0 * * * *", Some("* * * * *")),
            ("0 9 * * FRI-MON", Some("0 9 * * 5-7,0-1")),
            ("0 9 * JUM *", Some("0 9 * JUN *")),
            ("0 9 * * 1-5 2027 x", None),
            ("@dayly", Some("0 0 * * *")),
            ("0 9 L * *", None),
        ] {
            let fault = text.parse::<Cron>().unwrap_err();
            assert_eq!(fault.fix.as_deref(), fix, "{text}");
            assert!(fix.is_none_or(|fix| fix.parse::<Cron>().is_ok()), "{text}");
        }
    }

    fn field(first: u8, last: u8) -> impl Strategy<Value = String> {
        prop_oneof![
            Just("*".to_owned()),
            (first..=last).prop_map(|value| value.to_string()),
            (1_u8..20).prop_map(|step| format!("*/{step}")),
            (first..=last, first..=last).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        ]
    }

    proptest! {
        #[test]
        fn the_first_and_the_last_that_fit_agree(
            fields in (field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)),
            minute in 0_i64..5_000_000,
        ) {
            let (a, b, c, d, e) = fields;
            let cron: Cron = format!("{a} {b} {c} {d} {e}").parse().unwrap();
            let from = date_time("2026-01-01T00:00:00") + jiff::SignedDuration::from_mins(minute);
            let first = cron.first_from(from, None).unwrap();
            prop_assert!(first >= from);
            prop_assert_eq!(cron.last_until(first, None), Some(first));
            // Nothing fits between them.
            if first > from {
                let before = first - jiff::SignedDuration::from_mins(1);
                prop_assert!(cron.last_until(before, None).unwrap() < from);
            }
        }

        #[test]
        fn no_text_panics(text in "[0-9*/,@ A-Za-z-]{0,40}") {
            let _ = text.parse::<Cron>();
        }
    }
}
