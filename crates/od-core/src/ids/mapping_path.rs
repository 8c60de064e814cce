//! Dot paths into JSON, as output mappings write them.

use super::{ParseIdError, string_newtype};
use crate::limits;

/// A path into JSON: keys and array indexes joined with dots, optionally after `$.`; `$` alone is
/// the whole value.
///
/// At most 8 steps, for JSON is at most 8 deep. `__proto__`, `prototype` and `constructor` are no
/// steps.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct MappingPath(String);

string_newtype!(
    MappingPath,
    "^(\\$|(\\$\\.)?[A-Za-z0-9_@-]+(\\.[A-Za-z0-9_@-]+){0,7})$",
    260,
    "dot path into JSON such as items.0.name; $ is the whole value"
);

/// One step of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment<'a> {
    /// The step as a key.
    pub key: &'a str,
    /// The step as an index, if it is a plain decimal number.
    pub index: Option<usize>,
}

impl MappingPath {
    /// Returns the path of the whole value.
    #[must_use]
    pub fn root() -> Self {
        Self("$".to_owned())
    }

    /// Returns the steps from the root; none for `$`.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let steps = match self.0.strip_prefix('$') {
            Some(rest) => rest.strip_prefix('.').unwrap_or(rest),
            None => self.0.as_str(),
        };
        steps.split('.').filter(|key| !key.is_empty()).map(Segment::of)
    }

    /// Returns whether the path names the whole value.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == "$"
    }
}

impl<'a> Segment<'a> {
    pub(crate) fn of(key: &'a str) -> Self {
        let is_number =
            key.bytes().all(|b| b.is_ascii_digit()) && (key == "0" || !key.starts_with('0'));
        Self { key, index: if is_number { key.parse().ok() } else { None } }
    }
}

impl std::str::FromStr for MappingPath {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let fault = |want| Err(ParseIdError { what: "mapping path", want });
        if text == "$" {
            return Ok(Self(text.to_owned()));
        }
        if text.len() > limits::PATH.max() {
            return fault("at most 260 characters");
        }
        let steps = text.strip_prefix("$.").unwrap_or(text);
        let is_key = |key: &str| {
            !key.is_empty()
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'@'))
        };
        if !steps.split('.').all(is_key) {
            return fault("keys of A-Z a-z 0-9 _ - @ and array indexes, joined with dots");
        }
        if steps.split('.').count() > limits::JSON_DEPTH.max() {
            return fault("at most 8 steps");
        }
        if steps.split('.').any(|key| matches!(key, "__proto__" | "prototype" | "constructor")) {
            return fault("no step named __proto__, prototype or constructor");
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, steps: &[(&str, Option<usize>)]) {
        let path: MappingPath = path.parse().unwrap();
        let read: Vec<_> = path.segments().map(|s| (s.key, s.index)).collect();
        assert_eq!(read, steps);
    }

    #[test]
    fn steps_are_keys_and_indexes() {
        check("$", &[]);
        check("items", &[("items", None)]);
        check("$.items.0.name", &[("items", None), ("0", Some(0)), ("name", None)]);
        check("a.01", &[("a", None), ("01", None)]);
        check("a.99999999999999999999", &[("a", None), ("99999999999999999999", None)]);
    }

    #[test]
    fn expressions_and_prototypes_are_refused() {
        for bad in [
            "",
            ".",
            "$.",
            "$a",
            "a.",
            ".a",
            "a..b",
            "a[0]",
            "a.*",
            "a b",
            "$.$",
            "__proto__",
            "a.constructor.b",
            "prototype",
            "a.b.c.d.e.f.g.h.i",
            "é",
        ] {
            assert!(bad.parse::<MappingPath>().is_err(), "{bad:?}");
        }
    }
}
