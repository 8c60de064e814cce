//! `compact_table`: rows of any provider as a table of scalars with a bounded number of columns and rows.

use super::transform::TransformError;
use crate::json::{Map, Value, type_name};
use crate::limits;

/// Where rows stand in an object, the first that is an array wins.
pub(crate) const ROW_KEYS: &[&str] = &["rows", "items", "matches", "results", "data"];

/// Makes a table: the first 20 scalar keys as columns, the first 100 rows, and how many there were.
pub(super) fn compact_table(value: &Value) -> Result<Value, TransformError> {
    let rows = match value {
        Value::Array(rows) => Some(rows),
        Value::Object(map) => {
            ROW_KEYS.iter().find_map(|key| map.get(*key).and_then(Value::as_array))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    let rows = rows.ok_or(TransformError::NoRows { found: type_name(value) })?;
    let kept = &rows[..rows.len().min(limits::TABLE_ROWS.max())];
    let columns = columns(kept);
    let table = kept.iter().map(|row| compact_row(row, &columns)).collect();
    let mut out = Map::new();
    out.insert("columns".to_owned(), columns.iter().map(|column| Value::from(*column)).collect());
    out.insert("rows".to_owned(), Value::Array(table));
    out.insert("count".to_owned(), rows.len().into());
    out.insert("truncated".to_owned(), (rows.len() > kept.len()).into());
    Ok(Value::Object(out))
}

/// Collects the keys that hold a scalar in some row, in the order they are first seen; rows that
/// are scalars themselves have the one column `value`.
fn columns(rows: &[Value]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    let mut add = |key| {
        if columns.len() < limits::TABLE_COLUMNS.max() && !columns.contains(&key) {
            columns.push(key);
        }
    };
    for row in rows {
        match row {
            Value::Object(map) => {
                for (key, _) in map.iter().filter(|(_, cell)| is_scalar(cell)) {
                    add(key);
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => add("value"),
            Value::Null | Value::Array(_) => {}
        }
    }
    columns
}

/// Keeps a row's scalars in the columns; what a row does not have is null, so that every row has
/// every column.
fn compact_row(row: &Value, columns: &[&str]) -> Value {
    let cell = |column: &str| match row {
        Value::Object(map) => map.get(column).filter(|cell| is_scalar(cell)).cloned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) if column == "value" => {
            Some(row.clone())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    };
    let cells =
        columns.iter().map(|column| ((*column).to_owned(), cell(column).unwrap_or(Value::Null)));
    Value::Object(cells.collect())
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_keeps_scalars_in_first_seen_order() {
        let value = json!({ "items": [
            { "b": 1, "nested": { "x": 1 }, "a": "x" },
            { "a": null, "c": true, "list": [] },
        ]});
        assert_eq!(
            compact_table(&value).unwrap(),
            json!({
                "columns": ["b", "a", "c"],
                "rows": [{ "b": 1, "a": "x", "c": null }, { "b": null, "a": null, "c": true }],
                "count": 2,
                "truncated": false,
            })
        );
    }

    #[test]
    fn a_table_is_cut_and_says_so() {
        let wide: Map = (0..25).map(|i| (format!("k{i:02}"), json!(i))).collect();
        let rows: Vec<Value> = (0..101).map(|_| Value::Object(wide.clone())).collect();
        let table = compact_table(&json!(rows)).unwrap();
        assert_eq!(table["columns"].as_array().unwrap().len(), 20);
        assert_eq!(table["rows"].as_array().unwrap().len(), 100);
        assert_eq!((&table["count"], &table["truncated"]), (&json!(101), &json!(true)));
    }

    #[test]
    fn rows_are_found_where_providers_put_them() {
        for key in ROW_KEYS {
            let value = json!({ "other": 1, *key: ["x"] });
            let table = compact_table(&value).unwrap();
            assert_eq!(table["rows"], json!([{ "value": "x" }]));
        }
        for value in [json!({ "rows": 1 }), json!("x"), json!(null)] {
            assert!(compact_table(&value).is_err());
        }
    }
}
