//! Functions that SQLite lacks or that would read the clock.

use std::sync::{Arc, Mutex, PoisonError};

use od_core::limits::QUERY_VALUE;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::texts::delegate;
use super::{percentile, texts};

/// Said of every way to read the clock.
pub(crate) const CLOCK_MESSAGE: &str =
    "the clock and the time zone may not be read; :refreshed_at is the time of the refresh";

const PURE: FunctionFlags = FunctionFlags::SQLITE_UTF8
    .union(FunctionFlags::SQLITE_DETERMINISTIC)
    .union(FunctionFlags::SQLITE_INNOCUOUS);

/// SQLite's functions of dates, and which argument is the first time value.
const DATES: [(&str, usize); 7] = [
    ("date", 0),
    ("datetime", 0),
    ("julianday", 0),
    ("strftime", 1),
    ("time", 0),
    ("timediff", 0),
    ("unixepoch", 0),
];

/// A function of one number.
type Real = fn(f64) -> f64;

/// These leave a whole number as it is.
const ROUNDING: [(&str, Real); 4] =
    [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];

const MATH: [(&str, Real); 5] = [
    ("sqrt", f64::sqrt),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
];

/// Adds mathematics and percentiles to a connection, bounds its functions of texts, and puts a guard
/// before its dates.
pub(super) fn register(connection: &Connection) -> Result<()> {
    register_shared(connection)?;
    // SQLite's own functions, on a connection of their own: this one's are replaced.
    let own = Arc::new(Mutex::new(Connection::open_in_memory()?));
    texts::register(connection, PURE, &own, QUERY_VALUE.max())?;
    for (name, first_time) in DATES {
        let own = Arc::clone(&own);
        connection.create_scalar_function(name, -1, PURE, move |context| {
            date(&own.lock().unwrap_or_else(PoisonError::into_inner), name, first_time, context)
        })?;
    }
    Ok(())
}

/// Adds what SQLite has as an option only.
/// Bounds the time of a connection's functions of texts, and changes nothing else.
pub(crate) fn register_texts(connection: &Connection, bytes_max: usize) -> Result<()> {
    let own = Arc::new(Mutex::new(Connection::open_in_memory()?));
    texts::register(connection, PURE, &own, bytes_max)
}

fn register_shared(connection: &Connection) -> Result<()> {
    for (name, act) in ROUNDING {
        connection.create_scalar_function(name, 1, PURE, move |context| {
            Ok(match context.get_raw(0) {
                ValueRef::Integer(integer) => Value::Integer(integer),
                value @ (ValueRef::Null
                | ValueRef::Real(_)
                | ValueRef::Text(_)
                | ValueRef::Blob(_)) => number(value).map_or(Value::Null, |x| real(act(x))),
            })
        })?;
    }
    for (name, act) in MATH {
        connection.create_scalar_function(name, 1, PURE, move |context| {
            Ok(number(context.get_raw(0)).map_or(Value::Null, |x| real(act(x))))
        })?;
    }
    connection.create_scalar_function("log", 1, PURE, |context| {
        Ok(number(context.get_raw(0)).map_or(Value::Null, |x| real(x.log10())))
    })?;
    connection.create_scalar_function("log", 2, PURE, |context| {
        Ok(two(context).map_or(Value::Null, |(base, x)| real(x.ln() / base.ln())))
    })?;
    for name in ["pow", "power"] {
        connection.create_scalar_function(name, 2, PURE, |context| {
            Ok(two(context).map_or(Value::Null, |(x, y)| real(x.powf(y))))
        })?;
    }
    connection.create_scalar_function("mod", 2, PURE, |context| {
        Ok(two(context).map_or(Value::Null, |(x, y)| real(x % y)))
    })?;
    percentile::register(connection, PURE)
}

fn two(context: &Context<'_>) -> Option<(f64, f64)> {
    number(context.get_raw(0)).zip(number(context.get_raw(1)))
}

/// Returns what SQLite takes for a number; a text only if it is one as a whole.
fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(integer) => Some(integer as f64),
        ValueRef::Real(real) => Some(real),
        ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// A result that is no number is null, as in SQLite.
fn real(x: f64) -> Value {
    if x.is_nan() { Value::Null } else { Value::Real(x) }
}

fn date(own: &Connection, name: &str, first_time: usize, context: &Context<'_>) -> Result<Value> {
    let word = |at: usize| context.get_raw(at).as_str().unwrap_or_default().to_ascii_lowercase();
    let is_clock = context.len() <= first_time
        || (0..context.len()).any(|at| matches!(word(at).as_str(), "now" | "localtime" | "utc"))
        // As a time value, and only there, this means now.
        || matches!(word(first_time).as_str(), "subsec" | "subsecond");
    if is_clock {
        return Err(Error::UserFunctionError(format!("{name}: {CLOCK_MESSAGE}").into()));
    }
    delegate(own, name, context)
}
