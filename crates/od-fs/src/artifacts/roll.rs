//! Rolling forward: from a commit to visible copies, and from visible copies to synced ones.
//!
//! Both halves run under the commit lock. [`place`] follows every commit at once, so that the files
//! people look at are current; [`settle`] waits until there is time, since nothing depends on it:
//! until then the frame in `pending/` is the durable form of the commit.

use od_core::ids::{Digest, Revision};

use super::audit_log::{self, AuditLog, Tail};
use super::commit::SNAPSHOTS;
use super::generation::{Generation, RefreshPart, SetFile};
use super::pending::{self, Copies, LAST_GOOD, PendingFile};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer};
use super::{aside, snapshots};
use crate::disk::{Dir, DiskError};

/// Frames of one artifact beyond which they are settled without waiting for a quiet time.
const UNSETTLED_MAX: usize = 128;

/// Tells whether [`recover`] or [`settle`] would find anything to do.
pub(crate) fn has_work(artifact: &Dir) -> Result<bool, DiskError> {
    let torn = matches!(AuditLog::read(artifact)?.tail, Tail::Torn(_));
    Ok(torn || !pending::list(artifact)?.is_empty())
}

/// What is left to do for an artifact whose writers are all done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rest {
    /// Nothing.
    Settled,
    /// There are frames to [`settle`].
    Unsettled,
}

/// Finishes whatever a crashed writer left; afterwards every committed frame is placed.
///
/// Leaves an artifact alone whose pointer or current frame cannot be believed.
pub(crate) fn recover(artifact: &Dir) -> Result<Rest, DiskError> {
    audit_log::cut_torn_tail(artifact)?;
    let files = pending::list(artifact)?;
    if files.is_empty() {
        return Ok(Rest::Settled);
    }
    let Some(pointer_bytes) = artifact.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)? else {
        return Ok(Rest::Settled);
    };
    let Ok(pointer) = Pointer::decode(&pointer_bytes) else { return Ok(Rest::Settled) };
    let current = pointer.artifact.revision;
    drop_uncommitted(artifact, &files, current)?;
    for file in files.iter().filter(|file| file.revision <= current) {
        match (file.copies, file.revision == current) {
            (Copies::Written, _) => {}
            (Copies::Unknown, true) => recover_current(artifact, file, &pointer_bytes)?,
            (Copies::Unknown, false) => recover_earlier(artifact, file)?,
        }
    }
    Ok(Rest::Unsettled)
}

/// Removes frames whose pointer never got there.
fn drop_uncommitted(
    artifact: &Dir,
    files: &[PendingFile],
    current: Revision,
) -> Result<(), DiskError> {
    let mut uncommitted = files.iter().filter(|file| file.revision > current);
    uncommitted.try_for_each(|file| file.remove(artifact))
}

fn recover_current(
    artifact: &Dir,
    file: &PendingFile,
    pointer_bytes: &[u8],
) -> Result<(), DiskError> {
    match pending::read(artifact, file)? {
        Some(generation) if generation.pointer_bytes == pointer_bytes => {
            place_from(artifact, &generation, file)
        }
        // Not the frame of this pointer, or not whole. If the visible copies are right it is not
        // needed; if not, the artifact is damaged and nothing of it is touched.
        Some(_) | None if copies_are_right(artifact, pointer_bytes)? => set_aside(artifact, file),
        Some(_) | None => Ok(()),
    }
}

