//! Reading everything of an artifact afresh, for `verify`.

use std::sync::Arc;
use std::time::Duration;

use od_core::artifact::Artifact;
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::json::Value;
use od_ports::store::{InspectedFile, Inspection, StoreError};

use crate::artifacts::commit::obstacle::Obstacle;
use crate::artifacts::commit::{
    Generation, POINTER_BYTES_MAX, POINTER_FILE, Pointer, SetFile, locks, obstacle, pending,
};
use crate::artifacts::history::{AuditLog, ROTATED, Tail, audit_log, revisions, snapshots};
use crate::artifacts::read::ArtifactReader;
use crate::disk::{Dir, DiskError, is_foreign};

/// The pauses before each look for a commit that nobody finishes.
const LOOKS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(200),
];
/// Tries to read an artifact between two commits.
const TRIES_MAX: usize = 10;

/// Reads everything of an artifact and derives every digest anew.
pub(crate) fn inspect(
    reader: &ArtifactReader,
    project: &ProjectId,
    artifact: &ArtifactId,
) -> Result<Inspection, StoreError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let (live, dir) = reader.dirs.artifact(project, artifact)?;
        let before = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?;
        let inspection = inspect_at(reader, project, artifact, (&live, &dir), before.as_deref())?;
        // Files of two commits say nothing about either.
        let after = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?;
        if before == after || tries >= TRIES_MAX {
            return Ok(inspection);
        }
    }
}

fn inspect_at(
    reader: &ArtifactReader,
    project: &ProjectId,
    artifact: &ArtifactId,
    (live, dir): (&Dir, &Dir),
    pointer_bytes: Option<&[u8]>,
) -> Result<Inspection, StoreError> {
    let obstacles = obstacle::find(live, dir, artifact)?;
    let has_unfinished_commit = has_unfinished_commit(live, dir, artifact)?;
    // From the disk, whatever memory has: this is what people run when they trust nothing.
    let health = reader.load(project, artifact)?.health;
    let pointer = pointer_bytes.and_then(|bytes| Pointer::decode(bytes).ok());
    let frame = match &pointer {
        Some(pointer) => pending::unwritten(dir, pointer.artifact.revision)?,
        None => None,
    };
    let artifact = pointer.map(|pointer| pointer.artifact);
    let mut files = Vec::with_capacity(SetFile::ALL.len());
    for file in SetFile::ALL {
        files.push(inspect_file(dir, file, artifact.as_ref(), frame.as_ref())?);
    }
    let (log, records) = AuditLog::read_records(dir)?;
    let rotated = audit_log::rotated(dir)?;
    let mut snapshot_faults = Vec::new();
    let ids = snapshots::ids(dir)?;
    for id in &ids {
        if snapshots::read(dir, id)?.is_none() {
            snapshot_faults.push(id.as_str().to_owned());
        }
    }
    let (revisions, revision_faults) = revisions::inspect(dir)?;
    Ok(Inspection {
        health,
        artifact,
        files,
        log_records: records.len() + rotated.records,
        log_fault: fault_of(&log.tail)
            .or_else(|| fault_of(&rotated.tail).map(|fault| format!("{ROTATED}: {fault}"))),
        snapshots: ids.len(),
        snapshot_faults,
        obstacles: obstacles.iter().map(Obstacle::path).collect(),
        has_unfinished_commit,
        revisions,
        revision_faults,
    })
}

/// Returns whether the copies of a commit are not written and nobody is writing them.
///
/// Whoever commits holds the lock until they are, but for a create: its copies follow after an instant
/// without one. So a frame counts that is still there after a while, each time with the lock free.
pub(super) fn has_unfinished_commit(
    live: &Dir,
    dir: &Dir,
    artifact: &ArtifactId,
) -> Result<bool, DiskError> {
    for wait in LOOKS {
        std::thread::sleep(wait);
        let Some(pointer) = Pointer::read_sound(dir)? else { return Ok(false) };
        if pending::unwritten(dir, pointer.artifact.revision)?.is_none() {
            return Ok(false);
        }
        // A lock that cannot be taken because something stands in its place is held by nobody.
        if matches!(locks::commit(live, artifact, Duration::ZERO), Ok(None)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn fault_of(tail: &Tail) -> Option<String> {
    match tail {
        Tail::Clean => None,
        Tail::Torn(bytes) => Some(format!("{} bytes of an unfinished line", bytes.len())),
        Tail::Broken(reason) => Some(reason.to_string()),
    }
}

fn inspect_file(
    dir: &Dir,
    file: SetFile,
    artifact: Option<&Artifact>,
    frame: Option<&Generation>,
) -> Result<InspectedFile, DiskError> {
    let bytes = match frame {
        Some(frame) => Some(frame.bytes(file).to_vec()),
        None => match dir.read_if_there(file.name(), file.bytes_max()) {
            Err(err) if is_foreign(&err) => None,
            other => other?,
        },
    };
    let expected = artifact.map(|artifact| file.digests(&artifact.digests));
    let content_found = bytes.as_deref().and_then(|bytes| match file {
        SetFile::Template | SetFile::Index => Some(Digest::of_bytes(bytes)),
        SetFile::Data | SetFile::Provenance => {
            serde_json::from_slice::<Value>(bytes).ok().map(|value| Digest::of_json(&value))
        }
    });
    Ok(InspectedFile {
        name: file.name(),
        content_expected: expected.map(|digests| digests.content.clone()),
        raw_expected: expected.map(|digests| digests.raw.clone()),
        raw_found: bytes.as_deref().map(Digest::of_bytes),
        bytes: bytes.map(Arc::from),
        content_found,
    })
}
