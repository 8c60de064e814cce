//! Reading everything of an artifact afresh, for `verify`.

use std::sync::Arc;

use od_core::artifact::Artifact;
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::json::Value;
use od_ports::store::{InspectedFile, Inspection, StoreError};

use crate::artifacts::commit::{
    Generation, POINTER_BYTES_MAX, POINTER_FILE, Pointer, SetFile, pending,
};
use crate::artifacts::history::{AuditLog, ROTATED, Tail, audit_log, snapshots};
use crate::artifacts::read::ArtifactReader;
use crate::disk::{Dir, DiskError, is_foreign};

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
        let (_, dir) = reader.dirs.artifact(project, artifact)?;
        let before = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?;
        let inspection = inspect_at(reader, project, artifact, &dir, before.as_deref())?;
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
    dir: &Dir,
    pointer_bytes: Option<&[u8]>,
) -> Result<Inspection, StoreError> {
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
    Ok(Inspection {
        health,
        artifact,
        files,
        log_records: records.len() + rotated.records,
        log_fault: fault_of(&log.tail)
            .or_else(|| fault_of(&rotated.tail).map(|fault| format!("{ROTATED}: {fault}"))),
        snapshots: ids.len(),
        snapshot_faults,
    })
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
