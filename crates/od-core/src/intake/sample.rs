//! A large intake in a few words: its shape, its size and its first rows.

use std::sync::Arc;

use super::{CellRef, InputTable, Intake};
use crate::json::{BoundedJson, BoundedObject, Map, Value, type_name};
use crate::limits::{self, JSON_KEYS, OUTPUT_SAMPLE};

/// A text of a sample is cut to this many UTF-16 code units.
const TEXT: limits::Limit = limits::TITLE;

/// Returns the shape of an intake that is too large to be shown: its columns with their types, how many
/// rows there are under the key that a mapping finds them by (`count`), the first 20 of them with long texts cut, and `truncated`.
#[must_use]
pub fn sample(intake: &Arc<Intake>) -> BoundedJson {
    let mut fields = match InputTable::of_source("output", intake, None) {
        Ok(table) => rows_shape(&table),
        Err(_) => keys_shape(intake),
    };
    fields.insert("bytes".to_owned(), intake.json_size().into());
    fields.insert("truncated".to_owned(), true.into());
    let mut shape = Value::Object(fields);
    match BoundedJson::check(shape.clone()) {
        Ok(shape) => shape,
        // A hundred columns of texts: the columns alone say enough.
        Err(_) => {
            if let Some(fields) = shape.as_object_mut() {
                fields.remove("rows");
            }
            BoundedJson::check(shape).unwrap_or_else(|_| BoundedObject::default().into())
        }
    }
}

fn rows_shape(table: &InputTable) -> Map {
    let names: Vec<&String> = table.columns().iter().collect();
    let mut kinds: Vec<Option<&'static str>> = vec![None; names.len()];
    let mut rows = Vec::new();
    let mut count = 0_usize;
    let visited: Result<(), std::convert::Infallible> = table.for_each_row(|cells| {
        for (kind, cell) in kinds.iter_mut().zip(cells) {
            *kind = merged(*kind, cell_type(cell));
        }
        if OUTPUT_SAMPLE.allows(count + 1) {
            let cells = cells.iter().map(|cell| shortened(cell.to_value()));
            let row: Map = names.iter().map(|name| (*name).clone()).zip(cells).collect();
            rows.push(Value::Object(row));
        }
        count += 1;
        Ok(())
    });
    match visited {
        Ok(()) => {}
        Err(never) => match never {},
    }
    let columns = names.iter().zip(kinds).map(|(name, kind)| {
        let mut column = Map::new();
        column.insert("name".to_owned(), name.as_str().into());
        column.insert("type".to_owned(), kind.unwrap_or("null").into());
        Value::Object(column)
    });
    let mut shape = Map::new();
    shape.insert("columns".to_owned(), columns.collect());
    shape.insert("count".to_owned(), count.into());
    shape.insert("rows".to_owned(), Value::Array(rows));
    shape
}

/// The keys of an object that is no table, each with its type.
fn keys_shape(intake: &Intake) -> Map {
    let Intake::Json(text) = intake else { return Map::new() };
    let members = text.root().members().take(JSON_KEYS.max() - 2);
    let kind = |value: super::JsonSlice<'_>| match (value.is_object(), value.is_array()) {
        (true, _) => "an object",
        (_, true) => "an array",
        (false, false) => type_name(&value.to_value()),
    };
    let keys: Map = members.map(|(key, value)| (key.into_owned(), kind(value).into())).collect();
    let mut shape = Map::new();
    shape.insert("keys".to_owned(), Value::Object(keys));
    shape
}

const fn cell_type(cell: &CellRef<'_>) -> Option<&'static str> {
    match cell {
        CellRef::Null => None,
        CellRef::Bool(_) => Some("boolean"),
        CellRef::Integer(_) => Some("integer"),
        CellRef::Real(_) => Some("number"),
        CellRef::Text(_) => Some("text"),
    }
}

fn merged(one: Option<&'static str>, other: Option<&'static str>) -> Option<&'static str> {
    match (one, other) {
        (None, kind) | (kind, None) => kind,
        (Some("integer"), Some("number")) | (Some("number"), Some("integer")) => Some("number"),
        (Some(one), Some(other)) if one == other => Some(one),
        (Some(_), Some(_)) => Some("mixed"),
    }
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(limits::cut(text, TEXT)),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> Value {
        sample(&Arc::new(Intake::try_from(value).unwrap())).value().clone()
    }

    #[test]
    fn a_sample_has_columns_types_and_the_first_rows() {
        let rows: Vec<Value> = (0..1_000)
            .map(|n| json!({ "n": n, "text": "x".repeat(400), "share": n as f64 / 3.0 }))
            .collect();
        let shape = of(&json!({ "items": rows }));
        assert_eq!(
            shape["columns"],
            json!([{ "name": "n", "type": "integer" }, { "name": "text", "type": "text" },
                { "name": "share", "type": "number" }])
        );
        assert_eq!((&shape["count"], &shape["truncated"]), (&json!(1_000), &json!(true)));
        assert_eq!(shape["rows"].as_array().unwrap().len(), 20);
        assert!(shape["rows"][0]["text"].as_str().unwrap().len() <= 200);
    }

    #[test]
    fn an_object_with_many_keys_is_told_by_its_keys() {
        let many: Map = (0..150).map(|i| (format!("k{i}"), json!([i]))).collect();
        let shape = of(&Value::Object(many));
        assert_eq!(shape["keys"]["k3"], "an array");
    }
}
