//! `snapshots/<refreshId>/`: the data of each successful refresh that changed something.

use od_core::artifact::Provenance;
use od_core::ids::{Digest, RefreshId};
use od_core::json::BoundedObject;
use od_core::ledger::excess_snapshots;
use od_ports::store::{Snapshot, SnapshotSummary};

use crate::artifacts::commit::{Pointer, SetFile, pending};
use crate::disk::{Dir, DiskError, EntryKind};

pub(crate) const SNAPSHOTS: &str = "snapshots";

/// Writes a snapshot as a directory renamed into place, without syncing it. One that is there stays.
pub(crate) fn write(
    artifact: &Dir,
    refresh: &RefreshId,
    data: &[u8],
    provenance: &[u8],
) -> Result<(), DiskError> {
    let snapshots = artifact.child_or_make(SNAPSHOTS)?;
    let temporary = format!("{refresh}.tmp");
    // A writer that was killed left a part of it.
    snapshots.remove_tree(&temporary)?;
    snapshots.make_dir(&temporary)?;
    let snapshot = snapshots.child(&temporary)?;
    snapshot.write(SetFile::Data.name(), data)?;
    snapshot.write(SetFile::Provenance.name(), provenance)?;
    match snapshots.rename(&temporary, &snapshots, refresh.as_str()) {
        // A directory that is not empty cannot be replaced: the snapshot was written before. After a
        // loss of power it may be torn, so what the frame says wins.
        Err(err) if err.source.kind() == std::io::ErrorKind::DirectoryNotEmpty => {
            snapshots.remove_tree(refresh.as_str())?;
            snapshots.rename(&temporary, &snapshots, refresh.as_str())
        }
        other => other,
    }
}

/// Waits until a snapshot is on the disk; the caller syncs `snapshots/` itself.
pub(crate) fn sync(artifact: &Dir, refresh: &RefreshId) -> Result<(), DiskError> {
    let snapshot = match artifact.child(&format!("{SNAPSHOTS}/{refresh}")) {
        Ok(snapshot) => snapshot,
        Err(err) if err.is_missing() => return Ok(()),
        Err(err) => return Err(err),
    };
    for (name, kind) in snapshot.entries()? {
        if kind == EntryKind::Regular {
            let (file, _) = snapshot.open_regular(&name)?;
            file.sync_all().map_err(|err| DiskError::new("sync a snapshot", err))?;
        }
    }
    snapshot.sync()
}

/// Removes the oldest snapshots beyond the bound.
pub(crate) fn trim(artifact: &Dir) -> Result<(), DiskError> {
    let ids = ids(artifact)?;
    let excess = excess_snapshots(&ids);
    if excess.is_empty() {
        return Ok(());
    }
    let snapshots = artifact.child(SNAPSHOTS)?;
    excess.iter().try_for_each(|id| snapshots.remove_tree(id.as_str()))
}

/// Lists the ids, newest first.
pub(crate) fn ids(artifact: &Dir) -> Result<Vec<RefreshId>, DiskError> {
    let snapshots = match artifact.child(SNAPSHOTS) {
        Ok(snapshots) => snapshots,
        Err(err) if err.is_missing() => return Ok(Vec::new()),
        Err(err) => return Err(err),
    };
    let mut ids: Vec<RefreshId> =
        snapshots.entries()?.into_iter().filter_map(|(name, _)| name.parse().ok()).collect();
    ids.sort_by(|a, b| b.cmp(a));
    Ok(ids)
}

/// Reads one snapshot; `None` if it is missing or not readable as one.
pub(crate) fn read(artifact: &Dir, refresh: &RefreshId) -> Result<Option<Snapshot>, DiskError> {
    let path = |file: SetFile| format!("{SNAPSHOTS}/{refresh}/{}", file.name());
    let bytes = |file: SetFile| artifact.read_if_there(&path(file), file.bytes_max());
    let (Some(data), Some(provenance)) = (bytes(SetFile::Data)?, bytes(SetFile::Provenance)?)
    else {
        return Ok(None);
    };
    let data = BoundedObject::parse(&data).ok();
    let provenance = serde_json::from_slice::<Provenance>(&provenance).ok();
    Ok(data.zip(provenance).map(|(data, provenance)| Snapshot {
        refresh_id: refresh.clone(),
        data,
        provenance,
    }))
}

/// Lists the readable snapshots, newest first, that of a commit whose copies are not written included.
pub(crate) fn list(artifact: &Dir) -> Result<Vec<SnapshotSummary>, DiskError> {
    let mut found = list_written(artifact)?;
    if let Some((summary, _)) = unwritten_snapshot(artifact)?
        && !found.iter().any(|written| written.refresh_id == summary.refresh_id)
    {
        found.insert(0, summary);
    }
    Ok(found)
}

/// Finds one snapshot, on the disk or in the frame of a commit whose copies are not written.
pub(crate) fn find(artifact: &Dir, refresh: &RefreshId) -> Result<Option<Snapshot>, DiskError> {
    match unwritten_snapshot(artifact)? {
        Some((summary, snapshot)) if summary.refresh_id == *refresh => Ok(Some(snapshot)),
        Some(_) | None => read(artifact, refresh),
    }
}

fn list_written(artifact: &Dir) -> Result<Vec<SnapshotSummary>, DiskError> {
    let mut found = Vec::new();
    for refresh_id in ids(artifact)? {
        let Some(snapshot) = read(artifact, &refresh_id)? else { continue };
        let path = format!("{SNAPSHOTS}/{refresh_id}/{}", SetFile::Data.name());
        found.push(SnapshotSummary {
            generated_at: snapshot.provenance.generated_at,
            data_digest: Digest::of_json(snapshot.data.value()),
            bytes: artifact.stat(&path)?.map_or(0, |stat| stat.bytes),
            refresh_id,
        });
    }
    Ok(found)
}

/// Returns the snapshot that is still in the frame of the last commit, if it has one.
fn unwritten_snapshot(dir: &Dir) -> Result<Option<(SnapshotSummary, Snapshot)>, DiskError> {
    let Some(pointer) = Pointer::read_sound(dir)? else { return Ok(None) };
    let Some(generation) = pending::unwritten(dir, pointer.artifact.revision)? else {
        return Ok(None);
    };
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
