//! Loops over an object: one element for each of its keys, written out; keys that no path can name.

use std::ops::Range;

use super::Translator;
use super::marks::{Loop, Mark, MarkKind};
use crate::json::{Map, Value};
use crate::repair::template::lists::follow;
use crate::template::is_key;

/// The most keys that are written out.
const KEYS_MAX: usize = 12;
/// The longest part of the data that a fix writes anew, in bytes.
const DATA_MAX: usize = 1_500;

impl Translator<'_, '_> {
    /// Writes loops over the members of an object out, and takes their marks away.
    pub(super) fn unroll_objects(&mut self) {
        for block in self.paired() {
            let MarkKind::For(head) = self.marks[block.open].kind.clone() else { continue };
            let Some((path, map)) = self.object_of(&head.list) else { continue };
            let inner = self.marks[block.open].span.end..self.marks[block.close].span.start;
            let whole = self.marks[block.open].span.start..self.marks[block.close].span.end;
            let text: Vec<String> =
                map.keys().map(|key| self.member(&head, &inner, &path, key)).collect();
            self.edit(whole.clone(), text.join(""));
            self.note(
                whole.start,
                "one element for each key of today's data: a repeat needs a list",
            );
            self.marks
                .retain(|mark| !(whole.start <= mark.span.start && mark.span.end <= whole.end));
            // The indexes of the other blocks are those of the marks before.
            return self.unroll_objects();
        }
    }

    fn object_of(&self, list: &str) -> Option<(String, Map)> {
        let list = list.trim();
        let calls = [".items()", ".entries()", ".items", "|items", "| items", ".iteritems()"];
        let bare = calls.iter().find_map(|call| list.strip_suffix(call)).unwrap_or(list);
        let bare = bare.strip_prefix("Object.entries(").unwrap_or(bare).trim_end_matches(')');
        let path = bare.trim().trim_start_matches("data.").trim_start_matches('$').to_owned();
        let steps: Vec<&str> = path.split('.').collect();
        let map = follow(self.data, &steps)?.as_object()?;
        let is_plain = |value: &Value| !value.is_array() && !value.is_object();
        let fits = !map.is_empty()
            && map.len() <= KEYS_MAX
            && map.iter().all(|(key, value)| is_key(key) && is_plain(value));
        fits.then(|| (path, map.clone()))
    }

    /// Writes the inside of a loop for one member.
    fn member(&self, head: &Loop, inner: &Range<usize>, path: &str, key: &str) -> String {
        let source = self.outline.source;
        let mut text = String::new();
        let mut at = inner.start;
        let is_inside = |mark: &&Mark| inner.start <= mark.span.start && mark.span.end <= inner.end;
        for mark in self.marks.iter().filter(is_inside) {
            let Some(shown) = mark.shown() else { continue };
            let shown = shown.trim();
            let is_key = matches!(shown, "@key" | "key" | "$key")
                || (head.index.is_some() && head.alias.as_deref() == Some(shown));
            let is_value = matches!(shown, "this" | "." | "value")
                || head.index.as_deref() == Some(shown)
                || (head.index.is_none() && head.alias.as_deref() == Some(shown));
            text.push_str(&source[at..mark.span.start]);
            match (is_key, is_value) {
                (true, _) => text.push_str(key),
                (false, true) => text.push_str(&format!("{{{{data.{path}.{key}}}}}")),
                (false, false) => text.push_str(&source[mark.span.clone()]),
            }
            at = mark.span.end;
        }
        text.push_str(&source[at..inner.end]);
        text
    }
}

/// Renames the keys of the data that a template names and no path can: returns the data's members
/// anew, and each key with its new name.
pub(in crate::repair::template) fn rename_keys(
    html: &str,
    data: &Value,
) -> Option<(Map, Vec<(String, String)>)> {
    let map = data.as_object()?;
    let mut names: Vec<(String, String)> = Vec::new();
    collect(data, &mut |key| {
        let is_named = !is_key(key)
            && !key.is_empty()
            && (html.contains(&format!(".{key}"))
                || html.contains(&format!("[\"{key}\"]"))
                || html.contains(&format!("['{key}']")));
        if is_named && !names.iter().any(|(known, _)| known == key) {
            let name = camel(key, names.len() + 1);
            names.push((key.to_owned(), name));
        }
    });
    if names.is_empty() {
        return None;
    }
    let mut changed = Map::new();
    for (key, value) in map {
        let renamed = rename(value, &names);
        let name = names.iter().find(|(known, _)| known == key).map(|(_, name)| name.clone());
        if renamed != *value || name.is_some() {
            changed.insert(name.unwrap_or_else(|| key.clone()), renamed);
        }
    }
    (Value::Object(changed.clone()).to_string().len() <= DATA_MAX).then_some((changed, names))
}

fn collect(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            found(key);
            collect(value, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn rename(value: &Value, names: &[(String, String)]) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| {
                    let name = names.iter().find(|(known, _)| known == key);
                    (name.map_or_else(|| key.clone(), |it| it.1.clone()), rename(value, names))
                })
                .collect(),
        ),
        Value::Array(items) => items.iter().map(|item| rename(item, names)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Writes a key as a path can name it: `Release name` is `releaseName`.
fn camel(key: &str, number: usize) -> String {
    let mut name = String::new();
    for word in key.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut letters = word.chars();
        let first = letters.next().unwrap_or_default();
        if name.is_empty() {
            name.push(first.to_ascii_lowercase());
        } else {
            name.push(first.to_ascii_uppercase());
        }
        name.extend(letters);
    }
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_name { name } else { format!("field{number}{name}") }
}
