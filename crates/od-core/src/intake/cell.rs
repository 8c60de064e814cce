//! The values of a table's cells, and the rules for numbers.

use std::borrow::Cow;

use serde_json::Number;

use crate::json::Value;
use crate::limits::JSON_INTEGER;

/// One cell, borrowed from its table.
#[derive(Clone, Debug, PartialEq)]
pub enum CellRef<'a> {
    /// Nothing.
    Null,
    /// A truth value; SQL sees 0 or 1.
    Bool(bool),
    /// A whole number, also beyond what a double holds exactly.
    Integer(i64),
    /// A finite double.
    Real(f64),
    /// A text, an exact decimal, a number too large for 64 bits, or the JSON of a nested value.
    Text(Cow<'a, str>),
}

impl CellRef<'_> {
    /// Returns the cell as JSON; an integer beyond ±(2^53 − 1) is a text.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Integer(integer) => number_value(*integer),
            Self::Real(real) => real_value(*real),
            Self::Text(text) => Value::String(text.clone().into_owned()),
        }
    }
}

/// Returns an integer as JSON: a number if a double holds it exactly, else its digits.
#[must_use]
pub fn number_value(integer: i64) -> Value {
    if integer.unsigned_abs() <= JSON_INTEGER.allowed {
        Value::Number(Number::from(integer))
    } else {
        Value::String(integer.to_string())
    }
}

/// Returns a double as JSON.
///
/// Whole doubles are written as integers, so one beyond ±(2^53 − 1) would read as an integer that is
/// refused: it becomes a text. Infinity has no JSON form and becomes null, as ECMAScript writes it.
#[must_use]
pub fn real_value(real: f64) -> Value {
    let is_whole = real.fract() == 0.0 && real.abs() < 1e21;
    if !is_whole {
        return Number::from_f64(real).map_or(Value::Null, Value::Number);
    }
    if real.abs() <= JSON_INTEGER.allowed as f64 {
        // Exact: whole and within 2^53 - 1.
        return Value::from(real as i64);
    }
    Value::String(format!("{real:.0}"))
}

/// Reads a JSON number literal: an integer as such, else a finite double, else the literal as text.
#[must_use]
pub(super) fn number_cell(literal: &str) -> CellRef<'_> {
    let is_integer = literal.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if is_integer {
        return literal
            .parse()
            .map_or_else(|_| CellRef::Text(Cow::Borrowed(literal)), CellRef::Integer);
    }
    match literal.parse::<f64>() {
        Ok(real) if real.is_finite() => CellRef::Real(real),
        Ok(_) | Err(_) => CellRef::Text(Cow::Borrowed(literal)),
    }
}

/// Reads a cell of a text format as a number, if it is plainly one.
///
/// `007`, `+1`, `1e5`, `.5` and numbers of more than 15 digits are texts: they are codes, phone
/// numbers, commit ids and account numbers at least as often, and a leading zero that is lost cannot
/// be found again.
#[must_use]
pub fn plain_number(text: &str) -> Option<CellRef<'static>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    if whole.len() + fraction.map_or(0, str::len) > 15 {
        return None;
    }
    match fraction {
        None => text.parse().ok().map(CellRef::Integer),
        Some(fraction) if is_digits(fraction) => text.parse().ok().map(CellRef::Real),
        Some(_) => None,
    }
}

/// The mark before the fraction of a number that is written in a text.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DecimalMark {
    /// `1234.50`.
    #[default]
    Point,
    /// `1234,50` and `1.234,50`.
    Comma,
}

impl DecimalMark {
    /// Reads a cell of a text format as a number, if it is plainly one; see [`plain_number`].
    #[must_use]
    pub fn number(self, text: &str) -> Option<CellRef<'static>> {
        match self {
            Self::Point => plain_number(text),
            Self::Comma => comma_number(text),
        }
    }
}

fn comma_number(text: &str) -> Option<CellRef<'static>> {
    let (whole, fraction) = match text.split_once(',') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split('.');
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let is_grouped = first.len() <= 3 && rest.iter().all(|group| group.len() == 3);
    if !rest.is_empty() && !is_grouped {
        return None;
    }
    let whole = whole.replace('.', "");
    match fraction {
        None => plain_number(&whole),
        Some(fraction) => plain_number(&format!("{whole}.{fraction}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_is_never_rounded() {
        let check = |literal: &str, want: Value| {
            assert_eq!(number_cell(literal).to_value(), want, "{literal}");
        };
        check("9007199254740991", json!(9_007_199_254_740_991i64));
        check("-9007199254740992", json!("-9007199254740992"));
        check("9223372036854775808", json!("9223372036854775808"));
        check("1e400", json!("1e400"));
        check("0.5", json!(0.5));
        check("1e3", json!(1000));
        check("-0", json!(0));
        check("1e20", json!("100000000000000000000"));
        check("1e21", json!(1e21));
        assert_eq!(real_value(f64::INFINITY), Value::Null);
    }

    #[test]
    fn codes_stay_texts() {
        for text in ["", "007", "+1", "1e5", ".5", "5.", "-", "1 000", "1,5", "0x1f", "NaN", "Inf"]
        {
            assert_eq!(plain_number(text), None, "{text}");
        }
        assert_eq!(plain_number("1234567890123456"), None);
        assert_eq!(plain_number("0"), Some(CellRef::Integer(0)));
        assert_eq!(plain_number("-12"), Some(CellRef::Integer(-12)));
        assert_eq!(plain_number("-0.50"), Some(CellRef::Real(-0.5)));
    }

    #[test]
    fn a_decimal_comma_is_read_where_it_is_asked_for() {
        let check = |text: &str, want: Option<CellRef<'static>>| {
            assert_eq!(DecimalMark::Comma.number(text), want, "{text}");
        };
        check("1.234,50", Some(CellRef::Real(1234.5)));
        check("99,00", Some(CellRef::Real(99.0)));
        check("-0,5", Some(CellRef::Real(-0.5)));
        check("1.234.567", Some(CellRef::Integer(1_234_567)));
        check("12", Some(CellRef::Integer(12)));
        for text in [
            "",
            "1.5",
            "12.11.2026",
            "1,2,3",
            "1.234.56,7",
            "1,",
            ",5",
            "007,5",
            "1,5.0",
            "-",
            "a,b",
        ] {
            check(text, None);
        }
        assert_eq!(DecimalMark::Point.number("1,5"), None);
    }
}
