//! `snapshots/<refreshId>/`: the data of each successful refresh that changed something, as earlier
//! versions kept it. Revisions have taken their place.

use od_core::artifact::Provenance;
use od_core::ids::{Digest, RefreshId};
use od_core::json::BoundedObject;
use od_core::ledger::excess_snapshots;
use od_ports::store::{Snapshot, SnapshotSummary};

use crate::artifacts::commit::SetFile;
use crate::disk::{Dir, DiskError, EntryKind, is_foreign, is_no_directory, is_taken_by_directory};

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
        Err(err) if is_taken_by_directory(&err) => {
            snapshots.remove_tree(refresh.as_str())?;
            snapshots.rename(&temporary, &snapshots, refresh.as_str())
        }
        other => other,
    }
}

/// Waits until a snapshot is on the disk.
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
    snapshot.sync()?;
    artifact.child(SNAPSHOTS)?.sync()
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
        // A file or a link there is an obstacle, which health reports; there is no snapshot in it.
        Err(err) if err.is_missing() || is_no_directory(&err) => return Ok(Vec::new()),
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
    let bytes = |file: SetFile| match artifact.read_if_there(&path(file), file.bytes_max()) {
        // Something that is no snapshot of ours has its name.
        Err(err) if is_foreign(&err) => Ok(None),
        other => other,
    };
    let (Some(data), Some(provenance)) = (bytes(SetFile::Data)?, bytes(SetFile::Provenance)?)
    else {
        return Ok(None);
    };
    let data = BoundedObject::parse(&data).ok();
    let provenance = serde_json::from_slice::<Provenance>(&provenance).ok();
    Ok(data.zip(provenance).map(|(data, provenance)| Snapshot {
        refresh_id: refresh.clone(),
        revision: None,
        data,
        provenance,
    }))
}

/// Lists the readable snapshots, newest first.
pub(crate) fn list(artifact: &Dir) -> Result<Vec<SnapshotSummary>, DiskError> {
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
