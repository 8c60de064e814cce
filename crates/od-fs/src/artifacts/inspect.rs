//! Reading everything of an artifact afresh, for `verify`.

use std::sync::Arc;

use od_core::artifact::{Artifact, Provenance};
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId};
use od_core::json::{BoundedObject, Value};
use od_ports::store::{InspectedFile, Inspection, Snapshot, SnapshotSummary, StoreError};

use super::audit_log::{self, AuditLog, ROTATED, Tail};
use super::generation::{Generation, SetFile};
use super::pending::{self, Copies, is_foreign};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer};
use super::shared::Shared;
use super::snapshots;
use crate::disk::{Dir, DiskError};

/// How often to begin again because a commit went by.
const TRIES_MAX: usize = 10;

impl Shared {
    /// Reads everything of an artifact and derives every digest anew.
    pub(crate) fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (_, dir) = self.existing(project, artifact)?;
            let before = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?;
            let inspection = self.inspect_at(project, artifact, &dir, before.as_deref())?;
            // Files of two commits say nothing about either.
            let after = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?;
            if before == after || tries >= TRIES_MAX {
                return Ok(inspection);
            }
        }
    }

    fn inspect_at(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        dir: &Dir,
        pointer_bytes: Option<&[u8]>,
    ) -> Result<Inspection, StoreError> {
        let health = self.load(project, artifact)?.health;
        let pointer = pointer_bytes.and_then(|bytes| Pointer::decode(bytes).ok());
        let frame = match &pointer {
            Some(pointer) => unplaced_frame(dir, pointer)?,
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
}

fn fault_of(tail: &Tail) -> Option<String> {
    match tail {
        Tail::Clean => None,
        Tail::Torn(bytes) => Some(format!("{} bytes of an unfinished line", bytes.len())),
        Tail::Broken(reason) => Some(reason.to_string()),
    }
}

/// Returns the frame of a commit whose copies are not written yet.
fn unplaced_frame(dir: &Dir, pointer: &Pointer) -> Result<Option<Generation>, DiskError> {
    let files = pending::list(dir)?;
    let revision = pointer.artifact.revision;
    match files.iter().find(|file| file.revision == revision && file.copies == Copies::Unknown) {
        Some(file) => pending::read(dir, file),
        None => Ok(None),
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

impl Shared {
    /// Lists the snapshots of an artifact.
    pub(crate) fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError> {
        let (_, dir) = self.existing(project, artifact)?;
        let mut found = snapshots::list(&dir)?;
        // A refresh that is committed but not placed has its snapshot in the frame.
        if let Some(snapshot) = unplaced_snapshot(&dir)?
            && !found.iter().any(|summary| summary.refresh_id == snapshot.0.refresh_id)
        {
            found.insert(0, snapshot.0);
        }
        Ok(found)
    }

    /// Reads one snapshot of an artifact.
    pub(crate) fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError> {
        let (_, dir) = self.existing(project, artifact)?;
        if let Some((summary, snapshot)) = unplaced_snapshot(&dir)?
            && summary.refresh_id == *refresh
        {
            return Ok(snapshot);
        }
        snapshots::read(&dir, refresh)?.ok_or_else(|| StoreError::SnapshotNotFound {
            artifact: artifact.clone(),
            refresh: refresh.clone(),
        })
    }
}

type UnplacedSnapshot = (SnapshotSummary, Snapshot);

fn unplaced_snapshot(dir: &Dir) -> Result<Option<UnplacedSnapshot>, DiskError> {
    let Some(bytes) = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)? else { return Ok(None) };
    let Ok(pointer) = Pointer::decode(&bytes) else { return Ok(None) };
    let Some(generation) = unplaced_frame(dir, &pointer)? else { return Ok(None) };
    let Some(refresh) = &generation.refresh else { return Ok(None) };
    let data = BoundedObject::parse(&generation.data).ok();
    let provenance: Option<Provenance> = serde_json::from_slice(&generation.provenance).ok();
    Ok(data.zip(provenance).map(|(data, provenance)| {
        let summary = SnapshotSummary {
            refresh_id: refresh.id.clone(),
            generated_at: provenance.generated_at,
            data_digest: Digest::of_json(data.value()),
            bytes: generation.data.len() as u64,
        };
        let refresh_id = refresh.id.clone();
        (summary, Snapshot { refresh_id, data, provenance })
    }))
}
