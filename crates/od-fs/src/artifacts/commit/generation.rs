//! One whole generation of an artifact's files, and its framed form.

use std::collections::BTreeMap;

use od_core::artifact::{Artifact, ArtifactState, Digests, FileDigests};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json::{self, BoundedObject};
use od_core::ledger::{CommitNote, CommitRecord, LogRecord, next_revision};
use od_core::limits::{JSON_DOCUMENT, RENDERED_PREVIEW, TEMPLATE};
use od_core::refresh::RefreshRecord;
use od_ports::store::{SourceFile, Stored};

use super::pointer::{POINTER_FILE, Pointer, StorePart};
use crate::disk::{DiskError, Frame, FrameError};
use crate::grants::GrantGuard;

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

/// The part of a file that reaches the disk whole or not at all: no disk has smaller sectors.
const SECTOR: usize = 512;

const REPLACES: &str = "replaces";
const LOG_LINES: &str = "log";
const REFRESH: &str = "snapshot";
const AUDIT: &str = "audit";
const STEPS: &str = "audit-steps";

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
    /// The records of the commit.
    pub(crate) log: LogPart,
}

/// The records that a commit adds to the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogPart {
    /// The refresh that made the commit.
    pub(crate) refresh: Option<RefreshId>,
    /// Every record the commit answers for, oldest first, each with its line end: those of the refresh
    /// that are in the log but were not synced, its last one, and that of the commit. Each continues the
    /// chain of the one before it, so none goes without them.
    lines: Vec<u8>,
}

impl LogPart {
    /// Makes the part of a commit that follows `log_end`, with the unsynced lines that end there.
    pub(crate) fn new(
        unsynced: &[u8],
        log_end: Option<Digest>,
        refresh: Option<RefreshRecord>,
        mut commit: CommitRecord,
    ) -> Self {
        let mut part = Self { refresh: None, lines: unsynced.to_vec() };
        let mut end = log_end;
        if let Some(record) = refresh {
            part.refresh = Some(record.refresh_id.clone());
            commit.refresh_id = part.refresh.clone();
            end = Some(part.push(LogRecord::Refresh(record), end));
        }
        part.push(LogRecord::Commit(commit), end);
        part
    }

    fn push(&mut self, record: LogRecord, after: Option<Digest>) -> Digest {
        let line = record.to_line_after(after);
        let end = Digest::of_bytes(&line);
        self.lines.extend(line);
        self.lines.push(b'\n');
        end
    }

    /// Returns the records, oldest first, without line ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }

    /// Returns the records that can be read, oldest first.
    pub(crate) fn records(&self) -> impl Iterator<Item = LogRecord> {
        self.lines().filter_map(|line| LogRecord::parse(line).ok())
    }

    /// Returns the record of the commit; a frame of an earlier version has none.
    pub(crate) fn commit(&self) -> Option<CommitRecord> {
        self.records().find_map(LogRecord::into_commit)
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

    /// Returns whether a visible copy is one that this commit wrote and the disk did not keep: cut short,
    /// or with zeros where its bytes should be.
    ///
    /// A disk that is unplugged loses what was not synced, within one boot of the machine. Nobody edits a
    /// file into its own beginning, or into zeros.
    pub(crate) fn is_half_written(&self, file: SetFile, found: &[u8]) -> bool {
        let written = self.bytes(file);
        found != written
            && found.chunks(SECTOR).enumerate().all(|(number, sector)| {
                let expected = written.get(number * SECTOR..).unwrap_or_default();
                expected.starts_with(sector) || sector.iter().all(|byte| *byte == 0)
            })
    }

    /// Returns the bytes of `pending/<revision>`.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut frame = Frame::default();
        frame.push(POINTER_FILE, &self.pointer_bytes);
        for file in SetFile::ALL {
            frame.push(file.name(), self.bytes(file));
        }
        frame.push(REPLACES, &serde_json::to_vec(&self.replaces)?);
        frame.push(LOG_LINES, &self.log.lines);
        if let Some(refresh) = &self.log.refresh {
            frame.push(REFRESH, refresh.as_str().as_bytes());
        }
        Ok(frame.encode())
    }

