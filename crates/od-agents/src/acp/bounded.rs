//! Texts and lists of a message that are bounded while they are read: whatever an agent sends, no more of
//! it is in memory than the line itself and what is kept.

use std::fmt::{self, Write as _};
use std::marker::PhantomData;

use od_core::agent::cut_bytes;
use od_core::limits::AGENT_TOOL_TEXT;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// One byte more than is shown, so that a text that was cut is told from one that fits.
const KEPT: usize = AGENT_TOOL_TEXT.max() + 1;

/// The first items of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct First<T, const N: usize>(pub(crate) Vec<T>);

impl<T, const N: usize> Default for First<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for First<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = First<T, N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(First::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while items.len() < N {
                    match seq.next_element()? {
                        Some(item) => items.push(item),
                        None => return Ok(First(items)),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(items))
            }
        }
        deserializer.deserialize_any(Items(PhantomData))
    }
}

/// Any JSON value as text, as far as it is shown: a text as it is, anything else as indented JSON.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct JsonText(pub(crate) String);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = String::new();
        Writing { text: &mut text, depth: 0 }.deserialize(deserializer)?;
        Ok(Self(text))
    }
}

/// Writes the value that is read.
struct Writing<'t> {
    text: &'t mut String,
    depth: usize,
}

impl Writing<'_> {
    fn push(&mut self, part: &str) {
        let room = KEPT.saturating_sub(self.text.len());
        self.text.push_str(&part[..part.floor_char_boundary(room)]);
    }

    fn quoted(&mut self, text: &str) {
        let (text, _) = cut_bytes(text, KEPT.saturating_sub(self.text.len()));
        // A text always serializes.
        self.push(&serde_json::to_string(&text).unwrap_or_default());
    }

    fn line(&mut self, depth: usize) {
        self.push("\n");
        self.push(&"  ".repeat(depth.min(16)));
    }

    fn shown(&mut self, value: impl fmt::Display) {
        let mut text = String::new();
        let _ = write!(text, "{value}");
        self.push(&text);
    }
}

impl<'de> DeserializeSeed<'de> for Writing<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writing<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.push("null");
        Ok(())
    }
    fn visit_bool<E>(mut self, value: bool) -> Result<(), E> {
        self.shown(value);
        Ok(())
    }
    fn visit_i64<E>(mut self, value: i64) -> Result<(), E> {
        self.shown(value);
        Ok(())
    }
    fn visit_u64<E>(mut self, value: u64) -> Result<(), E> {
        self.shown(value);
        Ok(())
    }
    fn visit_f64<E>(mut self, value: f64) -> Result<(), E> {
        self.shown(value);
        Ok(())
    }
    fn visit_str<E>(mut self, value: &str) -> Result<(), E> {
        if self.depth == 0 {
            self.push(value);
        } else {
            self.quoted(value);
        }
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        self.push("[");
        let (depth, mut is_first) = (self.depth + 1, true);
        loop {
            if self.text.len() >= KEPT {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(());
            }
            let len = self.text.len();
            if !is_first {
                self.push(",");
            }
            self.line(depth);
            if seq.next_element_seed(Writing { text: &mut *self.text, depth })?.is_none() {
                self.text.truncate(len);
                break;
            }
            is_first = false;
        }
        if !is_first {
            self.line(depth - 1);
        }
        self.push("]");
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.push("{");
        let (depth, mut is_first) = (self.depth + 1, true);
        while let Some(key) = map.next_key::<String>()? {
            if self.text.len() >= KEPT {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if !is_first {
                self.push(",");
            }
            is_first = false;
            self.line(depth);
            self.quoted(&key);
            self.push(": ");
            map.next_value_seed(Writing { text: &mut *self.text, depth })?;
        }
        if !is_first {
            self.line(depth - 1);
        }
        self.push("}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> String {
        serde_json::from_str::<JsonText>(json).unwrap().0
    }

    #[test]
    fn a_value_is_shown_as_it_is() {
        assert_eq!(read(r#""a\nb""#), "a\nb");
        assert_eq!(read("{}"), "{}");
        assert_eq!(read("[]"), "[]");
        let text = r#"{"command":"ls \"x\"","n":[1,-2.5,true,null,{"k":[]}]}"#;
        let want = serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(text), serde_json::to_string_pretty(&want).unwrap());
    }

    #[test]
    fn however_large_a_value_is_no_more_of_it_is_kept_than_is_shown() {
        let items = format!("[{}1]", "1,".repeat(1_000_000));
        assert_eq!(read(&items).len(), KEPT);
        let keys: String = (0..200_000).map(|n| format!("\"k{n}\":[[[]]],")).collect();
        assert_eq!(read(&format!("{{{keys}\"x\":1}}")).len(), KEPT);
        let text = format!("\"{}\"", "é".repeat(1_000_000));
        assert!(read(&text).len() <= KEPT);
        let list: First<u64, 3> = serde_json::from_str(&items).unwrap();
        assert_eq!(list.0, [1, 1, 1]);
    }

    #[test]
    fn what_is_too_deep_is_refused_and_not_followed() {
        assert!(serde_json::from_str::<JsonText>(&"[".repeat(100_000)).is_err());
    }
}
