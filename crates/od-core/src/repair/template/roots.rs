//! Paths that lead nowhere in the data, and the ones that were probably meant.

use super::lists::{follow, place_of_key};
use crate::error::nearest_name;
use crate::json::{Map, Value};

/// Names that people give to the same thing.
const SYNONYMS: &[&[&str]] = &[
    &["name", "title", "label", "heading"],
    &["count", "rowcount", "total", "value", "amount", "number", "quantity"],
    &["url", "link", "href", "address"],
    &["date", "time", "day", "timestamp", "updatedat", "createdat"],
    &["description", "summary", "text", "notes", "message"],
    &["items", "rows", "results", "entries", "list", "records", "data"],
];

/// Returns the steps of the place that a path means: without names of the whole before it, with keys
/// that are spelt otherwise, or at another level.
pub(super) fn meant(data: &Value, steps: &[&str]) -> Option<Vec<String>> {
    let owned = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
    let tails = |from: usize| (from..steps.len()).map(move |at| &steps[at..]);
    let exact = tails(0).find(|tail| follow(data, tail).is_some());
    if let Some(tail) = exact {
        return Some(owned(tail));
    }
    if let Some(near) = tails(0).find_map(|tail| nearby(data, tail)) {
        return Some(near);
    }
    let last = steps.last()?;
    let path = place_of_key(data, last)?;
    Some(path.split('.').skip(1).map(str::to_owned).collect())
}

/// Returns the path in a value that another one means, dotted.
pub(crate) fn meant_path(value: &Value, steps: &[&str]) -> Option<String> {
    meant(value, steps).map(|steps| steps.join("."))
}

/// Follows steps through keys that are near them.
fn nearby(data: &Value, steps: &[&str]) -> Option<Vec<String>> {
    let mut value = data;
    let mut found = Vec::new();
    for step in steps {
        let (key, next) = match value {
            Value::Object(map) => {
                let key = near_key(map, step)?;
                (key.to_owned(), map.get(key)?)
            }
            Value::Array(items) => {
                // `-1` is the last one.
                let at = step.parse::<isize>().ok()?;
                let at =
                    if at < 0 { items.len().checked_add_signed(at)? } else { at.unsigned_abs() };
                (at.to_string(), items.get(at)?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
        found.push(key);
        value = next;
    }
    Some(found)
}

/// Returns the key of an object that a name means.
pub(super) fn near_key<'m>(map: &'m Map, name: &str) -> Option<&'m str> {
    let keys = || map.keys().map(String::as_str).filter(|key| crate::template::is_key(key));
    let folded = fold(name);
    let group = SYNONYMS.iter().find(|group| group.contains(&folded.as_str()));
    keys()
        .find(|key| *key == name)
        .or_else(|| keys().find(|key| fold(key) == folded))
        .or_else(|| nearest_name(name, keys()))
        .or_else(|| keys().find(|key| group.is_some_and(|it| it.contains(&fold(key).as_str()))))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the binding to write for one that leads nowhere: `path` as it is written, `full` with the
/// lists that its row stands for (`data.rows.*.name`). The second part says that it needs a format of
/// the second grammar.
pub(crate) fn instead(data: &Value, path: &str, full: &str) -> Option<(String, bool)> {
    let steps: Vec<&str> = full.split('.').skip(1).collect();
    if let Some((_, list)) = steps.split_last().filter(|(last, _)| is_length(last))
        && follow(data, list).is_some_and(Value::is_array)
    {
        return Some((format!("data.{} | count", list.join(".")), true));
    }
    let Some(star) = steps.iter().rposition(|step| *step == "*") else {
        let meant = meant(data, &steps)?;
        let shown = follow(data, &meant.iter().map(String::as_str).collect::<Vec<_>>())?;
        let is_scalar = !shown.is_array() && !shown.is_object();
        return is_scalar.then(|| (format!("data.{}", meant.join(".")), false));
    };
    let (list, rest) = (&steps[..star], &steps[star + 1..]);
    // Of rows inside rows nobody knows which row it is.
    if list.contains(&"*") || rest.is_empty() {
        return None;
    }
    let rows = follow(data, list)?.as_array()?;
    let found = rows.iter().find_map(|row| {
        let tails = (0..rest.len()).map(|at| &rest[at..]);
        tails.clone().find_map(|tail| nearby(row, tail)).or_else(|| {
            let path = place_of_key(row, rest.last()?)?;
            Some(path.split('.').skip(1).map(str::to_owned).collect())
        })
    })?;
    let alias = path.split('.').next()?;
    Some((format!("{alias}.{}", found.join(".")), false))
}

pub(super) fn is_length(step: &str) -> bool {
    matches!(step, "length" | "size" | "count")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_that_leads_nowhere_is_found_by_what_it_means() {
        let data = json!({ "title": "T", "openCount": 7, "summary": { "open": 1 },
            "rows": [{ "label": "a", "n": 3 }] });
        let check = |path: &str, full: &str, found: Option<&str>| {
            let found = found.map(str::to_owned);
            assert_eq!(instead(&data, path, full).map(|it| it.0), found, "{full}");
        };
        check("data.Title", "data.Title", Some("data.title"));
        check("data.titel", "data.titel", Some("data.title"));
        check("data.open_count", "data.open_count", Some("data.openCount"));
        check("data.data.title", "data.data.title", Some("data.title"));
        check("data.open", "data.open", Some("data.summary.open"));
        check("data.summary.title", "data.summary.title", Some("data.title"));
        check("data.rows.length", "data.rows.length", Some("data.rows | count"));
        check("row.name", "data.rows.*.name", Some("row.label"));
        check("data.nothing", "data.nothing", None);
        check("data.rows", "data.row", None);
    }
}
