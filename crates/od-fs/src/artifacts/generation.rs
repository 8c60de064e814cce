//! One whole generation of an artifact's files, and its framed form.

use std::collections::BTreeMap;

use od_core::artifact::{Digests, FileDigests};
use od_core::ids::{Digest, RefreshId, Revision};

use super::pointer::{POINTER_FILE, Pointer};
use crate::disk::{Frame, FrameError};

/// A file of the set.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum SetFile {
    Template,
    Data,
    Provenance,
    Index,
}

impl SetFile {
    pub(crate) const ALL: [Self; 4] = [Self::Template, Self::Data, Self::Provenance, Self::Index];
    /// The files people may edit; `index.html` is derived.
    pub(crate) const SOURCES: [Self; 3] = [Self::Template, Self::Data, Self::Provenance];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Template => "template.html",
            Self::Data => "data.json",
            Self::Provenance => "provenance.json",
            Self::Index => "index.html",
        }
    }

    /// The most bytes a file may have: what the rules allow, with room for indentation by hand.
    pub(crate) const fn bytes_max(self) -> u64 {
        match self {
            Self::Template => 2 * 1024 * 1024,
            Self::Data | Self::Provenance => 8 * 1024 * 1024,
            Self::Index => 16 * 1024 * 1024,
        }
    }

    /// Returns what a pointer says of the file.
    pub(crate) const fn digests(self, digests: &Digests) -> &FileDigests {
        match self {
            Self::Template => &digests.template,
            Self::Data => &digests.data,
            Self::Provenance => &digests.provenance,
            Self::Index => &digests.index,
        }
    }
}

const REPLACES: &str = "replaces";
const AUDIT: &str = "audit";
const STEPS: &str = "audit-steps";
const SNAPSHOT: &str = "snapshot";

/// Raw digests of copies that a roll-forward may replace, by file name. Anything else was written by
/// hand meanwhile.
pub(crate) type Replaces = BTreeMap<String, Vec<Digest>>;

/// Everything one commit writes.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    pub(crate) pointer: Pointer,
    pub(crate) pointer_bytes: Vec<u8>,
    pub(crate) template: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) provenance: Vec<u8>,
    pub(crate) index: Vec<u8>,
    pub(crate) replaces: Replaces,
    /// The audit record, without its line end, and the refresh whose snapshot this is.
    pub(crate) refresh: Option<RefreshPart>,
}

/// What a refresh adds to a commit.
#[derive(Clone, Debug)]
pub(crate) struct RefreshPart {
    pub(crate) id: RefreshId,
    /// Earlier records of the refresh that are in the log but were not synced, each with its line
    /// end: the audit record continues their chain, so it never goes without them.
    pub(crate) steps: Vec<u8>,
    pub(crate) audit_line: Vec<u8>,
}

impl RefreshPart {
    /// Returns every record the commit answers for, oldest first, without line ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let steps = self.steps.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        steps.chain([self.audit_line.as_slice()])
    }
}

impl Generation {
    pub(crate) fn revision(&self) -> Revision {
        self.pointer.artifact.revision
    }

    pub(crate) fn bytes(&self, file: SetFile) -> &[u8] {
        match file {
            SetFile::Template => &self.template,
            SetFile::Data => &self.data,
            SetFile::Provenance => &self.provenance,
            SetFile::Index => &self.index,
        }
    }

    /// Returns the bytes of `pending/<revision>`.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut frame = Frame::default();
        frame.push(POINTER_FILE, &self.pointer_bytes);
        for file in SetFile::ALL {
            frame.push(file.name(), self.bytes(file));
        }
        frame.push(REPLACES, &serde_json::to_vec(&self.replaces)?);
        if let Some(refresh) = &self.refresh {
            frame.push(STEPS, &refresh.steps);
            frame.push(AUDIT, &refresh.audit_line);
            frame.push(SNAPSHOT, refresh.id.as_str().as_bytes());
        }
        Ok(frame.encode())
    }

    /// Reads a generation back; every file must be the one its pointer names.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let frame = Frame::decode(bytes)?;
        let part = |name: &str| frame.section(name).map(<[u8]>::to_vec).ok_or(FrameError);
        let pointer_bytes = part(POINTER_FILE)?;
        let pointer = Pointer::decode(&pointer_bytes).map_err(|_| FrameError)?;
        let refresh = match (frame.section(AUDIT), frame.section(SNAPSHOT)) {
            (Some(line), Some(id)) => {
                let id = std::str::from_utf8(id).ok().and_then(|id| id.parse().ok());
                let steps = frame.section(STEPS).unwrap_or_default().to_vec();
                Some(RefreshPart { id: id.ok_or(FrameError)?, steps, audit_line: line.to_vec() })
            }
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(FrameError),
        };
        let generation = Self {
            template: part(SetFile::Template.name())?,
            data: part(SetFile::Data.name())?,
            provenance: part(SetFile::Provenance.name())?,
            index: part(SetFile::Index.name())?,
            replaces: serde_json::from_slice(&part(REPLACES)?).map_err(|_| FrameError)?,
            pointer,
            pointer_bytes,
            refresh,
        };
        let whole = SetFile::ALL.iter().all(|file| {
            file.digests(&generation.pointer.artifact.digests).raw
                == Digest::of_bytes(generation.bytes(*file))
        });
        if whole { Ok(generation) } else { Err(FrameError) }
    }
}
