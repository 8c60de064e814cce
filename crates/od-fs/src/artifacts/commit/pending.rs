//! `pending/`: commits whose visible copies are not yet known to be on the disk.
//!
//! `pending/7` is a commit (or, if the pointer never got there, nothing). `pending/7@<boot>` is a
//! commit whose visible copies were written during that boot but not synced: while the machine has
//! not restarted they are what people see and edit; after a restart they may be torn, and the frame
//! is the truth again. Once they are synced the frame becomes `last-good`.
//!
//! `first` is the commit of a new artifact before its copies are written. It lies beside the pointer: a
//! directory for it would be one more thing that a create has to make and to sync.

use od_core::ids::{RefreshId, Revision};
use od_core::ledger::LogRecord;
use od_core::refresh::RefreshRecord;

use super::generation::Generation;
use super::pointer::Pointer;
use crate::disk::{Dir, DiskError, Frame, is_foreign, is_no_directory};

pub(crate) const PENDING: &str = "pending";
pub(crate) const FIRST: &str = "first";
pub(crate) const LAST_GOOD: &str = "last-good";
/// Pointer, template, data, provenance and page at their limits, and the frame around them.
const FRAME_BYTES_MAX: u64 = od_core::limits::FRAME_FILE.allowed;

/// The state of the visible copies of a pending commit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Copies {
    /// They may be old, missing or torn.
    Unknown,
    /// They were written since the machine started.
    Written,
}

/// One frame that awaits its checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct PendingFile {
    pub(crate) revision: Revision,
    pub(crate) copies: Copies,
    name: String,
    place: Place,
}

/// The directory that a frame lies in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// In `pending/`.
    Pending,
    /// Beside the pointer.
    First,
}

impl PendingFile {
    /// Returns the frame of a commit that was just made.
    pub(crate) fn committed(revision: Revision) -> Self {
        Self { revision, copies: Copies::Unknown, name: name(revision), place: Place::Pending }
    }

    fn first() -> Self {
        let (revision, name) = (Revision::first(), FIRST.to_owned());
        Self { revision, copies: Copies::Unknown, name, place: Place::First }
    }

    /// Returns whether it is the frame of a new artifact whose copies are not written.
    pub(crate) fn is_first(&self) -> bool {
        self.place == Place::First
    }

    /// Marks its copies as written during this boot, if the boot has a name.
    pub(crate) fn mark_written(&self, artifact: &Dir) -> Result<(), DiskError> {
        let Some(boot) = boot() else { return Ok(()) };
        let pending = artifact.child_or_make(PENDING)?;
        self.rename(artifact, &pending, &format!("{}@{boot}", self.revision))
    }

    /// Moves it.
    pub(crate) fn rename(&self, artifact: &Dir, into: &Dir, name: &str) -> Result<(), DiskError> {
        match self.place {
            Place::Pending => artifact.child(PENDING)?.rename(&self.name, into, name),
            Place::First => artifact.rename(&self.name, into, name),
        }
    }

    /// Removes it.
    pub(crate) fn remove(&self, artifact: &Dir) -> Result<(), DiskError> {
        match self.place {
            Place::Pending => artifact.child(PENDING)?.remove(&self.name),
            Place::First => artifact.remove(&self.name),
        }
    }
}

/// Returns the name a commit is written under.
pub(crate) fn name(revision: Revision) -> String {
    revision.to_string()
}

/// Lists the frames, oldest first. A commit under both names counts as the plain one.
pub(crate) fn list(artifact: &Dir) -> Result<Vec<PendingFile>, DiskError> {
    let entries = match artifact.child(PENDING) {
        Ok(pending) => pending.entries()?,
        Err(err) if err.is_missing() || is_no_directory(&err) => Vec::new(),
        Err(err) => return Err(err),
    };
    let mut files: Vec<PendingFile> =
        entries.into_iter().filter_map(|(name, _)| parse(name)).collect();
    // Nothing is committed on top of the first commit before its copies are written.
    if files.is_empty() && artifact.stat(FIRST)?.is_some() {
        return Ok(vec![PendingFile::first()]);
    }
    // The plain name sorts first and is the one that stays: to write its copies once more harms nothing,
    // to believe copies that were not written would.
    files.sort_by_key(|file| {
        (file.revision, file.copies == Copies::Written, file.name.ends_with(".tmp"))
    });
    files.dedup_by_key(|file| file.revision);
    Ok(files)
}

/// Reads a pending commit; `None` if its bytes are not whole.
pub(crate) fn read(artifact: &Dir, file: &PendingFile) -> Result<Option<Generation>, DiskError> {
    let path = match file.place {
        Place::Pending => format!("{PENDING}/{}", file.name),
        Place::First => file.name.clone(),
    };
    read_frame(artifact, &path, Some(file.revision))
}

