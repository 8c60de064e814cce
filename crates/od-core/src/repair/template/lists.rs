//! The lists of an artifact's data, and the one that a name or a field belongs to.

use crate::error::nearest_name;
use crate::json::Value;

/// An array of the data that bindings can name.
#[derive(Clone, Debug)]
pub(super) struct List<'d> {
    /// From `data`.
    pub(super) path: String,
    pub(super) rows: &'d [Value],
}

impl List<'_> {
    /// Returns the key of the list.
    pub(super) fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Returns whether some row has a value at these steps.
    pub(super) fn has(&self, steps: &[&str]) -> bool {
        self.rows.iter().any(|row| follow(row, steps).is_some())
    }
}

/// Returns the arrays of the data that are reached through objects, outermost first.
pub(super) fn lists(data: &Value) -> Vec<List<'_>> {
    let mut found = Vec::new();
    let mut level = vec![("data".to_owned(), data)];
    while !level.is_empty() {
        let mut below = Vec::new();
        for (path, value) in level {
            let Some(map) = value.as_object() else { continue };
            for (key, value) in map.iter().filter(|(key, _)| crate::template::is_key(key)) {
                let path = format!("{path}.{key}");
                match value {
                    Value::Array(rows) => found.push(List { path, rows }),
                    Value::Object(_) => below.push((path, value)),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                }
            }
        }
        level = below;
    }
    found
}

/// Chooses the list that a repeat means, by the name it gives, the alias of its rows and the fields
/// that are shown of them.
pub(super) fn meant<'l, 'd>(
    lists: &'l [List<'d>],
    name: Option<&str>,
    alias: Option<&str>,
    fields: &[Vec<&str>],
) -> Option<&'l List<'d>> {
    let score = |list: &List<'_>| {
        let key = fold(list.key());
        let shown = fields.iter().filter(|steps| list.has(steps)).count();
        let all = !fields.is_empty() && shown == fields.len();
        let named = name.is_some_and(|name| fold(name) == key);
        let near = name.is_some_and(|name| nearest_name(name, [list.key()]).is_some());
        let singular = alias.is_some_and(|alias| is_singular(&fold(alias), &key));
        (named, all, near || singular, shown)
    };
    let best = lists.iter().rev().max_by_key(|list| score(list))?;
    let (named, all, near, shown) = score(best);
    (named || all || near || shown > 0 || lists.len() == 1).then_some(best)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns whether a name is that of one item of a list.
pub(super) fn is_one_of(name: &str, list: &str) -> bool {
    is_singular(&fold(name), &fold(list))
}

fn is_singular(one: &str, many: &str) -> bool {
    many.strip_suffix('s') == Some(one)
        || many.strip_suffix("es") == Some(one)
        || (many.strip_suffix("ies").is_some() && many.strip_suffix("ies") == one.strip_suffix('y'))
        || (one.len() > 2 && many.ends_with(&format!("{one}s")))
}

/// Follows dotted steps into a value.
pub(super) fn follow<'v>(value: &'v Value, steps: &[&str]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match value {
        Value::Object(map) => map.get(*step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Finds the one place of the data, below objects, where a key has a value that can be shown.
pub(super) fn place_of_key(data: &Value, key: &str) -> Option<String> {
    let mut found = Vec::new();
    let mut level = vec![("data".to_owned(), data)];
    while !level.is_empty() {
        let mut below = Vec::new();
        for (path, value) in level {
            let Some(map) = value.as_object() else { continue };
            for (name, value) in map {
                let path = format!("{path}.{name}");
                if name == key && !value.is_object() && !value.is_array() {
                    found.push(path.clone());
                }
                below.push((path, value));
            }
        }
        level = below;
    }
    match <[String; 1]>::try_from(found) {
        Ok([path]) => Some(path),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_list_is_found_by_its_name_its_rows_or_what_they_show() {
        let data = json!({ "releases": [{ "tag": "v1" }], "team": { "people": [{ "name": "A" }] }, "empty": [] });
        let lists = lists(&data);
        let check = |name: Option<&str>, alias: Option<&str>, field: &str, path: Option<&str>| {
            let fields: Vec<Vec<&str>> = vec![field.split('.').collect()];
            let fields = if field.is_empty() { &[][..] } else { &fields[..] };
            assert_eq!(meant(&lists, name, alias, fields).map(|list| &*list.path), path);
        };
        check(Some("releases"), None, "", Some("data.releases"));
        check(Some("relases"), None, "", Some("data.releases"));
        check(None, Some("release"), "", Some("data.releases"));
        check(None, Some("row"), "name", Some("data.team.people"));
        check(None, Some("row"), "nothing", None);
    }
}
