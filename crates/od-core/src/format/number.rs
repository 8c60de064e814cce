//! Numbers as a locale writes them.

use super::buffer::TextBuffer;
use super::currency::Currency;
use super::decimal::Decimal;
use super::locale::{CurrencyPattern, Locale, LocaleData};

/// The digits behind the point of a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Digits {
    pub(crate) min: u8,
    pub(crate) max: u8,
}

impl Digits {
    pub(crate) const fn exactly(count: u8) -> Self {
        Self { min: count, max: count }
    }

    pub(crate) const fn up_to(count: u8) -> Self {
        Self { min: 0, max: count }
    }
}

/// The numbers that have a sign.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sign {
    /// Negative ones; zero is not negative, however it was reached.
    Negative,
    /// All but zero.
    ExceptZero,
}

/// Writes `1,234.5`.
pub(crate) fn write_number(value: Decimal, digits: Digits, locale: Locale, out: &mut TextBuffer) {
    write_signed(value, digits, Sign::Negative, locale, out);
}

/// Writes `+1,234.5`.
pub(crate) fn write_delta(value: Decimal, digits: Digits, locale: Locale, out: &mut TextBuffer) {
    write_signed(value, digits, Sign::ExceptZero, locale, out);
}

/// Writes 0.125 as `12.5%`.
pub(crate) fn write_percent(
    mut value: Decimal,
    digits: Digits,
    sign: Sign,
    locale: Locale,
    out: &mut TextBuffer,
) {
    value.shift(2);
    write_signed(value, digits, sign, locale, out);
    out.push(locale.data().numbers.percent);
}

/// Writes `€1,234.50`.
pub(crate) fn write_currency(
    mut value: Decimal,
    currency: Currency,
    digits: Option<u8>,
    locale: Locale,
    out: &mut TextBuffer,
) {
    const SPACE: &str = "\u{a0}";
    let digits = Digits::exactly(digits.unwrap_or_else(|| currency.digits()));
    value.round(i32::from(digits.max));
    let minus = if is_negative(&value) { "-" } else { "" };
    let sign = currency.sign(locale);
    let data = locale.data();
    match data.numbers.currency {
        CurrencyPattern::Before => {
            out.push(minus);
            out.push(sign);
            // `$5`, but `CHF 5`: a sign that ends with a letter would run into the digits.
            if ends_in_letter(sign) {
                out.push(SPACE);
            }
            write_grouped(&value, digits, data.numbers.min_grouping, data, out);
        }
        CurrencyPattern::BeforeSpaced => {
            out.push(minus);
            out.push(sign);
            out.push(SPACE);
            write_grouped(&value, digits, data.numbers.min_grouping, data, out);
        }
        CurrencyPattern::BeforeSpacedSignBehind => {
            out.push(sign);
            out.push(SPACE);
            out.push(minus);
            write_grouped(&value, digits, data.numbers.min_grouping, data, out);
        }
        CurrencyPattern::After => {
            out.push(minus);
            write_grouped(&value, digits, data.numbers.min_grouping, data, out);
            out.push(SPACE);
            out.push(sign);
        }
    }
}

/// Returns whether a sign needs a space before the digits: `CHF 5`, but `€5`.
fn ends_in_letter(sign: &str) -> bool {
    match sign.chars().next_back() {
        None => false,
        Some(letter) if letter.is_ascii() => letter.is_ascii_alphabetic(),
        // Unicode's block of currency signs: to search the table of letters for `€` at every
        // amount would cost as much as writing the amount.
        Some('\u{20A0}'..='\u{20CF}') => false,
        Some(letter) => letter.is_alphabetic(),
    }
}

/// Writes `1.2K`: with `digits` at most so many behind the point, without two digits in all.
pub(crate) fn write_compact(
    value: Decimal,
    digits: Option<u8>,
    locale: Locale,
    out: &mut TextBuffer,
) {
    let data = locale.data();
    // Rounding may reach the next power of ten, and with it the next name: 999,950 is 1M.
    let (mut scaled, mut step) = scale_compact(value, value.magnitude(), digits, data);
    let reached = scaled.magnitude() + step.map_or(0, |(_, divided, _)| divided);
    if reached > value.magnitude() {
        (scaled, step) = scale_compact(value, reached, digits, data);
    }
    if is_negative(&scaled) {
        out.push_ascii(b'-');
    }
    let digits = Digits::up_to(scaled.fraction_digits().clamp(0, 100) as u8);
    // `1000T`, but `12,345T`.
    write_grouped(&scaled, digits, data.numbers.min_grouping.max(2), data, out);
    out.push(step.map_or("", |(_, _, name)| name));
}

