//! One whole generation of an artifact's files, and its framed form.

use std::collections::BTreeMap;
use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, FileDigests};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json;
use od_core::limits::{JSON_DOCUMENT, RENDERED_PREVIEW, TEMPLATE};
use od_ports::store::{SourceFile, Stored};

use super::pointer::{POINTER_FILE, Pointer, StorePart};
use crate::disk::{DiskError, Frame, FrameError};

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

    /// Returns the most bytes a file may have: what the rules allow, with room for what is larger on
    /// disk than in canonical form. Data that is indented by hand can take many times its canonical
    /// size.
    pub(crate) const fn bytes_max(self) -> u64 {
        match self {
            Self::Template => 2 * TEMPLATE.allowed,
            Self::Data | Self::Provenance => 32 * JSON_DOCUMENT.allowed,
            Self::Index => 2 * RENDERED_PREVIEW.allowed,
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

/// The part of a commit that a refresh adds.
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

/// The parts of a commit that is to be made.
pub(crate) struct Draft {
    pub(crate) state: ArtifactState,
    pub(crate) page: Arc<[u8]>,
    pub(crate) revision: Revision,
    pub(crate) last_refresh: Option<RefreshId>,
    pub(crate) refresh: Option<RefreshPart>,
}

/// Builds the generation, and sets revision and digests of the state to match.
pub(crate) fn build(draft: Draft) -> Result<(ArtifactState, Generation), DiskError> {
    let Draft { mut state, page, revision, last_refresh, refresh } = draft;
    let unwritable = |err: serde_json::Error| {
        DiskError::new("write an artifact as JSON", std::io::Error::from(err))
    };
    let provenance_value = serde_json::to_value(&state.provenance).map_err(unwritable)?;
    let template = state.template_html.as_bytes().to_vec();
    let data = json::pretty_bytes(state.data.value());
    let provenance = json::pretty_bytes(&provenance_value);
    let index = page.to_vec();
    state.artifact.revision = revision;
    state.artifact.digests = Digests {
        template: FileDigests::of_html(&template),
        data: FileDigests::of_json(state.data.value(), &data),
        provenance: FileDigests::of_json(&provenance_value, &provenance),
        index: FileDigests::of_html(&index),
    };
    let store = StorePart { last_refresh };
    let pointer = Pointer { artifact: state.artifact.clone(), store };
    let pointer_bytes = pointer.encode().map_err(unwritable)?;
    let generation = Generation {
        pointer,
        pointer_bytes,
        template,
        data,
        provenance,
        index,
        replaces: Replaces::new(),
        refresh,
    };
    Ok((state, generation))
}

/// Returns which copies the next generation may replace: those of the last commit, and hand edits that
/// it adopts. An edit that the change was not made from is none of them, and is kept aside.
pub(crate) fn replaceable(before: &Stored, committed: &Digests, next: &Digests) -> Replaces {
    let mut replaces = Replaces::new();
    for file in SetFile::ALL {
        let mut digests = vec![file.digests(committed).raw.clone()];
        let adopted = seen(before, file, committed)
            .filter(|(_, content)| *content == file.digests(next).content);
        digests.extend(adopted.map(|(raw, _)| raw));
        replaces.insert(file.name().to_owned(), digests);
    }
    replaces
}

/// Returns raw and content digest of a source file as it was last read.
fn seen(before: &Stored, file: SetFile, committed: &Digests) -> Option<(Digest, Digest)> {
    let page_key = before.page_key.as_ref()?;
    let (source, raw) = match file {
        SetFile::Template => (SourceFile::Template, &page_key.template),
        SetFile::Data => (SourceFile::Data, &page_key.data),
        SetFile::Provenance => (SourceFile::Provenance, &page_key.provenance),
        SetFile::Index => return None,
    };
    let drift = before.drift.iter().find(|drift| drift.file == source);
    let content = drift.map_or(&file.digests(committed).content, |drift| &drift.found);
    Some((raw.clone(), content.clone()))
}
