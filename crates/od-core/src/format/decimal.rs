//! Decimal numbers as they are written: digits and the place of the point.
//!
//! Rounding works on the shortest decimal text of a number, half away from zero, as browsers' `Intl`
//! does: 1.005 with two digits is 1.01, although the nearest double is a little less. Arithmetic on
//! the double itself would say 1.00.

use serde_json::{Number, Value};

/// The most digits that are kept: a double needs 17, a decimal text of a database up to 38.
const DIGITS_MAX: usize = 40;
/// The longest text that is read as a number.
const TEXT_BYTES_MAX: usize = 64;

/// A decimal number: `0.d₁d₂d₃… × 10^point`, without leading and trailing zeros.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    digits: [u8; DIGITS_MAX],
    len: usize,
    point: i32,
}

impl Decimal {
    pub(crate) const ZERO: Self =
        Self { negative: false, digits: [0; DIGITS_MAX], len: 0, point: 0 };

    /// Reads a number, or a text that writes one out, as databases do with exact decimals.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::of_number(number)),
            Value::String(text) => {
                // An optional minus, digits, an optional fraction: no exponent, no spaces.
                let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
                let is_short = text.len() <= TEXT_BYTES_MAX;
                if is_short && text.bytes().all(is_plain) { Self::parse(text) } else { None }
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn of_number(number: &Number) -> Self {
        const EXACT: i64 = 1 << 53;
        match number.as_i64() {
            Some(integer) if (-EXACT..=EXACT).contains(&integer) => Self::of_integer(integer),
            _ => Self::of_float(number.as_f64().unwrap_or_default()),
        }
    }

    pub(crate) fn of_integer(integer: i64) -> Self {
        let mut decimal = Self { negative: integer < 0, ..Self::ZERO };
        decimal.read_digits(itoa::Buffer::new().format(integer.unsigned_abs()).as_bytes());
        decimal.point = decimal.len as i32;
        decimal.trim();
        decimal
    }

    /// Reads a finite double.
    pub(crate) fn of_float(float: f64) -> Self {
        match Self::of_short_float(float) {
            Some(decimal) => decimal,
            None => Self::parse(ryu_js::Buffer::new().format(float)).unwrap_or(Self::ZERO),
        }
    }

    /// Reads a double with at most six digits behind the point and fifteen in all, as sources write
    /// most numbers, without printing it.
    ///
    /// The product may be off by a little; the quotient is the double nearest to the decimal, so if it
    /// is the number, the decimal is one of its texts. No two decimals of fifteen digits have the
    /// same double, so it is the shortest.
    fn of_short_float(float: f64) -> Option<Self> {
        const PLACES: i32 = 6;
        const SCALE: f64 = 1e6;
        const SCALED_MAX: f64 = 1e15;
        let scaled = float.abs() * SCALE + 0.5;
        if scaled.is_nan() || scaled >= SCALED_MAX {
            return None;
        }
        let integer = scaled as i64;
        if integer as f64 / SCALE != float.abs() {
            return None;
        }
        let mut decimal = Self::of_integer(integer);
        decimal.negative = float.is_sign_negative();
        decimal.shift(-PLACES);
        Some(decimal)
    }

    /// Makes `coefficient × 10^exponent`.
    pub(crate) fn scaled(coefficient: i64, exponent: i32) -> Self {
        let mut decimal = Self::of_integer(coefficient);
        decimal.shift(exponent);
        decimal
    }

    /// Reads the text of a number as JSON writes it.
    fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let has_point = mantissa.contains('.');
        if whole.is_empty() || (has_point && fraction.is_empty()) {
            return None;
        }
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let whole = whole.trim_start_matches('0');
        let mut decimal = Self { negative, ..Self::ZERO };
        decimal.read_digits(whole.as_bytes());
        decimal.point = whole.len() as i32 + exponent;
        let mut fraction = fraction.as_bytes();
        if whole.is_empty() {
            let zeros = fraction.iter().take_while(|digit| **digit == b'0').count();
            fraction = &fraction[zeros..];
            decimal.point -= zeros as i32;
        }
        decimal.read_digits(fraction);
        decimal.trim();
        Some(decimal)
    }

