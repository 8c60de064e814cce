//! Values known to be within every limit.

use std::sync::{Arc, LazyLock};

use super::check::{BOUNDED, check};
use super::fault::{FaultKind, JsonFaults};
use super::pointer::Pointer;
use super::scanner::scan;
use super::{Map, Value, type_name};

/// A JSON value within every limit of the contract, without denied keys.
///
/// Numbers are held in one form: whole doubles as integers, minus zero as zero. So the value read
/// back from its canonical form, or from disk, equals this one.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedJson {
    value: Value,
    size: usize,
}

impl BoundedJson {
    /// Reads a document in one pass, applying every limit while reading.
    ///
    /// # Errors
    ///
    /// Returns a syntax fault, which stops the scan, and every fault before it; otherwise every
    /// fault of the document, at most 20.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonFaults> {
        let (value, size) = scan(bytes, &BOUNDED)?;
        Ok(Self { value, size })
    }

    /// Applies the same limits to a value already in memory.
    ///
    /// # Errors
    ///
    /// Returns every fault of the value, at most 20.
    pub fn check(value: Value) -> Result<Self, JsonFaults> {
        let (value, size) = check(value, &BOUNDED)?;
        Ok(Self { value, size })
    }

    /// Returns the value.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the value.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Returns the bytes of the canonical form, as counted while reading.
    #[must_use]
    pub const fn canonical_size(&self) -> usize {
        self.size
    }
}

/// A JSON object within every limit of the contract, without denied keys.
///
/// ```
/// use od_core::json::BoundedObject;
///
/// let data = BoundedObject::parse(br#"{ "rows": [1, 2.0] }"#).unwrap();
/// assert_eq!(data.value()["rows"][1], 2);
///
/// let faults = BoundedObject::parse(br#"{ "password": "x", "n": 9007199254740993 }"#).unwrap_err();
/// assert_eq!(faults.faults().len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedObject {
    /// Always an object; shared, because a quarter of a mebibyte of data goes from hand to hand unchanged.
    value: Arc<Value>,
    size: usize,
}

impl BoundedObject {
    /// Reads a document whose root is an object.
    ///
    /// # Errors
    ///
    /// As [`BoundedJson::parse`], and if the root is not an object.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonFaults> {
        BoundedJson::parse(bytes)?.try_into()
    }

    /// Applies the same limits to an object already in memory.
    ///
    /// # Errors
    ///
    /// As [`BoundedJson::check`], and if the value is not an object.
    pub fn check(value: Value) -> Result<Self, JsonFaults> {
        BoundedJson::check(value)?.try_into()
    }

    /// Returns the object as a value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the object as a value.
    #[must_use]
    pub fn into_value(self) -> Value {
        Arc::unwrap_or_clone(self.value)
    }

    /// Returns whether both are one value that went from hand to hand: then nothing that was worked out of
    /// the one need be worked out of the other. Equal values that were read apart are not told.
    #[must_use]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.value, &other.value)
    }

    /// Returns the object's members.
    #[must_use]
    pub fn object(&self) -> &Map {
        static EMPTY: LazyLock<Map> = LazyLock::new(Map::new);
        // The constructors let only objects in.
        self.value.as_object().unwrap_or(&EMPTY)
    }

    /// Returns whether it has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.object().is_empty()
    }

    /// Returns the bytes of the canonical form, as counted while reading.
    #[must_use]
    pub const fn canonical_size(&self) -> usize {
        self.size
    }
}

impl Default for BoundedObject {
    fn default() -> Self {
        Self { value: Arc::new(Value::Object(Map::new())), size: 2 }
    }
}

impl TryFrom<BoundedJson> for BoundedObject {
    type Error = JsonFaults;
    fn try_from(json: BoundedJson) -> Result<Self, JsonFaults> {
        let BoundedJson { value, size } = json;
        if value.is_object() {
            return Ok(Self { value: Arc::new(value), size });
        }
        let mut faults = JsonFaults::default();
        faults.note(
            FaultKind::NotAnObject,
            Pointer::root,
            || type_name(&value).to_owned(),
            || "an object".to_owned(),
        );
        Err(faults)
    }
}

impl From<BoundedObject> for BoundedJson {
    fn from(object: BoundedObject) -> Self {
        Self { value: Arc::unwrap_or_clone(object.value), size: object.size }
    }
}

macro_rules! through_check {
    ($name:ident, $schema:tt) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.value.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = Value::deserialize(deserializer)?;
                Self::check(value).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

through_check!(BoundedJson, {
    "description": "any JSON: at most 8 levels, 100 keys an object, 500 items an array, 16384 UTF-16 code units a string, 262144 bytes in canonical form; no keys that name credentials or raw responses",
});
through_check!(BoundedObject, {
    "type": "object",
    "maxProperties": 100,
    "description": "a JSON object: at most 8 levels, 100 keys an object, 500 items an array, 16384 UTF-16 code units a string, 262144 bytes in canonical form; no keys that name credentials or raw responses",
});
