//! Everything the fake keeps, and its locks.

use std::any::Any;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use od_core::artifact::Attempt;
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::ledger::{EarlierAttempt, Maker, RunningLockState, find_earlier};

use super::artifact::KeptArtifact;
use crate::store::{CommitLock, PageKey, RunningLock, StoreError, Stored};

/// Names an artifact.
pub(super) type Key = (ProjectId, ArtifactId);

/// Every artifact, deleted or not, and who holds a lock.
#[derive(Debug, Default)]
pub(super) struct MemoryState {
    pub(super) projects: HashSet<ProjectId>,
    pub(super) artifacts: BTreeMap<Key, KeptArtifact>,
    pub(super) trash: BTreeMap<Key, (Timestamp, KeptArtifact)>,
    pub(super) locked: HashSet<(Key, LockKind)>,
}

impl MemoryState {
    pub(super) fn kept(&self, key: &Key) -> Result<&KeptArtifact, StoreError> {
        self.artifacts.get(key).ok_or_else(|| not_found(key))
    }

    pub(super) fn kept_mut(&mut self, key: &Key) -> Result<&mut KeptArtifact, StoreError> {
        self.artifacts.get_mut(key).ok_or_else(|| not_found(key))
    }

    pub(super) fn stored(&self, key: &Key) -> Result<Arc<Stored>, StoreError> {
        let kept = self.kept(key)?;
        let mut state = kept.state.clone();
        let artifact = &mut state.artifact;
        artifact.refresh_status =
            kept.ledger.refresh_status(artifact.refresh_status, self.running_lock(key));
        artifact.last_refreshed_at = kept.ledger.last_refreshed_at(artifact.last_refreshed_at);
        let digests = &state.artifact.digests;
        Ok(Arc::new(Stored {
            id: key.1.clone(),
            project: key.0.clone(),
            summary: Arc::new(state.artifact.summary(kept.health).with_runs(kept.ledger.runs())),
            health: kept.health,
            drift: Vec::new(),
            committed_data: None,
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

    pub(super) fn running_lock(&self, key: &Key) -> RunningLockState {
        if self.locked.contains(&(key.clone(), LockKind::Running)) {
            RunningLockState::Held
        } else {
            RunningLockState::Free
        }
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
        let here = |key: &&Key| key.0 == *project;
        let maker =
            |kept: &KeptArtifact| Maker::known(kept.state.artifact.created_by_attempt.clone());
        let made = self.artifacts.iter().filter(|(key, _)| here(key));
        let made = made.map(|(key, kept)| (key, maker(kept)));
        let trashed = || {
            let trashed = self.trash.iter().filter(|(key, _)| here(key));
            Ok(trashed.filter_map(|(key, (_, kept))| {
                Some((key, kept.state.artifact.created_by_attempt.as_ref()?.id.clone()))
            }))
        };
        let named = attempt.id.clone();
        match find_earlier(attempt, made, trashed)? {
            EarlierAttempt::Nothing => Ok(None),
            EarlierAttempt::SameRequest(key) => Ok(Some(key.clone())),
            EarlierAttempt::OtherRequest(key) => {
                Err(StoreError::AttemptConflict { attempt: named, artifact: key.1.clone() })
            }
            EarlierAttempt::Trashed(key) => {
                Err(StoreError::AttemptTrashed { attempt: named, artifact: key.1.clone() })
            }
            // Memory can always be read.
            EarlierAttempt::Unreadable(key) => Err(not_found(key)),
        }
    }
}

pub(super) fn key(project: &ProjectId, artifact: &ArtifactId) -> Key {
    (project.clone(), artifact.clone())
}

pub(super) fn not_found(key: &Key) -> StoreError {
    StoreError::NotFound { project: key.0.clone(), artifact: key.1.clone() }
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum LockKind {
    Commit,
    Running,
}

#[derive(Debug)]
pub(super) struct MemoryLock {
    pub(super) memory: Arc<Mutex<MemoryState>>,
    pub(super) lock: (Key, LockKind),
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).locked.remove(&self.lock);
    }
}

impl CommitLock for MemoryLock {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl RunningLock for MemoryLock {}
