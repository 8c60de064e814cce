//! The paths that an output has, each with the kind of its value: what a mapping can be written from.

use super::projection::first_rows;
use crate::intake::{Intake, JsonSlice, JsonText};
use crate::json::{Value, type_name};
use crate::limits::{OUTLINE_PATHS, TITLE, cut};

/// Levels below the whole; of a list the first item stands for all.
const DEPTH: usize = 4;

/// Lists the paths of an output with what stands there, in its own order, and no value of it.
#[must_use]
pub fn outline(output: &Intake) -> Vec<String> {
    let mut paths = Vec::new();
    match output {
        Intake::Json(text) => walk(text.root(), "", 0, &mut paths),
        Intake::Table(table) => {
            paths.push(format!("rows: an array of {}", table.len()));
            // A table that has rows has one whose cells can be written as JSON.
            if let Ok(row) = JsonText::from_value(&Value::Array(first_rows(table, 1))) {
                let first = row.root().item(0);
                first.into_iter().for_each(|row| walk(row, "rows.0", 1, &mut paths));
            }
            paths.push("columns: an array".to_owned());
            paths.push("count: a number".to_owned());
        }
    }
    let surplus = paths.len().saturating_sub(OUTLINE_PATHS.max());
    paths.truncate(OUTLINE_PATHS.max());
    if surplus > 0 {
        paths.push("and more".to_owned());
    }
    paths
}

fn walk(value: JsonSlice<'_>, path: &str, depth: usize, paths: &mut Vec<String>) {
    // One more than is shown says that there are more; a list of a million keys is not read to its end.
    if paths.len() > OUTLINE_PATHS.max() {
        return;
    }
    let below =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let shown = if path.is_empty() { "$" } else { path };
    let line = |kind: String| cut(format!("{shown}: {kind}"), TITLE);
    if value.is_object() {
        if path.is_empty() || depth >= DEPTH {
            paths.push(line("an object".to_owned()));
        }
        if depth < DEPTH {
            let members = value.members().take(OUTLINE_PATHS.max() + 1);
            members.for_each(|(name, inner)| walk(inner, &below(&name), depth + 1, paths));
        }
    } else if value.is_array() {
        paths.push(line(format!("an array of {}", value.items().count())));
        if let Some(first) = value.item(0).filter(|_| depth < DEPTH) {
            walk(first, &below("0"), depth + 1, paths);
        }
    } else {
        paths.push(line(type_name(&value.to_value()).to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> Vec<String> {
        outline(&Intake::try_from(value).unwrap())
    }

    #[test]
    fn every_path_is_there_with_its_kind_and_no_value() {
        let output = json!({ "total": 7, "days": [{ "date": "2026-01-01", "n": 3 }], "none": [] });
        assert_eq!(
            of(&output),
            [
                "$: an object",
                "total: a number",
                "days: an array of 1",
                "days.0.date: a string",
                "days.0.n: a number",
                "none: an array of 0",
            ]
        );
        assert_eq!(of(&json!([[1, 2]])), ["$: an array of 1", "0: an array of 2", "0.0: a number"]);
    }

    #[test]
    fn a_wide_output_and_a_deep_one_end_somewhere() {
        let wide: serde_json::Map<String, Value> =
            (0..5_000).map(|n| (format!("key-{n}"), n.into())).collect();
        let lines = of(&Value::Object(wide));
        assert_eq!(
            (lines.len(), lines.last().unwrap().as_str()),
            (OUTLINE_PATHS.max() + 1, "and more")
        );
        let deep = (0..30).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert_eq!(of(&deep), ["$: an object", "a.a.a.a: an object"]);
    }
}