/// Reads the last commit whose copies were synced; `None` if there is none or it is not whole.
pub(crate) fn read_last_good(artifact: &Dir) -> Result<Option<Generation>, DiskError> {
    read_frame(artifact, LAST_GOOD, None)
}

/// Returns the revision that the last good frame says it is, which nothing is known of but that.
fn last_good_revision(artifact: &Dir) -> Result<Option<Revision>, DiskError> {
    let file = match artifact.open_regular(LAST_GOOD) {
        Ok((file, _)) => file,
        Err(err) if err.is_missing() || is_foreign(&err) => return Ok(None),
        Err(err) => return Err(err),
    };
    let pointer = Frame::read_first(&file, FRAME_BYTES_MAX)?;
    let pointer = pointer.and_then(|bytes| Pointer::decode(&bytes).ok());
    Ok(pointer.map(|pointer| pointer.artifact.revision))
}

/// Reads the frame of a revision whose copies are not written; `None` if they are, or it is not whole.
pub(crate) fn unwritten(
    artifact: &Dir,
    revision: Revision,
) -> Result<Option<Generation>, DiskError> {
    let is_unwritten =
        |file: &&PendingFile| file.revision == revision && file.copies == Copies::Unknown;
    match list(artifact)?.iter().find(is_unwritten) {
        Some(file) => read(artifact, file),
        None => Ok(None),
    }
}

/// Reads the frame of a revision whose copies were written during this boot; `None` if there is none.
pub(crate) fn written(artifact: &Dir, revision: Revision) -> Result<Option<Generation>, DiskError> {
    let is_written =
        |file: &&PendingFile| file.revision == revision && file.copies == Copies::Written;
    match list(artifact)?.iter().find(is_written) {
        Some(file) => read(artifact, file),
        None => Ok(None),
    }
}

/// Finds the last record of a refresh among the frames.
pub(crate) fn last_record(
    artifact: &Dir,
    refresh: &RefreshId,
) -> Result<Option<RefreshRecord>, DiskError> {
    for file in list(artifact)? {
        let Some(generation) = read(artifact, &file)? else { continue };
        if generation.log.refresh.as_ref() == Some(refresh) {
            let records = generation.log.records().filter_map(LogRecord::into_refresh);
            return Ok(records.into_iter().find(|record| record.step.is_last()));
        }
    }
    Ok(None)
}

/// Reads a revision if one of the frames is its, the last good one included.
pub(crate) fn find(artifact: &Dir, revision: Revision) -> Result<Option<Generation>, DiskError> {
    for file in list(artifact)?.iter().filter(|file| file.revision == revision) {
        if let Some(generation) = read(artifact, file)? {
            return Ok(Some(generation));
        }
    }
    // Of the last good frame its beginning tells whose it is: most are asked for in vain, and it is long.
    if last_good_revision(artifact)? != Some(revision) {
        return Ok(None);
    }
    Ok(read_last_good(artifact)?.filter(|generation| generation.revision() == revision))
}

fn read_frame(
    artifact: &Dir,
    path: &str,
    revision: Option<Revision>,
) -> Result<Option<Generation>, DiskError> {
    let bytes = match artifact.read_if_there(path, FRAME_BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        // Someone put a directory, a link or something huge there: no frame of ours.
        Err(err) if is_foreign(&err) => return Ok(None),
        Err(err) => return Err(err),
    };
    let generation = Generation::decode(&bytes).ok();
    // A frame that somebody copied or renamed is whole and still not the revision that its name says.
    Ok(generation.filter(|found| revision.is_none_or(|revision| found.revision() == revision)))
}

fn parse(name: String) -> Option<PendingFile> {
    // A frame is synced under its temporary name; where the rename was lost with the power but the
    // pointer's was not, it still counts.
    let (number, copies) = match (name.strip_suffix(".tmp"), name.split_once('@')) {
        (Some(number), _) => (number, Copies::Unknown),
        (None, Some((number, written))) if Some(written) == boot() => (number, Copies::Written),
        (None, Some((number, _earlier_boot))) => (number, Copies::Unknown),
        (None, None) => (name.as_str(), Copies::Unknown),
    };
    let revision = number.parse().ok()?;
    Some(PendingFile { revision, copies, name, place: Place::Pending })
}

/// Returns whether od writes a frame under a name in `pending/`.
pub(crate) fn is_frame_name(name: &str) -> bool {
    parse(name.to_owned()).is_some()
}

/// Returns the name of this boot of the machine.
fn boot() -> Option<&'static str> {
    // Its first eight digits: the name is read by people, and only has to differ from the boot before.
    od_platform::boot_id()?.split('-').next().filter(|id| !id.is_empty())
}
