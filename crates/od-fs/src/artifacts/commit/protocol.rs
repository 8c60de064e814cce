//! The commit itself: three syncs, and one rename that decides.

use od_core::ids::ArtifactId;

use super::generation::Generation;
use super::pending::{self, FIRST, PENDING};
use super::pointer::POINTER_FILE;
use crate::disk::{Dir, DiskError, sync_file};

/// Creates of one id that may stand unfinished until they are cleared away: ids are random, so nobody
/// sees a second one.
const STAGED_MAX: usize = 1_000;

/// Commits the next generation of an artifact. The caller holds the commit lock.
///
/// When this returns `Ok` the generation is durable. After an error nothing was acknowledged, and
/// the disk holds the old generation or (if only the last sync failed) the new one.
pub(crate) fn commit_next(artifact: &Dir, generation: &Generation) -> Result<(), DiskError> {
    let frame = encode(generation)?;
    let pending = artifact.child_or_make(PENDING)?;
    let name = pending::name(generation.revision());
    let temporary = format!("{name}.tmp");
    let pointer_temporary = format!("{POINTER_FILE}.tmp");
    let (framed, pointed) =
        ((&pending, temporary.as_str()), (artifact, pointer_temporary.as_str()));
    let renamed = write_both(framed, &frame, pointed, &generation.pointer_bytes)
        // The frame gets its name before the pointer gets there: at no instant does a pointer stand
        // without the frame that holds its files.
        .and_then(|()| pending.rename(&temporary, &pending, &name))
        // The commit.
        .and_then(|()| artifact.rename(&pointer_temporary, artifact, POINTER_FILE));
    if let Err(err) = renamed {
        // Leftovers are harmless; they only take room, which may be what there is none of. The frame
        // itself stays: if the disk only said that the last rename failed, it is all there is.
        let _ = pending.remove(&temporary);
        let _ = artifact.remove(&pointer_temporary);
        return Err(err);
    }
    // Only the directory of the pointer is synced, not `pending/`: where a loss of power takes the
    // frame's rename and leaves the pointer's, the synced bytes still lie under the temporary name, and
    // recovery knows that name too.
    artifact.sync()
}

/// Commits the first generation: in a staging directory that is renamed into the project.
///
/// The caller shares the lock of `.staging`. The artifact's own is not needed: before the rename nobody
/// knows of it, and of two creates of one id the rename lets one through. The other fails with
/// `AlreadyExists`.
pub(crate) fn commit_first(
    live: &Dir,
    staging: &Dir,
    id: &ArtifactId,
    generation: &Generation,
) -> Result<(), DiskError> {
    let frame = encode(generation)?;
    let name = make_staged(staging, id)?;
    let renamed = stage(staging, &name, generation, &frame)
        // The commit.
        .and_then(|()| staging.rename_new(&name, live, id.as_str()));
    if let Err(err) = renamed {
        let _ = staging.remove_tree(&name);
        return Err(err);
    }
    live.sync()
}

/// Makes a directory that is this create's own, whatever another one of the same id left or does.
pub(crate) fn make_staged(staging: &Dir, id: &ArtifactId) -> Result<String, DiskError> {
    for number in 0..STAGED_MAX {
        let name = format!("{id}@{number}");
        if staging.make_new_dir(&name)? {
            return Ok(name);
        }
    }
    let source = std::io::Error::other("too many unfinished creates of one id");
    Err(DiskError::new("make a directory", source))
}

fn stage(
    staging: &Dir,
    name: &str,
    generation: &Generation,
    frame: &[u8],
) -> Result<(), DiskError> {
    let artifact = staging.child(name)?;
    let (framed, pointed) = ((&artifact, FIRST), (&artifact, POINTER_FILE));
    write_both(framed, frame, pointed, &generation.pointer_bytes)
}

/// Writes frame and pointer and waits until both are on the disk.
///
/// Neither counts before the rename, so their order is free: with the bytes of both on their way
/// before the first sync, one commit of the filesystem's journal carries the two files, and the
/// second sync finds its work done.
fn write_both(
    (framed, frame_name): (&Dir, &str),
    frame: &[u8],
    (pointed, pointer_name): (&Dir, &str),
    pointer: &[u8],
) -> Result<(), DiskError> {
    let frame = framed.write_ahead(frame_name, frame)?;
    let pointer = pointed.write_ahead(pointer_name, pointer)?;
    sync_file(&frame)?;
    sync_file(&pointer)
}

fn encode(generation: &Generation) -> Result<Vec<u8>, DiskError> {
    generation.encode().map_err(|err| DiskError::new("frame a commit", std::io::Error::from(err)))
}
