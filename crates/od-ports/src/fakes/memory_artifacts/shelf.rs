//! All the fake keeps.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use od_core::artifact::{Attempt, RefreshStatus};
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::refresh::{RecordStep, RefreshRecord};

use super::kept::Kept;
use super::lock::LockKind;
use crate::store::{PageKey, StoreError, Stored};

/// Names an artifact.
pub(super) type Key = (ProjectId, ArtifactId);

/// Everything there is.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) projects: HashSet<ProjectId>,
    pub(super) artifacts: BTreeMap<Key, Kept>,
    pub(super) trash: BTreeMap<Key, (Timestamp, Kept)>,
    pub(super) locked: HashSet<(Key, LockKind)>,
}

impl Shelf {
    pub(super) fn kept(&self, key: &Key) -> Result<&Kept, StoreError> {
        self.artifacts.get(key).ok_or_else(|| not_found(key))
    }

    pub(super) fn kept_mut(&mut self, key: &Key) -> Result<&mut Kept, StoreError> {
        self.artifacts.get_mut(key).ok_or_else(|| not_found(key))
    }

    pub(super) fn stored(&self, key: &Key) -> Result<Arc<Stored>, StoreError> {
        let kept = self.kept(key)?;
        let mut state = kept.state.clone();
        if kept.log.last().is_some_and(|last| !last.step.is_last()) {
            let runs = self.locked.contains(&(key.clone(), LockKind::Running));
            state.artifact.refresh_status =
                if runs { RefreshStatus::Running } else { RefreshStatus::Failed };
        } else if let Some(status) = kept.log.iter().rev().find_map(RefreshRecord::outcome) {
            state.artifact.refresh_status = status;
        }
        let succeeded = |record: &&RefreshRecord| record.step == RecordStep::Committed;
        if let Some(last) = kept.log.iter().rev().find(succeeded) {
            state.artifact.last_refreshed_at = Some(last.at);
        }
        let digests = &state.artifact.digests;
        Ok(Arc::new(Stored {
            id: key.1.clone(),
            project: key.0.clone(),
            summary: Arc::new(state.artifact.summary(kept.health)),
            health: kept.health,
            drift: Vec::new(),
            kept_aside: Vec::new(),
            page_key: Some(PageKey {
                template: digests.template.raw.clone(),
                data: digests.data.raw.clone(),
                provenance: digests.provenance.raw.clone(),
            }),
            state: Some(Arc::new(state)),
            last_page: None,
        }))
    }

    pub(super) fn check_project(&self, project: &ProjectId) -> Result<(), StoreError> {
        if self.projects.contains(project) {
            Ok(())
        } else {
            Err(StoreError::ProjectNotFound { project: project.clone() })
        }
    }

    /// Returns what an earlier run of an attempt made.
    pub(super) fn earlier_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Key>, StoreError> {
        let made = |key: &Key, kept: &Kept| {
            let found = kept.state.artifact.created_by_attempt.clone();
            found.filter(|found| key.0 == *project && found.id == attempt.id)
        };
        let here = self.artifacts.iter().find_map(|(key, kept)| Some((key, made(key, kept)?)));
        if let Some((key, found)) = here {
            if found == *attempt {
                return Ok(Some(key.clone()));
            }
            let artifact = key.1.clone();
            return Err(StoreError::AttemptConflict { attempt: found.id, artifact });
        }
        match self.trash.iter().find(|(key, (_, kept))| made(key, kept).is_some()) {
            Some((key, _)) => {
                let (attempt, artifact) = (attempt.id.clone(), key.1.clone());
                Err(StoreError::AttemptTrashed { attempt, artifact })
            }
            None => Ok(None),
        }
    }
}

pub(super) fn key(project: &ProjectId, artifact: &ArtifactId) -> Key {
    (project.clone(), artifact.clone())
}

pub(super) fn not_found(key: &Key) -> StoreError {
    StoreError::NotFound { project: key.0.clone(), artifact: key.1.clone() }
}
