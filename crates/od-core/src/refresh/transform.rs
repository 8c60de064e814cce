//! The three ways a value is changed on its way into the data.

use super::compact_table::{ROW_KEYS, compact_table};
use crate::artifact::Transform;
use crate::json::{Map, Value, type_name};

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

/// Where a metric's value stands in an object, the first that is a scalar wins.
pub(super) const VALUE_KEYS: &[&str] = &["value", "count", "total"];

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
