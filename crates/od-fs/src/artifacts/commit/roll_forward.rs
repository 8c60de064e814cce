//! Rolling forward: from a commit to visible copies, and from visible copies to synced ones.
//!
//! Both halves run under the commit lock. [`write_copies`] follows every commit at once, so that the
//! files people look at are current; a [`checkpoint`] waits until there is time, since nothing depends
//! on it: until then the frame in `pending/` is the durable form of the commit.

use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_platform::Exchange;

use super::aside;
use super::checkpoint::CheckpointQueue;
use super::generation::{Generation, SetFile};
use super::pending::{self, Copies, LAST_GOOD, PendingFile};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer};
use crate::artifacts::history::{AuditLog, LOG, Tail, audit_log, revisions, snapshots};
use crate::disk::{Dir, DiskError, is_foreign};

/// Frames of one artifact beyond which a checkpoint does not wait for a quiet time.
const FRAMES_MAX: usize = 128;

/// Finishes what a crashed writer left, and queues the checkpoint it needs. The caller holds the
/// artifact's commit lock.
pub(crate) fn finish(
    dir: &Dir,
    project: &ProjectId,
    artifact: &ArtifactId,
    queue: &CheckpointQueue,
    written: WrittenCopies,
) -> Result<(), DiskError> {
    match recover(dir, written)? {
        RecoveryOutcome::Clean => {}
        RecoveryOutcome::FramesLeft => queue.add(project, artifact),
    }
    Ok(())
}

/// Returns whether [`recover`] or [`checkpoint`] would find anything to do.
pub(crate) fn has_work(artifact: &Dir) -> Result<bool, DiskError> {
    let torn = matches!(AuditLog::read(artifact)?.tail, Tail::Torn(_));
    Ok(torn || !pending::list(artifact)?.is_empty())
}

/// The work that a recovery leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RecoveryOutcome {
    /// Nothing.
    Clean,
    /// There are frames for a [`checkpoint`].
    FramesLeft,
}

/// Whether copies are believed that are marked as written during this boot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WrittenCopies {
    /// They are: a writer that takes the lock does not read every file again before each commit.
    Believed,
    /// They are read and compared: a disk that was unplugged lost them within the boot.
    Checked,
}

/// Finishes whatever a crashed writer left; afterwards the copies of every committed frame are written.
///
/// Leaves an artifact alone whose pointer or current frame cannot be believed.
pub(crate) fn recover(
    artifact: &Dir,
    written: WrittenCopies,
) -> Result<RecoveryOutcome, DiskError> {
    // Before any record is appended: behind half a line it would be lost with it.
    audit_log::cut_torn_tail(artifact)?;
    let files = pending::list(artifact)?;
    if files.is_empty() {
        return Ok(RecoveryOutcome::Clean);
    }
    let Some(pointer_bytes) = artifact.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)? else {
        return Ok(RecoveryOutcome::Clean);
    };
    // Nothing of a damaged artifact is touched: a repair decides with everything still there.
    let Ok(pointer) = Pointer::decode(&pointer_bytes) else { return Ok(RecoveryOutcome::Clean) };
    let current = pointer.artifact.revision;
    // First of all: the next commit writes a frame of the same number, and one that never became a commit
    // must not be taken for it.
    // Frames whose pointer never got there.
    let mut uncommitted = files.iter().filter(|file| file.revision > current);
    uncommitted.try_for_each(|file| file.remove(artifact))?;
    for file in files.iter().filter(|file| file.revision <= current) {
        match (file.copies, file.revision == current) {
            (Copies::Written, _) if written == WrittenCopies::Believed => {}
            (Copies::Written, is_current) => rewrite_lost(artifact, file, is_current)?,
            (Copies::Unknown, true) => recover_current(artifact, file, &pointer_bytes)?,
            (Copies::Unknown, false) => recover_earlier(artifact, file)?,
        }
    }
    Ok(RecoveryOutcome::FramesLeft)
}

/// Writes the visible copies of a new artifact, from memory if nobody has come to it since: its frame was
/// written a moment ago, and reading it back would hash and parse everything in it once more.
pub(crate) fn write_first_copies(artifact: &Dir, generation: &Generation) -> Result<(), DiskError> {
    let files = pending::list(artifact)?;
    let pointer = artifact.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?;
    match files.as_slice() {
        [first] if first.is_first() && pointer.as_ref() == Some(&generation.pointer_bytes) => {
            write_copies_of(artifact, generation, first)
        }
        _ => recover(artifact, WrittenCopies::Believed).map(drop),
    }
}

