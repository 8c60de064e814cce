//! `median(x)` and `percentile(x, p)`, which SQLite has as an extension only.

use od_core::limits::INTAKE_CELLS;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

/// Adds the functions to a connection.
pub(super) fn register(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    connection.create_aggregate_function("median", 1, flags, Percentile { fixed: Some(50.0) })?;
    connection.create_aggregate_function("percentile", 2, flags, Percentile { fixed: None })
}

/// Interpolates between the two nearest of the sorted values; nulls do not count.
struct Percentile {
    /// The percentage, if it is no argument.
    fixed: Option<f64>,
}

struct Collected {
    percentage: f64,
    values: Vec<f64>,
}

impl Aggregate<Collected, Value> for Percentile {
    fn init(&self, context: &mut Context<'_>) -> Result<Collected> {
        let percentage = match self.fixed {
            Some(fixed) => fixed,
            None => match context.get_raw(1) {
                ValueRef::Integer(integer) => integer as f64,
                ValueRef::Real(real) => real,
                ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => f64::NAN,
            },
        };
        if !(0.0..=100.0).contains(&percentage) {
            return Err(refuse("percentile(x, p) takes a p from 0 to 100"));
        }
        Ok(Collected { percentage, values: Vec::new() })
    }

    fn step(&self, context: &mut Context<'_>, collected: &mut Collected) -> Result<()> {
        let value = match context.get_raw(0) {
            ValueRef::Null => return Ok(()),
            ValueRef::Integer(integer) => integer as f64,
            ValueRef::Real(real) => real,
            ValueRef::Text(_) | ValueRef::Blob(_) => {
                return Err(refuse("median and percentile take numbers; CAST makes one of a text"));
            }
        };
        // These bytes are ours: SQLite's heap limit does not count them.
        if !INTAKE_CELLS.allows(collected.values.len() + 1) {
            return Err(refuse("median and percentile take at most 4000000 values"));
        }
        collected.values.push(value);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, collected: Option<Collected>) -> Result<Value> {
        let Some(Collected { percentage, mut values }) = collected else { return Ok(Value::Null) };
        if values.is_empty() {
            return Ok(Value::Null);
        }
        values.sort_unstable_by(f64::total_cmp);
        let place = percentage / 100.0 * (values.len() - 1) as f64;
        let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
        Ok(Value::Real(below + (above - below) * place.fract()))
    }
}

fn refuse(message: &str) -> Error {
    Error::UserFunctionError(message.into())
}
