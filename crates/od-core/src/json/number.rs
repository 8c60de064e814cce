//! Numbers that survive being stored.

use serde_json::Number;

use super::canonical::with_number_text;
use crate::limits::JSON_INTEGER;

/// The largest integer that is exact in a double.
const EXACT: u64 = JSON_INTEGER.allowed;

/// From here on ECMAScript prints doubles with an exponent, so that no integer literal appears.
const EXPONENT_FROM: f64 = 1e21;

/// A number in the one form it is held in, with the length of its canonical text.
pub(super) struct Held {
    pub(super) number: Number,
    pub(super) size: usize,
}

/// Returns a double as it is held, or nothing if storing would not give it back.
///
/// Whole doubles become integers, and minus zero zero, as their canonical text reads; a whole
/// double past 2^53 - 1 that prints as an integer literal is refused like that literal.
pub(super) fn hold_double(double: f64) -> Option<Held> {
    let magnitude = double.abs();
    if !double.is_finite() {
        return None;
    }
    if magnitude.fract() == 0.0 && magnitude < EXPONENT_FROM {
        if magnitude > EXACT as f64 {
            return None;
        }
        // Exact: whole and at most 2^53 - 1.
        return Some(hold_integer(double < 0.0, magnitude as u64));
    }
    let number = Number::from_f64(double)?;
    let size = with_number_text(&number, str::len);
    Some(Held { number, size })
}

/// Returns an integer of at most 2^53 - 1 as it is held.
pub(super) fn hold_integer(negative: bool, magnitude: u64) -> Held {
    let digits = magnitude.checked_ilog10().map_or(1, |log| log as usize + 1);
    match i64::try_from(magnitude) {
        Ok(integer) if negative && integer != 0 => {
            Held { number: Number::from(-integer), size: digits + 1 }
        }
        Ok(_) | Err(_) => Held { number: Number::from(magnitude), size: digits },
    }
}

/// Returns a number already in memory as it is held, or nothing if it may not be stored.
pub(super) fn hold_number(number: &Number) -> Option<Held> {
    let integer = match (number.as_u64(), number.as_i64()) {
        (Some(positive), _) => Some((false, positive)),
        (None, Some(negative)) => Some((true, negative.unsigned_abs())),
        (None, None) => None,
    };
    match integer {
        Some((negative, magnitude)) => {
            (magnitude <= EXACT).then(|| hold_integer(negative, magnitude))
        }
        None => hold_double(number.as_f64()?),
    }
}

/// A number literal, split as JSON's grammar does.
pub(crate) struct Literal<'a> {
    /// The whole literal.
    pub(crate) text: &'a str,
    /// Whether it begins with a minus.
    pub(super) negative: bool,
    /// The digits before the point, as many as fit.
    pub(super) integer: u64,
    /// The number of digits before the point.
    pub(super) integer_digits: usize,
    /// The number of digits after the point, if there is one.
    pub(super) fraction_digits: Option<usize>,
    /// Whether there is an exponent.
    pub(super) has_exponent: bool,
}

/// Returns the number a literal means as it is held, or nothing if it may not be stored.
pub(super) fn hold_literal(literal: &Literal<'_>) -> Option<Held> {
    let Some(fraction_digits) = literal.fraction_digits else {
        if literal.has_exponent {
            return hold_double(literal.text.parse().ok()?);
        }
        let exact = literal.integer_digits <= 16 && literal.integer <= EXACT;
        return exact.then(|| hold_integer(literal.negative, literal.integer));
    };
    let double: f64 = literal.text.parse().ok()?;
    // A decimal of at most 15 digits without trailing zeros is its own shortest text, except
    // where ECMAScript turns to exponents (below 1e-6): no need to print it to count it.
    let is_shortest = !literal.has_exponent
        && literal.integer_digits + fraction_digits <= 15
        && !literal.text.ends_with('0')
        && (literal.integer != 0 || fraction_digits <= 6);
    if is_shortest {
        let number = Number::from_f64(double)?;
        return Some(Held { number, size: literal.text.len() });
    }
    hold_double(double)
}
