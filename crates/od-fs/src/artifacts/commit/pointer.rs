//! `artifact.json`: the metadata, and the commit pointer.
//!
//! The last line is a checksum over every byte before it, so that no damaged pointer is believed.

use od_core::artifact::Artifact;
use od_core::grant::GrantSeal;
use od_core::ids::{Digest, RefreshId};
use od_core::json::{self, Value};
use serde::{Deserialize, Serialize};

use crate::disk::{Dir, DiskError, is_foreign};
use crate::grants::GrantGuard;

pub(crate) const POINTER_FILE: &str = "artifact.json";
/// Metadata is bounded like any document; source and schema come on top of it, and the store's part.
pub(crate) const POINTER_BYTES_MAX: u64 = od_core::limits::POINTER_FILE.allowed;
pub(crate) const SCHEMA_VERSION: u64 = 1;

const TAIL_START: &[u8] = b",\n  \"checksum\": \"";
const TAIL_END: &[u8] = b"\"\n}\n";
const DIGEST_BYTES: usize = 71;

/// The store's own part of the pointer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StorePart {
    /// The refresh of the last refresh commit: ids never go back behind it, whatever the log says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_refresh: Option<RefreshId>,
    /// The seal of what the artifact is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grants: Option<GrantSeal>,
}

/// A pointer that was read and believed.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub(crate) artifact: Artifact,
    pub(crate) store: StorePart,
}

/// The reason not to believe a pointer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum PointerFault {
    /// The bytes are not those that were written.
    Checksum,
    /// It was written by a program with another schema version.
    Version(u64),
    /// The checksum holds, but this program cannot read what it says.
    Shape(String),
}

impl Pointer {
    /// Returns the file's bytes.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut value = serde_json::to_value(&self.artifact)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("store".to_owned(), serde_json::to_value(&self.store)?);
        }
        let mut bytes = json::pretty_bytes(&value);
        // The object is not empty, so the text ends with a line of its own for the brace.
        bytes.truncate(bytes.len().saturating_sub(b"\n}\n".len()));
        let checksum = Digest::of_bytes(&bytes);
        bytes.extend_from_slice(TAIL_START);
        bytes.extend_from_slice(checksum.as_str().as_bytes());
        bytes.extend_from_slice(TAIL_END);
        Ok(bytes)
    }

    /// Takes away what the artifact was allowed elsewhere.
    #[must_use]
    pub(crate) fn checked(mut self, grants: Option<&GrantGuard>) -> Self {
        if let Some(grants) = grants {
            grants.check(&mut self.artifact, self.store.grants.as_ref());
        }
        self
    }

    /// Reads the pointer of an artifact; `None` if there is none that can be believed.
    pub(crate) fn read_sound(artifact: &Dir) -> Result<Option<Self>, DiskError> {
        match artifact.read_if_there(POINTER_FILE, POINTER_BYTES_MAX) {
            Ok(bytes) => Ok(bytes.and_then(|bytes| Self::decode(&bytes).ok())),
            Err(err) if is_foreign(&err) => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Reads the file's bytes back.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, PointerFault> {
        if !checksum_holds(bytes) {
            return Err(without_checksum(bytes));
        }
        let mut artifact: Artifact =
            serde_json::from_slice(bytes).map_err(|err| unknown_shape(bytes, &err))?;
        // The store's part is no field of an artifact, so it comes with those of newer daemons.
        artifact.extra.shift_remove("checksum");
        let store = artifact.extra.shift_remove("store").unwrap_or_default();
        let store = serde_json::from_value(store)
            .map_err(|err: serde_json::Error| PointerFault::Shape(err.to_string()))?;
        Ok(Self { artifact, store })
    }
}

/// Returns whether the bytes are those that were written.
fn checksum_holds(bytes: &[u8]) -> bool {
    let tail_bytes = TAIL_START.len() + DIGEST_BYTES + TAIL_END.len();
    let Some(body_bytes) = bytes.len().checked_sub(tail_bytes) else { return false };
    let (body, tail) = bytes.split_at(body_bytes);
    tail.strip_prefix(TAIL_START)
        .and_then(|rest| rest.strip_suffix(TAIL_END))
        .is_some_and(|checksum| checksum == Digest::of_bytes(body).as_str().as_bytes())
}

/// Returns why a pointer whose checksum holds cannot be read.
fn unknown_shape(bytes: &[u8], err: &serde_json::Error) -> PointerFault {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    match value.get("schemaVersion").and_then(Value::as_u64) {
        Some(version) if version != SCHEMA_VERSION => PointerFault::Version(version),
        Some(_) | None => PointerFault::Shape(err.to_string()),
    }
}

/// Returns why a pointer without its checksum is not believed: it is a later form of the file, which
/// may have none of ours, or it is damaged.
fn without_checksum(bytes: &[u8]) -> PointerFault {
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    let field = |name| value.as_ref().and_then(|value: &Value| value.get(name));
    match field("schemaVersion").and_then(Value::as_u64) {
        Some(version) if version != SCHEMA_VERSION && field("checksum").is_none() => {
            PointerFault::Version(version)
        }
        Some(_) | None => PointerFault::Checksum,
    }
}