    fn read_digits(&mut self, text: &[u8]) {
        for (digit, byte) in self.digits[self.len..].iter_mut().zip(text) {
            *digit = byte - b'0';
        }
        self.len = (self.len + text.len()).min(DIGITS_MAX);
    }

    fn trim(&mut self) {
        while self.len > 0 && self.digits[self.len - 1] == 0 {
            self.len -= 1;
        }
        if self.len == 0 {
            *self = Self { negative: self.negative, ..Self::ZERO };
        }
    }

    pub(crate) const fn is_zero(&self) -> bool {
        self.len == 0
    }

    /// Returns the power of ten of the first digit: 2 for 123, -2 for 0.0123; 0 for zero.
    pub(crate) const fn magnitude(&self) -> i32 {
        if self.len == 0 { 0 } else { self.point - 1 }
    }

    /// Multiplies by a power of ten.
    pub(crate) const fn shift(&mut self, by: i32) {
        if self.len > 0 {
            self.point += by;
        }
    }

    /// Rounds half away from zero to so many digits behind the point.
    pub(crate) fn round(&mut self, fraction_digits: i32) {
        let kept = self.point.saturating_add(fraction_digits);
        let Ok(kept) = usize::try_from(kept) else {
            return *self = Self { negative: self.negative, ..Self::ZERO };
        };
        if kept >= self.len {
            return;
        }
        let up = self.digits[kept] >= 5;
        self.len = kept;
        if up {
            self.round_up();
        }
        self.trim();
    }

    fn round_up(&mut self) {
        for at in (0..self.len).rev() {
            if self.digits[at] < 9 {
                self.digits[at] += 1;
                return;
            }
            self.digits[at] = 0;
        }
        // All nines, or nothing was kept: the next power of ten.
        self.digits[0] = 1;
        self.len = self.len.max(1);
        self.point += 1;
    }

    /// Returns the digits before the point and how many zeros follow them.
    pub(crate) fn whole(&self) -> (&[u8], usize) {
        let point = usize::try_from(self.point).unwrap_or(0);
        let whole = &self.digits[..point.min(self.len)];
        (whole, point - whole.len())
    }

    /// Returns how many zeros stand before the first digit behind the point, and the digits there.
    pub(crate) fn fraction(&self) -> (usize, &[u8]) {
        let zeros = if self.point < 0 { self.point.unsigned_abs() as usize } else { 0 };
        let whole = usize::try_from(self.point).unwrap_or(0).min(self.len);
        (zeros, &self.digits[whole..self.len])
    }

    /// Returns the digit at a power of ten, as text.
    pub(crate) fn digit_at(&self, power: i32) -> u8 {
        let at = self.point - 1 - power;
        let digit = usize::try_from(at).ok().filter(|at| *at < self.len);
        b'0' + digit.map_or(0, |at| self.digits[at])
    }

    /// Returns how many digits stand behind the point.
    pub(crate) fn fraction_digits(&self) -> i32 {
        (self.len as i32 - self.point).max(0)
    }

