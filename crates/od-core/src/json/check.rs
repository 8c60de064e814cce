//! The limits of JSON (depth, keys, items, texts, size), and the check of a value already in memory. The
//! scanner holds bytes to the same limits while it reads them.

use super::canonical::string_size;
use super::deny::is_denied_key;
use super::fault::{FaultKind, JsonFaults};
use super::number::hold_number;
use super::pointer::Pointer;
use super::{Map, Value};
use crate::limits::{self, Limit, utf16_len};

/// The limits one kind of document is read under.
pub(super) struct Rules {
    pub(super) depth: Limit,
    pub(super) keys: Limit,
    pub(super) items: Limit,
    pub(super) string: Limit,
    pub(super) document: Limit,
    pub(super) denies_keys: bool,
}

/// The limits of what is persisted: all of the contract.
pub(super) const BOUNDED: Rules = Rules {
    depth: limits::JSON_DEPTH,
    keys: limits::JSON_KEYS,
    items: limits::JSON_ITEMS,
    string: limits::JSON_STRING,
    document: limits::JSON_DOCUMENT,
    denies_keys: true,
};

/// Checks a value: the value with its numbers as they are held and its canonical size, or every
/// fault.
pub(super) fn check(mut value: Value, rules: &Rules) -> Result<(Value, usize), JsonFaults> {
    let mut checker = Checker { rules, faults: JsonFaults::default() };
    let size = checker.value(&mut value, 1, Path::Root);
    if !rules.document.allows(size) {
        checker.faults.note_over(FaultKind::DocumentTooLarge, Pointer::root, size, &rules.document);
    }
    if checker.faults.is_empty() { Ok((value, size)) } else { Err(checker.faults) }
}

/// The way to a value, linked through the stack of the walk.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl Path<'_> {
    fn pointer(&self) -> Pointer {
        match self {
            Self::Root => Pointer::root(),
            Self::Key(parent, key) => parent.pointer().key(key),
            Self::Index(parent, index) => parent.pointer().index(*index),
        }
    }
}

struct Checker<'r> {
    rules: &'r Rules,
    faults: JsonFaults,
}

impl Checker<'_> {
    /// Checks one value and returns its canonical size; what is past a limit is not looked into.
    fn value(&mut self, value: &mut Value, depth: usize, path: Path<'_>) -> usize {
        match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => match hold_number(number) {
                Some(held) => {
                    *number = held.number;
                    held.size
                }
                None => {
                    let shown = number.to_string();
                    self.faults.note(
                        FaultKind::InexactNumber,
                        || path.pointer(),
                        || shown,
                        || "integers within ±(2^53 - 1), or finite doubles that are not larger integers".to_owned(),
                    );
                    0
                }
            },
            Value::String(text) => self.text(text, path),
            Value::Array(_) | Value::Object(_) if !self.rules.depth.allows(depth) => {
                let limit = &self.rules.depth;
                self.faults.note_over(FaultKind::TooDeep, || path.pointer(), depth, limit);
                0
            }
            Value::Array(items) => self.array(items, depth, path),
            Value::Object(map) => self.object(map, depth, path),
        }
    }

    fn array(&mut self, items: &mut [Value], depth: usize, path: Path<'_>) -> usize {
        let limit = &self.rules.items;
        let over = !limit.allows(items.len());
        let count = items.len();
        let mut size = 2 + count.saturating_sub(1);
        for (i, item) in items.iter_mut().take(limit.max()).enumerate() {
            size += self.value(item, depth + 1, Path::Index(&path, i));
        }
        if over {
            self.faults.note_over(FaultKind::TooManyItems, || path.pointer(), count, limit);
        }
        size
    }

    fn object(&mut self, map: &mut Map, depth: usize, path: Path<'_>) -> usize {
        let limit = &self.rules.keys;
        let count = map.len();
        let mut size = 2 + count.saturating_sub(1);
        for (key, value) in map.iter_mut().take(limit.max()) {
            let here = Path::Key(&path, key);
            size += self.text(key, here) + 1;
            if self.rules.denies_keys && is_denied_key(key) {
                self.faults.note(
                    FaultKind::DeniedKey,
                    || here.pointer(),
                    || format!("`{key}`"),
                    || "none of the keys that name raw responses or credentials".to_owned(),
                );
            }
            size += self.value(value, depth + 1, here);
        }
        if !limit.allows(count) {
            self.faults.note_over(FaultKind::TooManyKeys, || path.pointer(), count, limit);
        }
        size
    }

    fn text(&mut self, text: &str, path: Path<'_>) -> usize {
        let limit = &self.rules.string;
        if !limit.allows(text.len()) {
            let units = utf16_len(text);
            if !limit.allows(units) {
                self.faults.note_over(FaultKind::StringTooLong, || path.pointer(), units, limit);
            }
        }
        if text.bytes().any(|b| b == 0) {
            self.faults.note(
                FaultKind::NulCharacter,
                || path.pointer(),
                || "\\u0000".to_owned(),
                || "no NUL".to_owned(),
            );
        }
        string_size(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::json::BoundedObject;

    fn is_allowed(value: &Value) -> bool {
        BoundedObject::check(json!({ "a": value })).is_ok()
    }

    #[test]
    fn a_value_in_memory_has_the_limits_of_a_text() {
        // The object around it is the first level.
        let nested = |depth: usize| (2..depth).fold(json!([]), |inner, _| json!([inner]));
        assert_eq!([8, 9].map(|depth| is_allowed(&nested(depth))), [true, false]);
        assert_eq!([500, 501].map(|items| is_allowed(&json!(vec![1; items]))), [true, false]);
        let text = "x".repeat(16_000);
        assert_eq!([16, 17].map(|texts| is_allowed(&json!(vec![&text; texts]))), [true, false]);
    }
}
