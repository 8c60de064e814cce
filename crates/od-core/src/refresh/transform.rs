//! The three ways a value is changed on its way into the data.

use crate::artifact::Transform;
use crate::json::{Map, Value, type_name};
use crate::limits;

/// Why a value cannot be transformed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TransformError {
    /// No rows were found.
    #[error(
        "compact_table needs rows: an array, or an object with rows, items, matches, results or data; this is {found}"
    )]
    NoRows {
        /// The kind of the value.
        found: &'static str,
    },
    /// No metric was found.
    #[error(
        "metric_summary needs a number, a text, or an object with value, count or total; this is {found}"
    )]
    NoMetric {
        /// The kind of the value.
        found: &'static str,
    },
}

/// Where rows stand in an object, the first that is an array wins.
pub(crate) const ROW_KEYS: &[&str] = &["rows", "items", "matches", "results", "data"];

/// Where a metric's value stands in an object, the first that is a scalar wins.
const VALUE_KEYS: &[&str] = &["value", "count", "total"];

/// Transforms a value; `source` names where it came from, for `metric_summary`.
///
/// # Errors
///
/// Fails if the value does not have the form the transform needs.
pub fn transform(how: Transform, value: &Value, source: &str) -> Result<Value, TransformError> {
    match how {
        Transform::Identity => Ok(value.clone()),
        Transform::CompactTable => compact_table(value),
        Transform::MetricSummary => metric_summary(value, source),
    }
}

/// Makes a table: the first 20 scalar keys as columns, the first 100 rows, and how many there were.
fn compact_table(value: &Value) -> Result<Value, TransformError> {
    let rows = find_rows(value).ok_or(TransformError::NoRows { found: type_name(value) })?;
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

fn find_rows(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(rows) => Some(rows),
        Value::Object(map) => {
            ROW_KEYS.iter().find_map(|key| map.get(*key).and_then(Value::as_array))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
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

/// Makes one metric: `label`, `value`, `unit?`, `delta?`, `source`.
fn metric_summary(value: &Value, source: &str) -> Result<Value, TransformError> {
    let no_metric = TransformError::NoMetric { found: type_name(value) };
    let (fields, metric) = match value {
        Value::Number(_) | Value::String(_) => (None, value.clone()),
        Value::Array(items) => (None, items.len().into()),
        Value::Object(map) => (Some(map), metric_of(map).ok_or(no_metric)?),
        Value::Null | Value::Bool(_) => return Err(no_metric),
    };
    let text = |keys: &[&str]| {
        keys.iter().find_map(|key| fields?.get(*key).and_then(Value::as_str)).map(Value::from)
    };
    let mut out = Map::new();
    let label = text(&["label", "name", "title"]).unwrap_or_else(|| source.into());
    out.insert("label".to_owned(), label);
    out.insert("value".to_owned(), metric);
    if let Some(unit) = text(&["unit"]) {
        out.insert("unit".to_owned(), unit);
    }
    let delta = fields.and_then(|map| map.get("delta").or_else(|| map.get("change")));
    if let Some(delta) = delta.filter(|delta| delta.is_number() || delta.is_string()) {
        out.insert("delta".to_owned(), delta.clone());
    }
    out.insert("source".to_owned(), source.into());
    Ok(Value::Object(out))
}

/// Finds the metric of an object: its `value`, `count` or `total`, or how many rows it holds.
fn metric_of(map: &Map) -> Option<Value> {
    VALUE_KEYS
        .iter()
        .find_map(|key| map.get(*key).filter(|value| value.is_number() || value.is_string()))
        .cloned()
        .or_else(|| {
            let rows = ROW_KEYS.iter().find_map(|key| map.get(*key).and_then(Value::as_array))?;
            Some(rows.len().into())
        })
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
            transform(Transform::CompactTable, &value, "s").unwrap(),
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
        let table = transform(Transform::CompactTable, &json!(rows), "s").unwrap();
        assert_eq!(table["columns"].as_array().unwrap().len(), 20);
        assert_eq!(table["rows"].as_array().unwrap().len(), 100);
        assert_eq!((&table["count"], &table["truncated"]), (&json!(101), &json!(true)));
    }

    #[test]
    fn rows_are_found_where_providers_put_them() {
        for key in ROW_KEYS {
            let value = json!({ "other": 1, *key: ["x"] });
            let table = transform(Transform::CompactTable, &value, "s").unwrap();
            assert_eq!(table["rows"], json!([{ "value": "x" }]));
        }
        for value in [json!({ "rows": 1 }), json!("x"), json!(null)] {
            assert!(transform(Transform::CompactTable, &value, "s").is_err());
        }
    }

    #[test]
    fn a_metric_has_its_parts() {
        let check = |value: Value, want: Value| {
            assert_eq!(transform(Transform::MetricSummary, &value, "git.summary").unwrap(), want);
        };
        check(
            json!({ "name": "Stars", "count": 7, "unit": "★", "delta": -1, "noise": [] }),
            json!({ "label": "Stars", "value": 7, "unit": "★", "delta": -1, "source": "git.summary" }),
        );
        check(json!(3), json!({ "label": "git.summary", "value": 3, "source": "git.summary" }));
        check(
            json!([1, 2]),
            json!({ "label": "git.summary", "value": 2, "source": "git.summary" }),
        );
        check(
            json!({ "items": [1, 2, 3] }),
            json!({ "label": "git.summary", "value": 3, "source": "git.summary" }),
        );
        assert!(transform(Transform::MetricSummary, &json!({}), "s").is_err());
        assert!(transform(Transform::MetricSummary, &json!(true), "s").is_err());
    }
}