/// Tells whether the visible copies are those that a pointer names.
pub(crate) fn copies_are_right(artifact: &Dir, pointer_bytes: &[u8]) -> Result<bool, DiskError> {
    let Ok(pointer) = Pointer::decode(pointer_bytes) else { return Ok(false) };
    for file in SetFile::SOURCES {
        let bytes = match artifact.read_if_there(file.name(), file.bytes_max()) {
            Err(err) if pending::is_foreign(&err) => None,
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
        Some(Generation { refresh: Some(refresh), data, provenance, .. }) => {
            place_refresh(artifact, &refresh, &data, &provenance)?;
            file.mark_written(artifact)
        }
        // A later commit holds everything it did.
        Some(_) => file.remove(artifact),
        None => set_aside(artifact, file),
    }
}

fn set_aside(artifact: &Dir, file: &PendingFile) -> Result<(), DiskError> {
    let name = format!("pending-{}", file.revision);
    file.rename(artifact, artifact, &name)?;
    aside::keep_file(artifact, &name)
}

/// Writes the visible copies of a commit that was just made, without syncing them.
pub(crate) fn place(artifact: &Dir, generation: &Generation) -> Result<(), DiskError> {
    place_from(artifact, generation, &PendingFile::committed(generation.revision()))?;
    // The new frame holds the whole state, so older ones matter only for what they append. Those
    // before the last one were looked at when that was placed: a burst of refreshes leaves many.
    let files = pending::list(artifact)?;
    let Some(last) = files.iter().rfind(|file| file.revision < generation.revision()) else {
        return Ok(());
    };
    match pending::read(artifact, last)? {
        Some(old) if old.refresh.is_some() => {}
        Some(_) => last.remove(artifact)?,
        None => set_aside(artifact, last)?,
    }
    if files.len() >= UNSETTLED_MAX { settle(artifact) } else { Ok(()) }
}

fn place_from(
    artifact: &Dir,
    generation: &Generation,
    frame: &PendingFile,
) -> Result<(), DiskError> {
    for file in SetFile::ALL {
        place_file(artifact, generation, file)?;
    }
    if let Some(refresh) = &generation.refresh {
        place_refresh(artifact, refresh, &generation.data, &generation.provenance)?;
    }
    frame.mark_written(artifact)
}

/// Puts the visible copy of a file in place without ever overwriting an edit.
///
/// The old copy is swapped out and looked at afterwards: an edit made a moment before the swap is in
/// our hands then, one made a moment after it is an edit of the new copy.
fn place_file(artifact: &Dir, generation: &Generation, file: SetFile) -> Result<(), DiskError> {
    // Not `<name>.tmp`: that is what other programs call a file that they are about to rename.
    let temporary = format!(".placing-{}", file.name());
    // A writer killed between the swap and the look left an old copy, or an edit, here.
    put_away(artifact, generation, file, &temporary)?;
    let digests = file.digests(&generation.pointer.artifact.digests);
    match artifact.read_if_there(file.name(), file.bytes_max()) {
        Ok(Some(bytes)) if Digest::of_bytes(&bytes) == digests.raw => return Ok(()),
        Ok(_) => {}
        Err(err) if pending::is_foreign(&err) => aside::keep_file(artifact, file.name())?,
        Err(err) => return Err(err),
    }
    artifact.write(&temporary, generation.bytes(file))?;
    if artifact.swap(&temporary, file.name())? {
        put_away(artifact, generation, file, &temporary)
    } else {
        artifact.rename(&temporary, artifact, file.name())
    }
}

/// Removes a copy that a commit wrote, and keeps aside any other.
fn put_away(
    artifact: &Dir,
    generation: &Generation,
    file: SetFile,
    name: &str,
) -> Result<(), DiskError> {
    let bytes = match artifact.read_if_there(name, file.bytes_max()) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(()),
        Err(err) if pending::is_foreign(&err) => {
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
        || generation.bytes(file).starts_with(&bytes);
    if ours { artifact.remove(name) } else { aside::keep_file_as(artifact, name, file.name()) }
}

fn place_refresh(
    artifact: &Dir,
    refresh: &RefreshPart,
    data: &[u8],
    provenance: &[u8],
) -> Result<(), DiskError> {
    audit_log::append_missing(artifact, refresh)?;
    snapshots::write(artifact, &refresh.id, data, provenance)
}

/// Syncs the visible copies, lets go of the frames, and trims history to its bounds.
///
/// Does nothing while a frame is not placed: [`recover`] comes first.
pub(crate) fn settle(artifact: &Dir) -> Result<(), DiskError> {
    let files = pending::list(artifact)?;
    let Some(pointer_bytes) = artifact.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)? else {
        return Ok(());
    };
    let Ok(pointer) = Pointer::decode(&pointer_bytes) else { return Ok(()) };
    let current = pointer.artifact.revision;
    let placed = |file: &PendingFile| file.copies == Copies::Written && file.revision <= current;
    if files.is_empty() || !files.iter().all(placed) {
        return Ok(());
    }
    sync_everything(artifact, &files)?;
    for file in &files {
        if file.revision == current {
            file.rename(artifact, artifact, LAST_GOOD)?;
        } else {
            file.remove(artifact)?;
        }
    }
    snapshots::trim(artifact)?;
    audit_log::rotate(artifact)
}

fn sync_everything(artifact: &Dir, files: &[PendingFile]) -> Result<(), DiskError> {
    for name in SetFile::ALL.map(SetFile::name) {
        sync_if_there(artifact, name)?;
    }
    let mut refreshed = false;
    for file in files {
        if let Some(Generation { refresh: Some(refresh), .. }) = pending::read(artifact, file)? {
            snapshots::sync(artifact, &refresh.id)?;
            refreshed = true;
        }
    }
    if refreshed {
        sync_if_there(artifact, audit_log::LOG)?;
        artifact.child(SNAPSHOTS)?.sync()?;
    }
    artifact.sync()
}

/// A copy that someone deleted or made unreadable meanwhile is their edit, not our failure.
fn sync_if_there(artifact: &Dir, name: &str) -> Result<(), DiskError> {
    match artifact.open_regular(name) {
        Ok((file, _)) => file.sync_all().map_err(|err| DiskError::new("sync a file", err)),
        Err(err) if err.is_missing() || pending::is_foreign(&err) => Ok(()),
        Err(err) => Err(err),
    }
}