type CompactStep = (i32, i32, &'static str);

fn scale_compact(
    mut value: Decimal,
    magnitude: i32,
    digits: Option<u8>,
    data: &LocaleData,
) -> (Decimal, Option<CompactStep>) {
    let step = data.compact.iter().rev().find(|(from, _, _)| *from <= magnitude).copied();
    value.shift(-step.map_or(0, |(_, divided, _)| divided));
    let digits = match digits {
        Some(digits) => i32::from(digits),
        None => (1 - value.magnitude()).max(0),
    };
    value.round(digits);
    (value, step)
}

/// Writes a number of bytes: `1.5 MB`, a thousand to the next unit.
pub(crate) fn write_bytes(value: Decimal, digits: u8, locale: Locale, out: &mut TextBuffer) {
    let data = locale.data();
    let last = data.bytes.len() as i32 - 1;
    let unit_of = |magnitude: i32| magnitude.div_euclid(3).clamp(0, last);
    let scale = |unit: i32| {
        let mut scaled = value;
        scaled.shift(-3 * unit);
        scaled.round(if unit == 0 { 0 } else { i32::from(digits) });
        scaled
    };
    let mut unit = unit_of(value.magnitude());
    let mut scaled = scale(unit);
    // 999,999 bytes are 1 MB, not 1000 kB.
    if scaled.magnitude() >= 3 && unit < last {
        unit += 1;
        scaled = scale(unit);
    }
    write_signed(scaled, Digits::up_to(digits), Sign::Negative, locale, out);
    out.push(data.bytes.get(unit as usize).copied().unwrap_or_default());
}

/// Writes a number as CSS reads it: no groups, a point, whatever the locale.
pub(crate) fn write_css(mut value: Decimal, digits: Digits, out: &mut TextBuffer) {
    value.round(i32::from(digits.max));
    if is_negative(&value) {
        out.push_ascii(b'-');
    }
    write_digits(&value, digits, None, ".", out);
}

fn write_signed(
    mut value: Decimal,
    digits: Digits,
    sign: Sign,
    locale: Locale,
    out: &mut TextBuffer,
) {
    value.round(i32::from(digits.max));
    if is_negative(&value) {
        out.push_ascii(b'-');
    } else if sign == Sign::ExceptZero && !value.is_zero() {
        out.push_ascii(b'+');
    }
    let data = locale.data();
    write_grouped(&value, digits, data.numbers.min_grouping, data, out);
}

/// Zero has no sign, also when rounding made it one.
const fn is_negative(value: &Decimal) -> bool {
    value.negative && !value.is_zero()
}

/// Writes the digits of a rounded number, in groups of three once `min_grouping` digits stand before
/// the first separator.
fn write_grouped(
    value: &Decimal,
    digits: Digits,
    min_grouping: i32,
    data: &LocaleData,
    out: &mut TextBuffer,
) {
    let groups = (value.magnitude() >= 2 + min_grouping).then_some(data.numbers.group);
    write_digits(value, digits, groups, data.numbers.decimal, out);
}

fn write_digits(
    value: &Decimal,
    digits: Digits,
    group: Option<&str>,
    decimal: &str,
    out: &mut TextBuffer,
) {
    let (whole, whole_zeros) = value.whole();
    let (fraction_zeros, fraction) = value.fraction();
    match group {
        None if whole.is_empty() => out.push_ascii(b'0'),
        None => {
            out.push_digits(whole);
            out.push_zeros(whole_zeros);
        }
        Some(group) => write_groups(whole, whole_zeros, group, out),
    }
    let written = if fraction.is_empty() { 0 } else { fraction_zeros + fraction.len() };
    let missing = usize::from(digits.min).saturating_sub(written);
    if written + missing > 0 {
        out.push(decimal);
    }
    if written > 0 {
        out.push_zeros(fraction_zeros);
        out.push_digits(fraction);
    }
    out.push_zeros(missing);
}

/// Writes digits and zeros behind them with a separator between every three.
fn write_groups(mut digits: &[u8], zeros: usize, group: &str, out: &mut TextBuffer) {
    let mut left = digits.len() + zeros;
    let mut until_group = (left + 2) % 3 + 1;
    while left > 0 {
        if until_group == 0 {
            out.push(group);
            until_group = 3;
        }
        let (digit, rest) = digits.split_first().unwrap_or((&0, &[]));
        out.push_ascii(b'0' + digit);
        digits = rest;
        until_group -= 1;
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(write: impl FnOnce(&mut TextBuffer)) -> String {
        let mut out = TextBuffer::default();
        write(&mut out);
        out.as_str().to_owned()
    }

    fn decimal(value: f64) -> Decimal {
        Decimal::of(&json!(value)).unwrap()
    }

    #[track_caller]
    fn number(value: f64, digits: Digits, locale: Locale, expected: &str) {
        assert_eq!(written(|out| write_number(decimal(value), digits, locale, out)), expected);
    }

    #[test]
    fn numbers_are_grouped_and_pointed_as_the_locale_does() {
        number(1_234_567.891, Digits::up_to(3), Locale::En, "1,234,567.891");
        number(1_234_567.891, Digits::exactly(0), Locale::De, "1.234.568");
        number(1234.5, Digits::up_to(3), Locale::Es, "1234,5");
        number(12345.5, Digits::up_to(3), Locale::Es, "12.345,5");
        number(1234.5, Digits::exactly(2), Locale::Fr, "1\u{202f}234,50");
        number(-0.4, Digits::exactly(0), Locale::En, "0");
        number(0.0, Digits::exactly(2), Locale::En, "0.00");
        number(999.995, Digits::exactly(2), Locale::En, "1,000.00");
        number(1e21, Digits::up_to(3), Locale::En, "1,000,000,000,000,000,000,000");
        let longest =
            written(|out| write_number(decimal(-1.7e308), Digits::exactly(20), Locale::Fr, out));
        assert_eq!(longest.chars().count(), 1 + 309 + 102 + 1 + 20);
    }

    #[test]
    fn money_has_its_sign_where_the_locale_puts_it() {
        let money = |value, code, digits, locale| {
            let currency = Currency::parse(code).unwrap();
            written(|out| write_currency(decimal(value), currency, digits, locale, out))
        };
        assert_eq!(money(-1234.5, "EUR", None, Locale::En), "-€1,234.50");
        assert_eq!(money(1234.5, "CHF", None, Locale::En), "CHF\u{a0}1,234.50");
        assert_eq!(money(-1234.5, "EUR", Some(0), Locale::Nl), "€\u{a0}-1.235");
        assert_eq!(money(1234.5, "JPY", None, Locale::Ja), "￥1,235");
        assert_eq!(money(-0.001, "USD", None, Locale::De), "0,00\u{a0}$");
    }

    #[test]
    fn compact_numbers_take_the_name_that_rounding_reaches() {
        let compact = |value, digits, locale| {
            written(|out| write_compact(decimal(value), digits, locale, out))
        };
        assert_eq!(compact(1234.0, None, Locale::En), "1.2K");
        assert_eq!(compact(999_950.0, Some(1), Locale::En), "1M");
        assert_eq!(compact(999_499.0, Some(0), Locale::En), "999K");
        assert_eq!(compact(9.99, None, Locale::En), "10");
        assert_eq!(compact(0.0123, None, Locale::En), "0.012");
        assert_eq!(compact(15e9, None, Locale::Es), "15\u{a0}mil\u{a0}M");
        assert_eq!(compact(9_999_999_999.0, Some(0), Locale::Es), "10\u{a0}mil\u{a0}M");
        assert_eq!(compact(-12_345.0, None, Locale::De), "-12.345");
        assert_eq!(compact(1.2e18, None, Locale::Ja), "120京");
        assert_eq!(compact(1.5e15, None, Locale::En), "1500T");
    }

    #[test]
    fn bytes_go_up_by_thousands() {
        let bytes = |value, locale| written(|out| write_bytes(decimal(value), 1, locale, out));
        assert_eq!(bytes(0.0, Locale::En), "0 B");
        assert_eq!(bytes(999.4, Locale::En), "999 B");
        assert_eq!(bytes(999.5, Locale::En), "1 kB");
        assert_eq!(bytes(999_999.0, Locale::En), "1 MB");
        assert_eq!(bytes(1_234_567.0, Locale::Fr), "1,2\u{202f}Mo");
        assert_eq!(bytes(1.5e18, Locale::De), "1.500 PB");
        assert_eq!(bytes(0.2, Locale::En), "0 B");
        assert_eq!(bytes(-2048.0, Locale::En), "-2 kB");
    }

    #[test]
    fn percentages_and_deltas() {
        let percent = |value, digits, sign, locale| {
            written(|out| write_percent(decimal(value), Digits::exactly(digits), sign, locale, out))
        };
        assert_eq!(percent(0.0734, 1, Sign::Negative, Locale::En), "7.3%");
        assert_eq!(percent(0.285, 0, Sign::Negative, Locale::De), "29\u{a0}%");
        assert_eq!(percent(0.05, 1, Sign::ExceptZero, Locale::En), "+5.0%");
        let delta =
            |value| written(|out| write_delta(decimal(value), Digits::exactly(1), Locale::En, out));
        assert_eq!(
            (delta(1.25), delta(-1.25), delta(0.04)),
            ("+1.3".into(), "-1.3".into(), "0.0".into())
        );
        assert_eq!(written(|out| write_css(decimal(1234.567), Digits::up_to(2), out)), "1234.57");
    }
}
