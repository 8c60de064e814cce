//! A small YAML tree with positions, read under a budget.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A value of the frontmatter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Node {
    /// A string.
    Text(String),
    /// A scalar that YAML does not read as a string: a number, a boolean.
    Other(String),
    /// Nothing.
    Empty,
    /// A sequence.
    List(Vec<Self>),
    /// A mapping, in order.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Line and column of the key, from 1, inside the YAML text.
    pub(super) at: (u64, u64),
    pub(super) value: Node,
}

impl Node {
    /// Returns the text of a scalar.
    pub(super) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Other(text) => Some(text),
            Self::Empty | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns what kind of value it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Other(_) => "a number or boolean",
            Self::Empty => "nothing",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Empty)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Empty)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let at = (key.referenced.line(), key.referenced.column());
            map.push(Entry { key: key.value, at, value: entries.next_value()? });
        }
        Ok(Node::Map(map))
    }
}