    /// Reads a generation back; every file must be the one its pointer names.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let frame = Frame::decode(bytes)?;
        let part = |name: &str| frame.section(name).map(<[u8]>::to_vec).ok_or(FrameError);
        let pointer_bytes = part(POINTER_FILE)?;
        let pointer = Pointer::decode(&pointer_bytes).map_err(|_| FrameError)?;
        let refresh = match frame.section(REFRESH) {
            Some(id) => {
                let id = std::str::from_utf8(id).ok().and_then(|id| id.parse().ok());
                Some(id.ok_or(FrameError)?)
            }
            None => None,
        };
        let lines = match frame.section(LOG_LINES) {
            Some(lines) => lines.to_vec(),
            // The form of an earlier version: the steps, each with its line end, and the last record
            // without one.
            None => [STEPS, AUDIT].iter().filter_map(|name| frame.section(name)).fold(
                Vec::new(),
                |mut lines, section| {
                    lines.extend_from_slice(section);
                    lines.push(b'\n');
                    lines
                },
            ),
        };
        let generation = Self {
            template: part(SetFile::Template.name())?,
            data: part(SetFile::Data.name())?,
            provenance: part(SetFile::Provenance.name())?,
            index: part(SetFile::Index.name())?,
            replaces: serde_json::from_slice(&part(REPLACES)?).map_err(|_| FrameError)?,
            pointer,
            pointer_bytes,
            log: LogPart { refresh, lines },
        };
        let whole = SetFile::ALL.iter().all(|file| {
            file.digests(&generation.pointer.artifact.digests).raw
                == Digest::of_bytes(generation.bytes(*file))
        });
        if whole { Ok(generation) } else { Err(FrameError) }
    }
}

/// The end of an artifact's past that a commit is added to.
pub(crate) struct Continued {
    /// The revision that the commit gets.
    pub(crate) revision: Revision,
    /// The last refresh that committed, the commit's own included.
    pub(crate) last_refresh: Option<RefreshId>,
    /// The metadata of the revision before it.
    pub(crate) before: Option<Artifact>,
    /// The lines at the end of the log that are not synced.
    pub(crate) unsynced: Vec<u8>,
    /// The digest of the last line of the log.
    pub(crate) log_end: Option<Digest>,
    /// The data of the revision before it, with the digest of its content.
    pub(crate) data: Option<(BoundedObject, Digest)>,
}

impl Continued {
    /// Returns the past of an artifact that does not exist yet.
    pub(crate) fn nothing() -> Self {
        Self {
            revision: next_revision([]),
            last_refresh: None,
            before: None,
            unsynced: Vec::new(),
            log_end: None,
            data: None,
        }
    }

    /// Returns the digests of a data file, that of its content from the revision before if it is the same
    /// value: canonical JSON of a quarter of a mebibyte takes longer than everything else of a new title.
    fn data_digests(&self, data: &BoundedObject, bytes: &[u8]) -> FileDigests {
        match &self.data {
            Some((before, content)) if before.is_shared_with(data) => {
                FileDigests { content: content.clone(), raw: Digest::of_bytes(bytes) }
            }
            Some(_) | None => FileDigests::of_json(data.value(), bytes),
        }
    }
}

/// Builds the generation, and sets revision and digests of the state to match. A refresh that makes
/// the commit gives its last record.
pub(crate) fn build(
    mut state: ArtifactState,
    page: &[u8],
    note: CommitNote,
    refresh: Option<RefreshRecord>,
    continued: Continued,
    grants: Option<&GrantGuard>,
) -> Result<(ArtifactState, Generation), DiskError> {
    let unwritable = |err: serde_json::Error| {
        DiskError::new("write an artifact as JSON", std::io::Error::from(err))
    };
    let provenance_value = serde_json::to_value(&state.provenance).map_err(unwritable)?;
    let template = state.template_html.as_bytes().to_vec();
    let data = json::pretty_bytes(state.data.value());
    let provenance = json::pretty_bytes(&provenance_value);
    let index = page.to_vec();
    let data_digests = continued.data_digests(&state.data, &data);
    let Continued { revision, last_refresh, before, unsynced, log_end, .. } = continued;
    state.artifact.revision = revision;
    state.artifact.digests = Digests {
        template: FileDigests::of_html(&template),
        data: data_digests,
        provenance: FileDigests::of_json(&provenance_value, &provenance),
        index: FileDigests::of_html(&index),
    };
    let commit = CommitRecord::new(note, before.as_ref(), &state.artifact);
    let log = LogPart::new(&unsynced, log_end, refresh, commit);
    // What is committed was decided here: from a state whose foreign grants were withheld as it was read,
    // and by a caller who may grant.
    state.artifact.withheld = None;
    let store =
        StorePart { last_refresh, grants: grants.and_then(|grants| grants.seal(&state.artifact)) };
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
        log,
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
