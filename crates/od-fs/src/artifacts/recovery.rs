//! Start-up: finish what crashed writers left.

use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::{StoreError, Unrecovered};

use super::shared::Shared;
use super::{locks, read, roll};
use crate::data_dir::STAGING;
use crate::disk::{Dir, EntryKind};

impl Shared {
    /// Finishes what crashed writers left, in every project. One artifact that cannot be finished
    /// does not keep the others from it; what another process keeps holding is that process's business.
    pub(crate) fn recover(&self) -> Result<Vec<Unrecovered>, StoreError> {
        let mut failed = Vec::new();
        for project in self.project_ids()?.iter() {
            if let Err(error) = self.recover_project(project, &mut failed) {
                failed.push(Unrecovered { project: project.clone(), artifact: None, error });
            }
        }
        Ok(failed)
    }

    fn recover_project(
        &self,
        project: &ProjectId,
        failed: &mut Vec<Unrecovered>,
    ) -> Result<(), StoreError> {
        let Some(live) = self.live_if_there(project)? else { return Ok(()) };
        for artifact in &self.ids(project)? {
            if let Err(error) = recover_artifact(&live, artifact) {
                let (project, artifact) = (project.clone(), Some(artifact.clone()));
                failed.push(Unrecovered { project, artifact, error });
            }
            self.index().touch(project, artifact);
        }
        clear_staging(&live)?;
        self.purge_trash(&live)
    }
}

fn recover_artifact(live: &Dir, artifact: &ArtifactId) -> Result<(), StoreError> {
    let Some(dir) = read::open(live, artifact)? else { return Ok(()) };
    if !roll::has_work(&dir)? {
        return Ok(());
    }
    let Some(_lock) = locks::commit(live, artifact, locks::CLEARING_PATIENCE)? else {
        return Ok(());
    };
    roll::recover(&dir)?;
    Ok(roll::settle(&dir)?)
}

/// Removes creates that never got as far as their rename.
fn clear_staging(live: &Dir) -> Result<(), StoreError> {
    let staging = match live.child(STAGING) {
        Ok(staging) => staging,
        Err(err) if err.is_missing() => return Ok(()),
        Err(err) => return Err(err.into()),
    };
    // Whoever creates shares it.
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
