//! Start-up: finish what crashed writers left.

use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::{StoreError, Unrecovered};

use crate::artifacts::commit::roll_forward::WrittenCopies;
use crate::artifacts::commit::{locks, roll_forward};
use crate::artifacts::dirs::open_artifact;
use crate::artifacts::read::{ArtifactReader, Recovery};
use crate::artifacts::trash::TrashBin;
use crate::data_dir::STAGING;
use crate::disk::{Dir, EntryKind};

/// Finishes what crashed writers left, in every project. One artifact that cannot be finished
/// does not keep the others from it; what another process keeps holding is that process's business.
pub(crate) fn recover(
    reader: &ArtifactReader,
    trash: &TrashBin,
) -> Result<Vec<Unrecovered>, StoreError> {
    let mut failed = Vec::new();
    for project in reader.project_ids()?.iter() {
        if let Err(error) = recover_project(reader, trash, project, &mut failed) {
            failed.push(Unrecovered { project: project.clone(), artifact: None, error });
        }
    }
    Ok(failed)
}

fn recover_project(
    reader: &ArtifactReader,
    trash: &TrashBin,
    project: &ProjectId,
    failed: &mut Vec<Unrecovered>,
) -> Result<(), StoreError> {
    let Some(live) = reader.dirs.live(project)? else { return Ok(()) };
    for artifact in &reader.ids(project)? {
        let recovered = recover_artifact(&live, artifact);
        reader.note_recovery(project, artifact, Recovery::of(&recovered));
        if let Err(error) = recovered {
            let (project, artifact) = (project.clone(), Some(artifact.clone()));
            failed.push(Unrecovered { project, artifact, error });
        }
        reader.invalidate(project, artifact);
    }
    clear_staging(&live)?;
    trash.purge(&live)
}

fn recover_artifact(live: &Dir, artifact: &ArtifactId) -> Result<(), StoreError> {
    let Some(dir) = open_artifact(live, artifact)? else { return Ok(()) };
    // Asked without the lock, because nearly every artifact needs nothing: a lock file for each would
    // make the start with ten thousand artifacts slow. Whatever a writer does meanwhile it finishes itself.
    if !roll_forward::has_work(&dir)? {
        return Ok(());
    }
    let Some(_lock) = locks::commit(live, artifact, locks::CLEARING_TIMEOUT)? else {
        return Ok(());
    };
    roll_forward::recover(&dir, WrittenCopies::Checked)?;
    Ok(roll_forward::checkpoint(&dir)?)
}

/// Removes creates that never got as far as their rename.
fn clear_staging(live: &Dir) -> Result<(), StoreError> {
    let staging = match live.child(STAGING) {
        Ok(staging) => staging,
        Err(err) if err.is_missing() => return Ok(()),
        Err(err) => return Err(err.into()),
    };
    // Creates share the lock: while one runs, in whatever process, nothing is cleared.
    if let Some(_alone) = locks::staging_alone(&staging)? {
        for (name, kind) in staging.entries()? {
            match kind {
                EntryKind::Directory => staging.remove_tree(&name)?,
                EntryKind::Regular | EntryKind::Other => staging.remove(&name)?,
            }
        }
    }
    Ok(())
}
