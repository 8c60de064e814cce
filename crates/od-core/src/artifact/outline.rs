//! The outline of data: which places there are and what stands there, in few words.

use crate::ids::MappingPath;
use crate::json::{Value, canonical_size};
use crate::limits;
use crate::refresh::resolve;

/// The most characters of a text that an outline shows.
const SAMPLE_CHARS: usize = 40;

/// A part of an artifact's data, for somebody who has not seen it.
#[derive(Clone, Debug, PartialEq)]
pub struct DataView {
    /// A line for each place: its path, and its value or the number of things in it. Of a list only the
    /// first item is shown.
    pub outline: Vec<String>,
    /// The value itself, if it was asked for by its path and is small enough.
    pub value: Option<Value>,
}

impl DataView {
    /// Outlines the data, or the part of it at a path, which is then also given whole if it is at most
    /// [`limits::READ_VALUE`].
    ///
    /// # Errors
    ///
    /// Fails if nothing stands at the path.
    pub fn of(data: &Value, path: Option<&MappingPath>) -> Result<Self, NoValue> {
        let Some(path) = path else {
            return Ok(Self { outline: outline("", data), value: None });
        };
        let (path, found) = find(data, path)?;
        let root = if path.is_root() { "" } else { path.as_str() };
        let fits = limits::READ_VALUE.allows(canonical_size(found));
        Ok(Self { outline: outline(root, found), value: fits.then(|| found.clone()) })
    }
}

/// Finds a value; `data.` in front of a path, as templates write it, is no part of it.
fn find<'v>(data: &'v Value, path: &MappingPath) -> Result<(MappingPath, &'v Value), NoValue> {
    if let Some(found) = resolve(data, path) {
        return Ok((path.clone(), found));
    }
    let without = path.as_str().strip_prefix("data.").and_then(|rest| rest.parse().ok());
    match without.and_then(|path| resolve(data, &path).map(|found| (path, found))) {
        Some(found) => Ok(found),
        None => Err(NoValue::at(data, path)),
    }
}

/// Nothing stands at a path.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("nothing stands at `{path}`")]
pub struct NoValue {
    /// The path.
    pub path: MappingPath,
    /// The path that was probably meant.
    pub near: Option<String>,
    /// The names that stand beside the first one that is not there.
    pub beside: Vec<String>,
}

impl NoValue {
    fn at(data: &Value, path: &MappingPath) -> Self {
        let (mut value, mut known) = (data, Vec::new());
        for segment in path.segments() {
            let next = match value {
                Value::Object(map) => map.get(segment.key),
                Value::Array(items) => segment.index.and_then(|index| items.get(index)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            };
            let Some(next) = next else {
                let names: Vec<&str> = match value {
                    Value::Object(map) => map.keys().map(String::as_str).collect(),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_) => Vec::new(),
                };
                let near = crate::error::nearest_name(segment.key, names.iter().copied());
                let near = near.map(|name| join(&known.join("."), name));
                let beside = names.iter().take(10).map(|name| (*name).to_owned()).collect();
                return Self { path: path.clone(), near, beside };
            };
            known.push(segment.key);
            value = next;
        }
        Self { path: path.clone(), near: None, beside: Vec::new() }
    }
}

fn outline(root: &str, value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left_out = 0;
    walk(root, value, &mut lines, &mut left_out);
    if left_out > 0 {
        lines.push(format!("… and {left_out} more places: ask for one by its path"));
    }
    lines
}

fn walk(place: &str, value: &Value, lines: &mut Vec<String>, left_out: &mut usize) {
    if !place.is_empty() {
        if lines.len() < limits::OUTLINE_LINES.max() {
            lines.push(format!("{place}: {}", described(value)));
        } else {
            *left_out += 1;
        }
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                walk(&join(place, key), value, lines, left_out);
            }
        }
        Value::Array(items) => {
            if let Some(first) = items.first() {
                walk(&join(place, "0"), first, lines, left_out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn join(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}

fn described(value: &Value) -> String {
    let counted = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    match value {
        Value::Object(map) => counted(map.len(), "key", "keys"),
        Value::Array(items) => counted(items.len(), "item", "items"),
        Value::String(text) => {
            let shown: String = text.chars().take(SAMPLE_CHARS).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("{}{more}", Value::String(shown))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn view(data: &Value, path: &str) -> Result<DataView, NoValue> {
        DataView::of(data, Some(&path.parse().unwrap()))
    }

    #[test]
    fn an_outline_has_every_place_and_of_lists_the_first_item() {
        let data = json!({
            "title": "A text that is longer than what an outline has room for",
            "rows": [{ "name": "Ada", "n": 1 }, { "name": "Bob", "n": 2 }],
            "none": [], "one": { "ok": true, "gap": null },
        });
        let lines = DataView::of(&data, None).unwrap().outline;
        assert_eq!(
            lines,
            [
                "title: \"A text that is longer than what an outli\"…",
                "rows: 2 items",
                "rows.0: 2 keys",
                "rows.0.name: \"Ada\"",
                "rows.0.n: 1",
                "none: 0 items",
                "one: 2 keys",
                "one.ok: true",
                "one.gap: null",
            ]
        );
    }

    #[test]
    fn a_path_gives_its_value_with_or_without_the_word_that_templates_begin_with() {
        let data = json!({ "rows": [{ "n": 1 }, { "n": 2 }] });
        for path in ["rows.1", "$.rows.1", "data.rows.1"] {
            assert_eq!(view(&data, path).unwrap().value, Some(json!({ "n": 2 })), "{path}");
        }
        assert_eq!(view(&data, "$").unwrap().value, Some(data.clone()));
        assert_eq!(view(&data, "rows.1").unwrap().outline, ["rows.1: 1 key", "rows.1.n: 2"]);
    }

    #[test]
    fn a_large_value_is_only_outlined_and_a_large_outline_says_what_it_leaves_out() {
        let data = json!({ "text": "x".repeat(16_384), "many": (0..100).map(|n| (format!("k{n}"), json!(n))).collect::<serde_json::Map<_, _>>() });
        let view = view(&data, "$").unwrap();
        assert_eq!(view.value, None);
        assert_eq!(view.outline.len(), 101);
        assert_eq!(view.outline[100], "… and 2 more places: ask for one by its path");
    }

    #[test]
    fn a_path_to_nothing_names_the_one_that_was_meant() {
        let data = json!({ "rows": [{ "name": "Ada" }] });
        let refused = view(&data, "rows.0.nmae").unwrap_err();
        assert_eq!(refused.near.as_deref(), Some("rows.0.name"));
        let refused = view(&data, "rows.7").unwrap_err();
        assert_eq!((refused.near, refused.beside), (None, vec![]));
        assert_eq!(view(&data, "sums").unwrap_err().beside, ["rows"]);
    }
}
