//! A part of a compact JSON text, walked without building a tree.

use std::borrow::Cow;

use super::cell::{CellRef, number_cell};
use super::json_text::unescape;
use crate::json::{Map, Value};

/// One value of a [`super::JsonText`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct JsonSlice<'a> {
    text: &'a str,
}

impl<'a> JsonSlice<'a> {
    /// Takes a text that holds exactly one value in the compact form.
    pub(super) const fn whole(text: &'a str) -> Self {
        Self { text }
    }

    /// Returns the compact text of the value.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.text
    }

    /// Returns whether the value is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.text.starts_with('[')
    }

    /// Returns whether the value is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.text.starts_with('{')
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.text.starts_with('"').then(|| unescape(self.text))
    }

    /// Returns the items of an array; none if it is something else.
    #[must_use]
    pub fn items(self) -> Items<'a> {
        Items { rest: if self.is_array() { &self.text[1..] } else { "]" } }
    }

    /// Returns the members of an object; none if it is something else.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        Members { rest: if self.is_object() { &self.text[1..] } else { "}" } }
    }

    /// Returns an object's member.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        self.members().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns an array's item.
    #[must_use]
    pub fn item(self, index: usize) -> Option<Self> {
        self.items().nth(index)
    }

    /// Returns the value as a table's cell; an object or array is its own JSON text.
    #[must_use]
    pub fn cell(self) -> CellRef<'a> {
        match self.text.as_bytes().first() {
            Some(b'"') => CellRef::Text(unescape(self.text)),
            Some(b'{' | b'[') => CellRef::Text(Cow::Borrowed(self.text)),
            Some(b't') => CellRef::Bool(true),
            Some(b'f') => CellRef::Bool(false),
            Some(b'n') | None => CellRef::Null,
            Some(_) => number_cell(self.text),
        }
    }

    /// Builds the value. A number that a double does not hold exactly becomes a text.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self.text.as_bytes().first() {
            Some(b'"') => Value::String(unescape(self.text).into_owned()),
            Some(b'{') => {
                let members =
                    self.members().map(|(key, value)| (key.into_owned(), value.to_value()));
                Value::Object(members.collect::<Map>())
            }
            Some(b'[') => Value::Array(self.items().map(Self::to_value).collect()),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            Some(b'n') | None => Value::Null,
            Some(_) => number_cell(self.text).to_value(),
        }
    }
}

/// Walks the items of an array.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Items<'a> {
    type Item = JsonSlice<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.rest.starts_with(']') {
            return None;
        }
        Some(take_value(&mut self.rest))
    }
}

/// Walks the members of an object.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, JsonSlice<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.rest.starts_with('}') {
            return None;
        }
        let end = value_end(self.rest.as_bytes());
        let key = unescape(&self.rest[..end]);
        // Past the colon.
        self.rest = &self.rest[(end + 1).min(self.rest.len())..];
        Some((key, take_value(&mut self.rest)))
    }
}

/// Takes the first value, and the comma after it.
fn take_value<'a>(rest: &mut &'a str) -> JsonSlice<'a> {
    let end = value_end(rest.as_bytes());
    let (value, after) = rest.split_at(end);
    *rest = after.strip_prefix(',').unwrap_or(after);
    JsonSlice { text: value }
}

/// Returns where the first value of a compact text ends.
pub(super) fn value_end(bytes: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' | b':' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the offset after the closing quote of the string that opens at `quote`.
pub(super) fn string_end(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += offset;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}
