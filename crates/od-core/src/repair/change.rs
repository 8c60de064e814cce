//! One change of a JSON body, and the words that tell it.

use serde_json::Map;

use super::text_edits::quoted;
use crate::json::Value;

/// A change of a request's body. Applied in the order in which they are told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// Gives a member another name.
    Rename { at: String, to: String },
    /// Takes a value away and puts it elsewhere, below objects that are made for it.
    Move { from: String, to: String },
    /// Sets a value, below objects that are made for it.
    Write { at: String, value: Value },
    /// Takes a value away.
    Remove { at: String },
    /// Replaces a text by the JSON it holds.
    Unquote { at: String },
    /// Replaces a value by the text of its JSON.
    Quote { at: String },
    /// Keeps the beginning of an array.
    KeepFirst { at: String, count: usize },
}

impl Change {
    /// Applies the change; `false` if there is nothing to apply it to.
    pub(super) fn apply(&self, body: &mut Value) -> bool {
        match self {
            Self::Rename { at, to } => {
                let Some((parent, key)) = parent_of(at) else { return false };
                let Some(Value::Object(map)) = body.pointer_mut(parent) else { return false };
                if map.contains_key(to) || !map.contains_key(&key) {
                    return false;
                }
                // In its old place, so that a person who compares finds it again.
                let renamed = std::mem::take(map).into_iter().map(|(name, value)| {
                    if name == key { (to.clone(), value) } else { (name, value) }
                });
                *map = renamed.collect();
                true
            }
            Self::Move { from, to } => {
                let Some(value) = body.pointer(from).cloned() else { return false };
                if to.starts_with(&format!("{from}/")) {
                    return set(body, from, Value::Object(Map::new())) && set(body, to, value);
                }
                if body.pointer(to).is_some() {
                    return false;
                }
                take(body, from).is_some() && set(body, to, value)
            }
            Self::Write { at, value } => set(body, at, value.clone()),
            Self::Remove { at } => take(body, at).is_some(),
            Self::Unquote { at } => {
                let read = body.pointer(at).and_then(Value::as_str).and_then(unquoted);
                read.is_some_and(|value| set(body, at, value))
            }
            Self::Quote { at } => {
                let text = body.pointer(at).map(ToString::to_string);
                text.is_some_and(|text| set(body, at, text.into()))
            }
            Self::KeepFirst { at, count } => match body.pointer_mut(at) {
                Some(Value::Array(items)) => {
                    items.truncate(*count);
                    true
                }
                _ => false,
            },
        }
    }

    /// Words the change for an issue at `here`.
    pub(super) fn words(&self, here: &str) -> String {
        let named = |verb: &str, at: &str| {
            if at == here { format!("{verb} it") } else { format!("{verb} `{at}`") }
        };
        match self {
            Self::Rename { at, to } => format!("{} to `{to}`", named("rename", at)),
            Self::Move { from, to } => format!("{} to `{to}`", named("move", from)),
            Self::Write { at, value } if at == here => {
                format!("write {}", quoted(&value.to_string()))
            }
            Self::Write { at, value } => format!("at `{at}` write {}", quoted(&value.to_string())),
            Self::Remove { at } => named("remove", at),
            Self::Unquote { at } => {
                format!("{}: send its JSON, not a string", named("unquote", at))
            }
            Self::Quote { at } => format!("{}: send its JSON as a string", named("quote", at)),
            Self::KeepFirst { at, count } => {
                format!("{} to its first {count} items", named("cut", at))
            }
        }
    }

    /// Reads the one change that a fix is told as by whoever found the fault, if it is one.
    pub(super) fn read(fix: &str, at: &str) -> Option<Self> {
        let at = at.to_owned();
        if let Some(text) = fix.strip_prefix("write `").and_then(|rest| rest.strip_suffix('`')) {
            return Some(Self::Write { at, value: serde_json::from_str(text).ok()? });
        }
        let to = fix.strip_prefix("rename it to `")?.strip_suffix('`')?.to_owned();
        Some(Self::Rename { at, to })
    }
}

/// Reads the JSON that a text holds, if it is an object or an array.
pub(super) fn unquoted(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Splits a pointer into its parent and the last step, unescaped.
pub(super) fn parent_of(pointer: &str) -> Option<(&str, String)> {
    let (parent, step) = pointer.rsplit_once('/')?;
    Some((parent, step.replace("~1", "/").replace("~0", "~")))
}

fn take(body: &mut Value, at: &str) -> Option<Value> {
    let (parent, key) = parent_of(at)?;
    match body.pointer_mut(parent)? {
        Value::Object(map) => map.shift_remove(&key),
        Value::Array(items) => {
            let index = key.parse::<usize>().ok().filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn set(body: &mut Value, at: &str, value: Value) -> bool {
    let Some((parent, key)) = parent_of(at) else {
        *body = value;
        return true;
    };
    if body.pointer(parent).is_none_or(Value::is_null)
        && !set(body, parent, Value::Object(Map::new()))
    {
        return false;
    }
    match body.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.insert(key, value);
            true
        }
        Some(Value::Array(items)) => match key.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items[index] = value;
                true
            }
            Ok(index) if index == items.len() => {
                items.push(value);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(change: &Change, before: Value, after: &Value) {
        let mut body = before;
        assert!(change.apply(&mut body), "{change:?}");
        assert_eq!(body, *after, "{change:?}");
    }

    #[test]
    fn changes_keep_what_they_do_not_name() {
        let rename = Change::Rename { at: "/a/b".into(), to: "c".into() };
        check(&rename, json!({ "a": { "b": 1, "d": 2 } }), &json!({ "a": { "c": 1, "d": 2 } }));
        assert!(!rename.apply(&mut json!({ "a": { "b": 1, "c": 2 } })), "nothing is overwritten");
        let wrap = Change::Move { from: "/a".into(), to: "/a/rows".into() };
        check(&wrap, json!({ "a": [1] }), &json!({ "a": { "rows": [1] } }));
        let deep = Change::Move { from: "/a".into(), to: "/x/y".into() };
        check(&deep, json!({ "a": 1 }), &json!({ "x": { "y": 1 } }));
        check(
            &Change::Unquote { at: "/a".into() },
            json!({ "a": "{\"b\":1}" }),
            &json!({ "a": { "b": 1 } }),
        );
    }

    #[test]
    fn the_words_name_the_place_where_it_is_another() {
        let change = Change::Write { at: "/a".into(), value: json!("x") };
        assert_eq!(change.words("/a"), "write `\"x\"`");
        assert_eq!(change.words("/b"), "at `/a` write `\"x\"`");
        assert_eq!(Change::read(&change.words("/a"), "/a"), Some(change));
    }
}
