//! Paths into the data: `data.rows.0.name`, or `row.name` inside a repeat.

use std::fmt;

use serde_json::{Map, Value};

/// The start of a path.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Root {
    /// The artifact's data.
    Data,
    /// The row of a repeat around it, by that repeat's depth; 0 is the outermost.
    Row(u8),
}

/// One step of a path.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Segment {
    /// Into an object.
    Key(Box<str>),
    /// Into an array, from 0.
    Index(usize),
}

/// A parsed path.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Path {
    /// The value that the steps start from.
    pub root: Root,
    /// The steps from there.
    pub segments: Box<[Segment]>,
}

/// The reasons why a text is no path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PathFault {
    /// It does not follow the grammar.
    Grammar,
    /// It begins with neither `data` nor an alias.
    Root,
}

impl Path {
    /// Parses a path; `aliases` name the rows of the repeats around it, outermost first.
    pub(crate) fn parse(text: &str, aliases: &[Box<str>]) -> Result<Self, PathFault> {
        let mut words = text.split('.');
        let first = words.next().unwrap_or_default();
        if !is_key(first) {
            return Err(PathFault::Grammar);
        }
        // With room for exactly what comes, the box is not allocated a second time.
        let mut segments = Vec::with_capacity(memchr::memchr_iter(b'.', text.as_bytes()).count());
        for word in words {
            segments.push(segment(word).ok_or(PathFault::Grammar)?);
        }
        let root = match first {
            "data" if segments.is_empty() => return Err(PathFault::Grammar),
            "data" => Root::Data,
            name => match aliases.iter().position(|alias| **alias == *name) {
                Some(depth) => Root::Row(depth as u8),
                None => return Err(PathFault::Root),
            },
        };
        Ok(Self { root, segments: segments.into() })
    }

    /// Follows the path; `None` when it leads nowhere. `rows` are the rows of the repeats around
    /// it, outermost first.
    #[must_use]
    pub fn resolve<'v>(&self, data: &'v Value, rows: &[&'v Value]) -> Option<&'v Value> {
        let value = match self.root {
            Root::Data => data,
            Root::Row(depth) => rows.get(usize::from(depth))?,
        };
        self.resolve_from(value)
    }

    /// Follows the path from the value that its root stands for.
    pub(crate) fn resolve_from<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        follow(root, &self.segments)
    }

    /// Follows the path from where its first step led.
    pub(crate) fn resolve_rest<'v>(&self, first: &'v Value) -> Option<&'v Value> {
        follow(first, self.segments.get(1..).unwrap_or_default())
    }
}

fn follow<'v>(mut value: &'v Value, segments: &[Segment]) -> Option<&'v Value> {
    for segment in segments {
        value = match (segment, value) {
            (Segment::Key(key), Value::Object(map)) => lookup(map, key)?,
            (Segment::Index(index), Value::Array(items)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(value)
}

/// The largest object whose keys are compared one by one; above it, hashing the wanted key costs less.
const COMPARED_MAX: usize = 12;

/// Finds a key in an object.
fn lookup<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    if map.len() > COMPARED_MAX {
        return map.get(key);
    }
    map.iter().find(|(other, _)| same(other, key)).map(|(_, value)| value)
}

/// Whether two keys are the same. Most keys have 8 to 16 bytes or 4 to 8, and two comparisons of
/// words, which may overlap, cost less than a call.
#[inline]
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        8..=16 => ends::<8>(one) == ends::<8>(other),
        4..=7 => ends::<4>(one) == ends::<4>(other),
        _ => one == other,
    }
}

#[inline]
fn ends<const N: usize>(bytes: &[u8]) -> (Option<&[u8; N]>, Option<&[u8; N]>) {
    (bytes.first_chunk(), bytes.last_chunk())
}

impl fmt::Display for Segment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => formatter.write_str(key),
            Self::Index(index) => write!(formatter, "{index}"),
        }
    }
}

/// Returns whether the text is an object key that a template may name.
pub(crate) fn is_key(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Returns whether the text can name the row of a repeat.
pub(crate) fn is_alias(text: &str) -> bool {
    is_key(text) && !text.contains('-') && text != "data"
}

fn segment(text: &str) -> Option<Segment> {
    if is_key(text) {
        return Some(Segment::Key(text.into()));
    }
    let canonical = text == "0" || (!text.starts_with('0') && text.len() <= 9);
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| text.parse().ok().map(Segment::Index))?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(text: &str, fault: PathFault) {
        assert_eq!(Path::parse(text, &["item".into()]), Err(fault), "{text}");
    }

    #[test]
    fn the_grammar_is_that_of_the_contract() {
        for good in ["data.a", "data.a-b.0.c_d", "item", "item.x", "item.0", "data._"] {
            assert!(Path::parse(good, &["item".into()]).is_ok(), "{good}");
        }
        for bad in
            ["", "data", "data.", ".data", "data..a", "data.0a", "data.-a", "data.01", "data.a b"]
        {
            refused(bad, PathFault::Grammar);
        }
        for bad in ["data['a']", "data.*", "data.a()", "data.é", "0", "data.9999999999"] {
            refused(bad, PathFault::Grammar);
        }
        refused("row.x", PathFault::Root);
        refused("Data.x", PathFault::Root);
    }

    proptest::proptest! {
        #[test]
        fn keys_are_the_same_exactly_when_their_bytes_are(one in "[ab]{0,20}", other in "[ab]{0,20}") {
            proptest::prop_assert_eq!(same(&one, &other), one == other);
            proptest::prop_assert!(same(&one, &one.clone()));
        }

        #[test]
        fn small_and_large_objects_find_the_same_keys(count in 0..30_u32, wanted in 0..30_u32) {
            let map: Map<String, Value> = (0..count).map(|n| (format!("k{n}"), json!(n))).collect();
            let key = format!("k{wanted}");
            proptest::prop_assert_eq!(lookup(&map, &key), map.get(&key));
        }
    }

    #[test]
    fn a_path_never_mixes_keys_and_positions() {
        let data = json!({ "list": [1, 2], "map": { "0": 3, "k": null } });
        let at = |text: &str| Path::parse(text, &[]).unwrap().resolve(&data, &[]).cloned();
        assert_eq!(at("data.list.1"), Some(json!(2)));
        assert_eq!(at("data.list.2"), None);
        assert_eq!(at("data.list.length"), None);
        assert_eq!(at("data.map.0"), None);
        assert_eq!(at("data.map.k"), Some(json!(null)));
    }
}