    /// Returns the number rounded half away from zero to an integer; what is larger than any
    /// page shows is cut to the largest that fits.
    pub(crate) fn to_integer(mut self) -> i128 {
        const MAGNITUDE_MAX: i32 = 36;
        self.round(0);
        if self.magnitude() > MAGNITUDE_MAX {
            return if self.negative { i128::MIN } else { i128::MAX };
        }
        let (whole, zeros) = self.whole();
        let digits = whole.iter().copied().chain(std::iter::repeat_n(0, zeros));
        let integer = digits.fold(0, |sum, digit| sum * 10 + i128::from(digit));
        if self.negative { -integer } else { integer }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn plain(decimal: &Decimal) -> String {
        let sign = if decimal.negative && !decimal.is_zero() { "-" } else { "" };
        let whole: String = (0..=decimal.magnitude().max(0))
            .rev()
            .map(|power| char::from(decimal.digit_at(power)))
            .collect();
        let fraction: String =
            (1..=decimal.fraction_digits()).map(|at| char::from(decimal.digit_at(-at))).collect();
        if fraction.is_empty() {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{fraction}")
        }
    }

    #[track_caller]
    fn rounded(value: &Value, digits: i32, expected: &str) {
        let mut decimal = Decimal::of(value).unwrap();
        decimal.round(digits);
        assert_eq!(plain(&decimal), expected, "{value} to {digits} digits");
    }

    #[test]
    fn halves_of_the_shortest_text_are_rounded_away_from_zero() {
        rounded(&json!(1.005), 2, "1.01");
        rounded(&json!(-1.005), 2, "-1.01");
        rounded(&json!(2.5), 0, "3");
        rounded(&json!(-0.5), 0, "-1");
        rounded(&json!(0.5), 0, "1");
        rounded(&json!(0.49999), 0, "0");
        rounded(&json!(0.05), 1, "0.1");
        rounded(&json!(0.004), 2, "0");
        rounded(&json!(999.995), 2, "1000");
        rounded(&json!(9.5), 0, "10");
        rounded(&json!(1e21), 2, "1000000000000000000000");
        rounded(&json!(5e-324), 2, "0");
        rounded(&json!(1.45), 1, "1.5");
        rounded(&json!(8.345), 2, "8.35");
        rounded(&json!(123_456_789_012_i64), -3 + 3, "123456789012");
    }

    #[test]
    fn decimal_texts_are_numbers_and_other_texts_are_not() {
        rounded(&json!("12.50"), 2, "12.5");
        rounded(&json!("-0.00"), 2, "0");
        rounded(&json!("00012.005"), 2, "12.01");
        rounded(
            &json!("99999999999999999999999999999999999999"),
            0,
            "99999999999999999999999999999999999999",
        );
        for text in ["", "-", ".5", "5.", "1e3", "1,5", " 1", "--1", "1.2.3", "NaN", "٣", "1-2"] {
            assert_eq!(Decimal::of(&json!(text)), None, "{text}");
        }
        assert_eq!(Decimal::of(&json!(true)), None);
        assert_eq!(Decimal::of(&json!(null)), None);
    }

    #[test]
    fn integers_are_cut_to_what_fits() {
        assert_eq!(Decimal::of(&json!(-2.5)).unwrap().to_integer(), -3);
        assert_eq!(Decimal::of(&json!(1e300)).unwrap().to_integer(), i128::MAX);
        assert_eq!(Decimal::of(&json!(0)).unwrap().to_integer(), 0);
        assert_eq!(Decimal::scaled(25, -1), Decimal::of(&json!(2.5)).unwrap());
        assert_eq!(Decimal::scaled(0, 5), Decimal::ZERO);
    }

    #[test]
    fn short_doubles_are_read_without_their_text() {
        for float in [0.0, -0.0, 0.1, 1.005, -1234.5, 0.000_001, 999_999_999.999_999] {
            assert!(Decimal::of_short_float(float).is_some(), "{float}");
        }
        for float in [1e-7, 1e9, 0.1 + 0.2, 1.0 / 3.0, f64::MAX, 5e-324, f64::NAN, f64::INFINITY] {
            assert_eq!(Decimal::of_short_float(float), None, "{float}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_to_read_a_double_agree(
            short in (-999_999_999_999_999_i64..999_999_999_999_999, 0..9_i32),
            any in -1e10..1e10_f64,
        ) {
            let short = short.0 as f64 / 10_f64.powi(short.1);
            for float in [short, any, f64::from_bits(short.to_bits() + 1)] {
                let text = ryu_js::Buffer::new().format(float).to_owned();
                prop_assert_eq!(Decimal::of_float(float), Decimal::parse(&text).unwrap(), "{}", text);
            }
        }

        #[test]
        fn a_double_is_read_as_its_shortest_text(float in proptest::num::f64::NORMAL) {
            let decimal = Decimal::of_float(float);
            prop_assert_eq!(plain(&decimal).parse::<f64>().unwrap(), float);
        }

        #[test]
        fn rounding_moves_by_at_most_half(float in -1e9..1e9_f64, digits in 0..6_i32) {
            let mut decimal = Decimal::of_float(float);
            decimal.round(digits);
            let moved = (plain(&decimal).parse::<f64>().unwrap() - float).abs();
            // The sum of two doubles near 1e9 is itself off by up to 1e-7.
            prop_assert!(moved <= 0.5 * 10_f64.powi(-digits) + 1e-6);
            prop_assert!(decimal.fraction_digits() <= digits);
        }
    }
}
