//! `pending/`: commits whose visible copies are not yet known to be on the disk.
//!
//! `pending/7` is a commit (or, if the pointer never got there, nothing). `pending/7@<boot>` is a
//! commit whose visible copies were written during that boot but not synced: while the machine has
//! not restarted they are what people see and edit; after a restart they may be torn, and the frame
//! is the truth again. Once they are synced the frame becomes `last-good`.

use std::sync::OnceLock;

use od_core::ids::{RefreshId, Revision};

use super::generation::Generation;
use crate::disk::{Dir, DiskError};

pub(crate) const PENDING: &str = "pending";
pub(crate) const LAST_GOOD: &str = "last-good";
/// Pointer, template, data, provenance and page at their limits, and the frame around them.
const FRAME_BYTES_MAX: u64 = 40 * 1024 * 1024;

/// What is known of the visible copies of a pending commit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Copies {
    /// They may be old, missing or torn.
    Unknown,
    /// They were written since the machine started.
    Written,
}

/// One file in `pending/`.
#[derive(Clone, Debug)]
pub(crate) struct PendingFile {
    pub(crate) revision: Revision,
    pub(crate) copies: Copies,
    pub(crate) name: String,
}

/// Returns the name a commit is written under.
pub(crate) fn name(revision: Revision) -> String {
    revision.to_string()
}

/// Returns the name of a commit whose copies were written during this boot, if the boot has a name.
pub(crate) fn written_name(revision: Revision) -> Option<String> {
    boot().map(|boot| format!("{revision}@{boot}"))
}

/// Lists `pending/`, oldest first. A commit under both names counts as the plain one.
pub(crate) fn list(artifact: &Dir) -> Result<Vec<PendingFile>, DiskError> {
    let pending = match artifact.child(PENDING) {
        Ok(pending) => pending,
        Err(err) if err.is_missing() || is_no_directory(&err) => return Ok(Vec::new()),
        Err(err) => return Err(err),
    };
    let mut files: Vec<PendingFile> =
        pending.entries()?.into_iter().filter_map(|(name, _)| parse(name)).collect();
    files.sort_by_key(|file| {
        (file.revision, file.copies == Copies::Written, file.name.ends_with(".tmp"))
    });
    files.dedup_by_key(|file| file.revision);
    Ok(files)
}

/// Reads a pending commit; `None` if its bytes are not whole.
pub(crate) fn read(artifact: &Dir, file: &PendingFile) -> Result<Option<Generation>, DiskError> {
    read_frame(artifact, &format!("{PENDING}/{}", file.name), Some(file.revision))
}

/// Reads the last commit whose copies were synced; `None` if there is none or it is not whole.
pub(crate) fn read_last_good(artifact: &Dir) -> Result<Option<Generation>, DiskError> {
    read_frame(artifact, LAST_GOOD, None)
}

/// Finds the audit record of a refresh commit among the frames.
pub(crate) fn audit_line(
    artifact: &Dir,
    refresh: &RefreshId,
) -> Result<Option<Vec<u8>>, DiskError> {
    for file in list(artifact)? {
        if let Some(part) = read(artifact, &file)?.and_then(|generation| generation.refresh)
            && part.id == *refresh
        {
            return Ok(Some(part.audit_line));
        }
    }
    Ok(None)
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
    Ok(generation.filter(|found| revision.is_none_or(|revision| found.revision() == revision)))
}

/// Someone put a file or a link in the place of a directory: it holds nothing of ours.
fn is_no_directory(err: &DiskError) -> bool {
    use rustix::io::Errno;
    let errno = err.source.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOTDIR | Errno::LOOP))
}

/// Tells an error that says "this is not a file of ours" from one that says "the disk is failing".
pub(crate) fn is_foreign(err: &DiskError) -> bool {
    use rustix::io::Errno;
    match err.source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(errno) => matches!(
            errno,
            Errno::LOOP | Errno::XDEV | Errno::NXIO | Errno::ISDIR | Errno::NOTDIR | Errno::ACCESS
        ),
        // Errors of our own making: not a regular file, longer than any file of its kind.
        None => matches!(
            err.source.kind(),
            std::io::ErrorKind::InvalidInput | std::io::ErrorKind::FileTooLarge
        ),
    }
}

/// Tells an error that says "the bytes of this file are gone" from one that any file may meet.
pub(crate) fn is_damage(err: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let errno = err.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::IO | Errno::BADMSG | Errno::UCLEAN))
}

fn parse(name: String) -> Option<PendingFile> {
    // A frame is synced under its temporary name; where the rename was lost with the power but the
    // pointer's was not, it still counts.
    if let Some(number) = name.strip_suffix(".tmp") {
        return Some(PendingFile { revision: number.parse().ok()?, copies: Copies::Unknown, name });
    }
    let (number, copies) = match name.split_once('@') {
        Some((number, written)) if Some(written) == boot() => (number, Copies::Written),
        Some((number, _earlier_boot)) => (number, Copies::Unknown),
        None => (name.as_str(), Copies::Unknown),
    };
    Some(PendingFile { revision: number.parse().ok()?, copies, name })
}

/// Names this boot of the machine.
fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    BOOT.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().split('-').next()?.to_owned()).filter(|id| !id.is_empty())
    })
    .as_deref()
}
