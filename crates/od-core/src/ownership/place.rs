//! Places of the data.

use crate::ids::{MappingPath, Segment};
use crate::json::{Map, Value, type_name};
use crate::limits;

/// Stands on the way to a place: the place is all of the data.
pub(crate) const WHOLE_DATA: &str = "the whole data";
/// Stands on the way to a place: an array has no such item.
pub(crate) const NO_SUCH_INDEX: &str = "an array without that index";

/// A place of the data as an exact JSON pointer (RFC 6901); the empty one is the whole data.
///
/// [`crate::json::Pointer`] shortens long keys for refusals; this one never does.
#[derive(
    Clone,
    Debug,
    Default,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct Place(#[schemars(length(max = limits::SHORT_TEXT.allowed))] String);

impl Place {
    /// Returns the whole data.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Returns the member of this place under a key, or the item under an index written as one.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{escaped}", self.0))
    }

    /// Returns the place above this one; none above the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rfind('/').map(|end| Self(self.0[..end].to_owned()))
    }

    /// Returns whether this is the other place, or lies inside it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(&other.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the value that stands here, if there is one.
    #[must_use]
    pub fn find<'v>(&self, data: &'v Value) -> Option<&'v Value> {
        data.pointer(&self.0)
    }

    /// As [`Self::find`], in the members of an object.
    #[must_use]
    pub fn find_in<'v>(&self, data: &'v Map) -> Option<&'v Value> {
        let first = self.steps().next()?;
        let below = self.0.get(1..)?.find('/').map_or("", |end| &self.0[1 + end..]);
        data.get(&first)?.pointer(below)
    }

    /// Replaces what stands here, making the objects above it where nothing stands.
    ///
    /// # Errors
    ///
    /// Returns what stands on the way: a scalar, an array without that index, or the whole data.
    pub(crate) fn put(&self, data: &mut Map, value: Value) -> Result<(), &'static str> {
        let mut steps = self.steps();
        let Some(first) = steps.next() else { return Err(WHOLE_DATA) };
        let mut here = data.entry(first).or_insert(Value::Null);
        for step in steps {
            if here.is_null() {
                *here = Value::Object(Map::new());
            }
            here = match here {
                Value::Object(map) => map.entry(step).or_insert(Value::Null),
                Value::Array(items) => {
                    let index = Segment::of(&step).index;
                    let item = index.and_then(|index| items.get_mut(index));
                    item.ok_or(NO_SUCH_INDEX)?
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    return Err(type_name(here));
                }
            };
        }
        *here = value;
        Ok(())
    }

    /// Returns the keys and indexes from the root.
    pub fn steps(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
    }

    /// Returns the number of steps from the root.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.bytes().filter(|byte| *byte == b'/').count()
    }

    /// Returns the place as a pointer.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes the place as mappings and bindings do, joined with dots; `$` is the whole data. Keys
    /// that no mapping can name are shown as they are.
    #[must_use]
    pub fn dotted(&self) -> String {
        if self.0.is_empty() {
            return "$".to_owned();
        }
        self.steps().collect::<Vec<_>>().join(".")
    }

    /// Returns whether a record may name the place: a longer one is remembered by what is above it.
    pub(super) fn is_short(&self) -> bool {
        limits::SHORT_TEXT.allows(limits::utf16_len(&self.0))
    }
}

impl From<&MappingPath> for Place {
    fn from(path: &MappingPath) -> Self {
        path.segments().fold(Self::root(), |place, segment| place.key(segment.key))
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.0
    }
}

impl TryFrom<String> for Place {
    type Error = NotAPlace;
    fn try_from(text: String) -> Result<Self, NotAPlace> {
        let place = Self(text);
        let is_pointer = place.0.is_empty() || place.0.starts_with('/');
        if is_pointer && place.is_short() { Ok(place) } else { Err(NotAPlace) }
    }
}

/// Names places for a message: the first 20, fewer if they are long, and how many more there are.
#[must_use]
pub fn name_places(places: &[Place]) -> String {
    // A message has room for 2,048 characters.
    const TEXT_MAX: usize = 1_500;
    let mut text = String::new();
    for (i, place) in places.iter().enumerate() {
        let name = place.dotted();
        if i == limits::JSON_FAULTS.max() || text.len() + name.len() > TEXT_MAX {
            return format!("{text} and {} more", places.len() - i);
        }
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(&name);
    }
    text
}

/// A text is no place.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a JSON pointer of at most 1,024 characters")]
pub struct NotAPlace;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_exact_whatever_its_keys_are() {
        let data = json!({ "a/b~c": { "x.y": [1, { "z": 2 }] } });
        let place = Place::root().key("a/b~c").key("x.y").key("1").key("z");
        assert_eq!(place.find(&data), Some(&json!(2)));
        assert_eq!(place.find_in(data.as_object().unwrap()), Some(&json!(2)));
        let mut written = data.as_object().unwrap().clone();
        place.put(&mut written, json!(3)).unwrap();
        assert_eq!(place.find_in(&written), Some(&json!(3)));
        assert_eq!(place.steps().collect::<Vec<_>>(), ["a/b~c", "x.y", "1", "z"]);
        assert_eq!(place.parent().unwrap().find(&data), Some(&json!({ "z": 2 })));
        assert_eq!(Place::try_from(String::from(place.clone())), Ok(place));
        assert_eq!(Place::try_from("a".to_owned()), Err(NotAPlace));
    }

    #[test]
    fn a_key_that_begins_like_another_is_not_inside_it() {
        let place = |text: &str| Place::try_from(text.to_owned()).unwrap();
        assert!(place("/a/b").is_within(&place("/a")) && place("/a").is_within(&place("/a")));
        assert!(place("/a").is_within(&Place::root()));
        assert!(!place("/ab").is_within(&place("/a")) && !place("/a").is_within(&place("/a/b")));
    }
}