/// Writes once more what a commit wrote during this boot and the disk did not keep.
fn rewrite_lost(artifact: &Dir, file: &PendingFile, is_current: bool) -> Result<(), DiskError> {
    let Some(generation) = pending::read(artifact, file)? else { return Ok(()) };
    for copy in SetFile::ALL.into_iter().filter(|_| is_current) {
        let is_lost = match artifact.read_if_there(copy.name(), copy.bytes_max()) {
            Ok(found) => found.is_some_and(|found| generation.is_half_written(copy, &found)),
            Err(err) if is_foreign(&err) => false,
            Err(err) => return Err(err),
        };
        if is_lost {
            write_copy(artifact, &generation, copy)?;
        }
    }
    write_records(artifact, &generation)
}

fn recover_current(
    artifact: &Dir,
    file: &PendingFile,
    pointer_bytes: &[u8],
) -> Result<(), DiskError> {
    match pending::read(artifact, file)? {
        Some(generation) if generation.pointer_bytes == pointer_bytes => {
            write_copies_of(artifact, &generation, file)
        }
        // Not the frame of this pointer, or not whole. If the visible copies are right it is not
        // needed; if not, the artifact is damaged and nothing of it is touched.
        Some(_) | None if copies_are_right(artifact, pointer_bytes)? => set_aside(artifact, file),
        Some(_) | None => Ok(()),
    }
}

/// Returns whether the visible copies are those that a pointer names.
fn copies_are_right(artifact: &Dir, pointer_bytes: &[u8]) -> Result<bool, DiskError> {
    let Ok(pointer) = Pointer::decode(pointer_bytes) else { return Ok(false) };
    for file in SetFile::SOURCES {
        let bytes = match artifact.read_if_there(file.name(), file.bytes_max()) {
            Err(err) if is_foreign(&err) => None,
            other => other?,
        };
        let right = bytes.is_some_and(|bytes| {
            Digest::of_bytes(&bytes) == file.digests(&pointer.artifact.digests).raw
        });
        if !right {
            return Ok(false);
        }
    }
    Ok(true)
}

fn recover_earlier(artifact: &Dir, file: &PendingFile) -> Result<(), DiskError> {
    match pending::read(artifact, file)? {
        Some(generation) => {
            write_records(artifact, &generation)?;
            file.mark_written(artifact)
        }
        None => set_aside(artifact, file),
    }
}

fn set_aside(artifact: &Dir, file: &PendingFile) -> Result<(), DiskError> {
    // Not removed: it may hold the last bytes of a revision that was acknowledged.
    let name = format!("pending-{}", file.revision);
    file.rename(artifact, artifact, &name)?;
    aside::keep_file(artifact, &name)
}

/// Writes the visible copies of a commit that was just made, without syncing them.
pub(crate) fn write_copies(artifact: &Dir, generation: &Generation) -> Result<(), DiskError> {
    write_copies_of(artifact, generation, &PendingFile::committed(generation.revision()))?;
    // Frames stay until a checkpoint has kept their contents as those of a revision.
    if pending::list(artifact)?.len() >= FRAMES_MAX { checkpoint(artifact) } else { Ok(()) }
}

fn write_copies_of(
    artifact: &Dir,
    generation: &Generation,
    frame: &PendingFile,
) -> Result<(), DiskError> {
    for file in SetFile::ALL {
        write_copy(artifact, generation, file)?;
    }
    write_records(artifact, generation)?;
    // Last: from now on readers believe the copies, and take what differs for an edit.
    frame.mark_written(artifact)
}

/// Writes the visible copy of a file without ever overwriting an edit.
///
/// The old copy is swapped out and looked at afterwards: an edit made a moment before the swap is in
/// our hands then, one made a moment after it is an edit of the new copy. Looking first and renaming
/// afterwards would lose an edit made between the two.
fn write_copy(artifact: &Dir, generation: &Generation, file: SetFile) -> Result<(), DiskError> {
    // Not `<name>.tmp`: that is what other programs call a file that they are about to rename.
    let temporary = format!(".placing-{}", file.name());
    let replaced = format!(".replaced-{}", file.name());
    // A writer killed between the swap and what follows it left an old copy, or an edit, here.
    discard_copy(artifact, generation, file, &temporary)?;
    discard_copy(artifact, generation, file, &replaced)?;
    let digests = file.digests(&generation.pointer.artifact.digests);
    match artifact.read_if_there(file.name(), file.bytes_max()) {
        Ok(Some(bytes)) if Digest::of_bytes(&bytes) == digests.raw => return Ok(()),
        Ok(_) => {}
        Err(err) if is_foreign(&err) => aside::keep_file(artifact, file.name())?,
        Err(err) => return Err(err),
    }
    artifact.write(&temporary, generation.bytes(file))?;
    match artifact.swap(&temporary, file.name())? {
        Exchange::Done => discard_copy(artifact, generation, file, &temporary),
        Exchange::Missing => artifact.rename(&temporary, artifact, file.name()),
        // In two steps: for an instant there is no copy, and readers take the frame. Replacing the old one
        // in one step would lose an edit made since it was read.
        Exchange::Unsupported => {
            match artifact.rename(file.name(), artifact, &replaced) {
                Err(err) if err.is_missing() => {}
                moved => moved?,
            }
            artifact.rename(&temporary, artifact, file.name())?;
            discard_copy(artifact, generation, file, &replaced)
        }
    }
}

