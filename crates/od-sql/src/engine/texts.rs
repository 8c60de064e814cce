//! `instr`, `replace` and `trim` in time that grows with the length of their texts.
//!
//! SQLite compares each place of one text with all of the other. On two texts of 200 KiB one call is
//! a second, nothing interrupts it, and a hundred rows pass before the clock is looked at: a query with
//! a limit of two seconds ran for three minutes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Result, ffi, params_from_iter};

/// Replaces the functions of a connection, which make texts of at most `bytes_max`; what is not text is
/// left to SQLite's own, on `own`.
pub(crate) fn register(
    connection: &Connection,
    flags: FunctionFlags,
    own: &Arc<Mutex<Connection>>,
    bytes_max: usize,
) -> Result<()> {
    let functions: [(&'static str, i32, OfTexts); 5] = [
        ("instr", 2, |texts, _| Ok(instr(texts))),
        ("replace", 3, replace),
        ("trim", 2, |texts, _| Ok(trim(texts, true, true))),
        ("ltrim", 2, |texts, _| Ok(trim(texts, true, false))),
        ("rtrim", 2, |texts, _| Ok(trim(texts, false, true))),
    ];
    for (name, arguments, of_texts) in functions {
        let own = Arc::clone(own);
        connection.create_scalar_function(name, arguments, flags, move |context| {
            match texts(context) {
                Some(texts) => of_texts(&texts, bytes_max),
                None => {
                    delegate(&own.lock().unwrap_or_else(PoisonError::into_inner), name, context)
                }
            }
        })?;
    }
    Ok(())
}

type OfTexts = fn(&[&str], usize) -> Result<Value>;

/// Calls SQLite's own function on another connection.
pub(super) fn delegate(own: &Connection, name: &str, context: &Context<'_>) -> Result<Value> {
    let places = vec!["?"; context.len()].join(", ");
    let mut statement = own.prepare_cached(&format!("SELECT {name}({places})"))?;
    let arguments = (0..context.len()).map(|at| ToSqlOutput::Borrowed(context.get_raw(at)));
    statement.query_row(params_from_iter(arguments), |row| row.get(0))
}

/// Returns the arguments if all of them are texts.
fn texts<'a>(context: &'a Context<'_>) -> Option<Vec<&'a str>> {
    (0..context.len())
        .map(|at| match context.get_raw(at) {
            ValueRef::Text(text) => std::str::from_utf8(text).ok(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        })
        .collect()
}

fn instr(texts: &[&str]) -> Value {
    let found = texts[0].find(texts[1]);
    let place = found.map_or(0, |at| texts[0][..at].chars().count() + 1);
    Value::Integer(i64::try_from(place).unwrap_or(i64::MAX))
}

fn replace(texts: &[&str], bytes_max: usize) -> Result<Value> {
    let (text, pattern, with) = (texts[0], texts[1], texts[2]);
    if pattern.is_empty() {
        return Ok(Value::Text(text.to_owned()));
    }
    let grown = text.matches(pattern).count() * with.len().saturating_sub(pattern.len());
    if text.len() + grown > bytes_max {
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
    }
    Ok(Value::Text(text.replace(pattern, with)))
}

fn trim(texts: &[&str], start: bool, end: bool) -> Value {
    let set: HashSet<char> = texts[1].chars().collect();
    let mut text = texts[0];
    if start {
        text = text.trim_start_matches(|c| set.contains(&c));
    }
    if end {
        text = text.trim_end_matches(|c| set.contains(&c));
    }
    Value::Text(text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn evaluate(connection: &Connection, sql: &str, arguments: &[Value]) -> Value {
        connection.query_row(sql, params_from_iter(arguments), |row| row.get(0)).unwrap()
    }

    fn argument() -> impl Strategy<Value = Value> {
        prop_oneof![
            6 => "[abé ]{0,5}".prop_map(Value::Text),
            1 => (-20i64..20).prop_map(Value::Integer),
            1 => (-9i64..9).prop_map(|quarters| Value::Real(quarters as f64 / 4.0)),
            1 => Just(Value::Null),
            1 => "[ab]{0,3}".prop_map(|text| Value::Blob(text.into_bytes())),
        ]
    }

    proptest! {
        #[test]
        fn they_give_what_sqlites_own_give(a in argument(), b in argument(), c in argument()) {
            let (plain, ours) =
                (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
            let own = Arc::new(Mutex::new(Connection::open_in_memory().unwrap()));
            register(&ours, FunctionFlags::SQLITE_UTF8, &own, 1000).unwrap();
            let two = [a.clone(), b.clone()];
            for name in ["instr", "trim", "ltrim", "rtrim"] {
                let sql = format!("SELECT {name}(?, ?)");
                prop_assert_eq!(evaluate(&ours, &sql, &two), evaluate(&plain, &sql, &two), "{}", sql);
            }
            let sql = "SELECT replace(?, ?, ?)";
            let three = [a, b, c];
            prop_assert_eq!(evaluate(&ours, sql, &three), evaluate(&plain, sql, &three));
        }
    }
}
