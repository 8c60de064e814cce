//! The first values that a page shows, for whoever made it and cannot look at it.

use super::advice::{first_shown, is_shown, steps};
use crate::artifact::ArtifactState;
use crate::json::{Map, Value};
use crate::limits::{FIRST_VALUE_TEXT, FIRST_VALUES, cut};

/// Returns the first paths that the page binds, each with the value that it shows; of a list, with
/// that of its first row. `null` is a place where the page shows nothing.
#[must_use]
pub fn first_values(state: &ArtifactState) -> Map {
    // A template that does not compile is refused with its faults.
    let Ok((template, _)) = state.compile_template() else { return Map::new() };
    let mut shown = Map::new();
    for binding in template.bindings().iter().filter(|binding| is_shown(binding)) {
        let path = binding.full_path.replace(".*", ".0");
        if shown.contains_key(&path) {
            continue;
        }
        if !FIRST_VALUES.allows(shown.len() + 1) {
            break;
        }
        let value = first_shown(state.data.value(), &steps(binding));
        shown.insert(path, value.map_or(Value::Null, short));
    }
    shown
}

/// Cuts what a person would not read in an answer.
fn short(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let cut = cut(text.clone(), FIRST_VALUE_TEXT);
            Value::from(if cut.len() < text.len() { cut + "…" } else { cut })
        }
        Value::Array(items) => Value::from(format!("{} items", items.len())),
        Value::Object(fields) => Value::from(format!("{} fields", fields.len())),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::Author;
    use crate::decide::created;

    #[test]
    fn the_first_values_are_those_of_the_first_rows_by_position() {
        let state = created(
            &json!({
                "input": { "title": "T", "document": { "dataJson": {
                    "rows": [{ "name": "a", "n": 1 }, { "name": "b", "n": 2 }], "long": "x".repeat(200),
                } } },
                "templateHtml": "<h1>{{data.long}}</h1><p>{{data.lost}}</p><ul><li \
                    data-od-repeat=\"row in data.rows\">{{row.name}}: {{row.n}} {{row.name}}</li></ul>",
            }),
            Author::Agent,
        );
        let values = first_values(&state);
        let paths: Vec<&String> = values.keys().collect();
        assert_eq!(paths, ["data.long", "data.lost", "data.rows.0.name", "data.rows.0.n"]);
        assert_eq!(values["data.long"], json!("x".repeat(80) + "…"));
        assert_eq!((&values["data.lost"], &values["data.rows.0.n"]), (&json!(null), &json!(1)));
    }

    #[test]
    fn a_page_with_many_bindings_shows_a_few() {
        let page: String = (0..30).map(|i| format!("<p>{{{{data.k{i}}}}}</p>")).collect();
        let body = json!({ "input": { "title": "T" }, "templateHtml": page });
        assert_eq!(first_values(&created(&body, Author::Agent)).len(), FIRST_VALUES.max());
    }
}