/// Removes a copy that a commit wrote, and keeps any other aside.
fn discard_copy(
    artifact: &Dir,
    generation: &Generation,
    file: SetFile,
    name: &str,
) -> Result<(), DiskError> {
    let bytes = match artifact.read_if_there(name, file.bytes_max()) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(()),
        Err(err) if is_foreign(&err) => {
            return aside::keep_file_as(artifact, name, file.name());
        }
        Err(err) => return Err(err),
    };
    let found = Digest::of_bytes(&bytes);
    let replaced = generation.replaces.get(file.name());
    let ours = file == SetFile::Index
        || found == file.digests(&generation.pointer.artifact.digests).raw
        || replaced.is_some_and(|digests| digests.contains(&found))
        // Half of what a killed writer was about to swap in.
        || generation.is_half_written(file, &bytes)
        || is_half_of_last(artifact, generation, file, &bytes)?;
    if ours { artifact.remove(name) } else { aside::keep_file_as(artifact, name, file.name()) }
}

/// Returns whether a copy is half of what the commit before this one wrote.
fn is_half_of_last(
    artifact: &Dir,
    generation: &Generation,
    file: SetFile,
    bytes: &[u8],
) -> Result<bool, DiskError> {
    let earlier = |found: &&PendingFile| found.revision < generation.revision();
    let files = pending::list(artifact)?;
    let Some(last) = files.iter().rfind(earlier) else { return Ok(false) };
    let last = pending::read(artifact, last)?;
    Ok(last.is_some_and(|last| last.is_half_written(file, bytes)))
}

fn write_records(artifact: &Dir, generation: &Generation) -> Result<(), DiskError> {
    audit_log::append_missing(artifact, &generation.log)?;
    // The frame of an earlier version has no commit in the timeline: its data is kept as it was then.
    match &generation.log.refresh {
        Some(refresh) if generation.log.commit().is_none() => {
            snapshots::write(artifact, refresh, &generation.data, &generation.provenance)
        }
        Some(_) | None => Ok(()),
    }
}

/// Syncs the visible copies, lets go of the frames, and trims history to its bounds.
///
/// Does nothing while the copies of a frame are not written: [`recover`] comes first.
pub(crate) fn checkpoint(artifact: &Dir) -> Result<(), DiskError> {
    let files = pending::list(artifact)?;
    let Some(pointer_bytes) = artifact.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)? else {
        return Ok(());
    };
    let Ok(pointer) = Pointer::decode(&pointer_bytes) else { return Ok(()) };
    let current = pointer.artifact.revision;
    let written = |file: &PendingFile| file.copies == Copies::Written && file.revision <= current;
    if files.is_empty() || !files.iter().all(written) {
        return Ok(());
    }
    // Every byte of the copies, and their names, before the first frame goes: until then the frame is
    // what a loss of power leaves.
    for name in SetFile::ALL.map(SetFile::name).into_iter().chain([LOG]) {
        sync_if_there(artifact, name)?;
    }
    revisions::keep(artifact, &files)?;
    artifact.sync()?;
    for file in &files {
        if file.revision == current {
            file.rename(artifact, artifact, LAST_GOOD)?;
        } else {
            file.remove(artifact)?;
        }
    }
    snapshots::trim(artifact)?;
    audit_log::rotate(artifact)?;
    revisions::sweep(artifact)
}

/// A copy that someone deleted or made unreadable meanwhile is their edit, not our failure.
fn sync_if_there(artifact: &Dir, name: &str) -> Result<(), DiskError> {
    match artifact.open_regular(name) {
        Ok((file, _)) => file.sync_all().map_err(|err| DiskError::new("sync a file", err)),
        Err(err) if err.is_missing() || is_foreign(&err) => Ok(()),
        Err(err) => Err(err),
    }
}
