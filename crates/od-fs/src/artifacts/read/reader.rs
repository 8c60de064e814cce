//! Answers from memory where memory is right, from the disk where it is not.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use od_core::artifact::{ArtifactSummary, Health, HealthReason, HealthState};
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::{StoreError, Stored};

use super::artifact::{read_artifact, read_despite_damage, read_log_of};
use super::cache_entry::LoadedArtifact;
use super::index::Index;
use crate::artifacts::commit::checkpoint::CheckpointQueue;
use crate::artifacts::commit::roll_forward::{self, WrittenCopies};
use crate::artifacts::dirs::{ArtifactDirs, not_found};
use crate::disk::{Dir, DiskError, EntryKind, is_damage};
use crate::grants::GrantGuard;

/// Reads artifacts, and remembers what it read in an index.
#[derive(Debug)]
pub(crate) struct ArtifactReader {
    pub(crate) dirs: ArtifactDirs,
    index: Mutex<Index>,
    /// The artifacts whose last commit this process could not finish. Their frames are served, so only
    /// whoever tried knows that the next write will fail as well.
    unfinished: Mutex<HashSet<(ProjectId, ArtifactId)>>,
}

/// The outcome of an attempt to finish what a writer left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Recovery {
    Done,
    Failed,
}

impl Recovery {
    pub(crate) fn of<T, E>(outcome: &Result<T, E>) -> Self {
        if outcome.is_ok() { Self::Done } else { Self::Failed }
    }
}

impl ArtifactReader {
    pub(crate) fn new(dirs: ArtifactDirs) -> Self {
        let index = Mutex::new(Index::new(dirs.data_dir().clone()));
        Self { dirs, index, unfinished: Mutex::default() }
    }

    /// Finishes what a crashed writer left of an artifact, and remembers whether that worked. The caller
    /// holds its commit lock.
    pub(crate) fn finish(
        &self,
        dir: &Dir,
        project: &ProjectId,
        artifact: &ArtifactId,
        queue: &CheckpointQueue,
        written: WrittenCopies,
    ) -> Result<(), DiskError> {
        let finished = roll_forward::finish(dir, project, artifact, queue, written);
        self.note_recovery(project, artifact, Recovery::of(&finished));
        finished
    }

    /// Remembers whether what a writer left of an artifact could be finished: its health hangs on it.
    pub(crate) fn note_recovery(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        recovery: Recovery,
    ) {
        let key = (project.clone(), artifact.clone());
        let mut unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match recovery {
            Recovery::Done => unfinished.remove(&key),
            Recovery::Failed => unfinished.insert(key),
        };
        drop(unfinished);
        if changed {
            self.invalidate(project, artifact);
        }
    }

    /// Returns the artifacts whose last commit could not be finished here; nearly always none.
    pub(super) fn unfinished(&self) -> Vec<(ProjectId, ArtifactId)> {
        let unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.iter().cloned().collect()
    }

    /// Returns the health of an artifact whose files have the given one.
    pub(super) fn health_after_recovery(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        found: Health,
    ) -> Health {
        let unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        // Nearly always empty, and then nothing is hashed.
        let failed = !unfinished.is_empty()
            && unfinished.contains(&(project.clone(), artifact.clone()))
            && found.is_healthy();
        if failed {
            Health::unsound(HealthState::CorruptTail, HealthReason::RecoveryFailed)
        } else {
            found
        }
    }

    fn with_recovery(&self, mut loaded: LoadedArtifact) -> LoadedArtifact {
        let Stored { project, id, health: found, .. } = &*loaded.stored;
        let health = self.health_after_recovery(project, id, *found);
        if health != loaded.stored.health {
            let summary = with_health(&loaded.entry.summary, health);
            loaded.entry.summary = Arc::clone(&summary);
            loaded.stored = Arc::new(Stored { health, summary, ..Stored::clone(&loaded.stored) });
        }
        loaded
    }

    /// Returns the guard that tells which grants were given here.
    pub(crate) fn grants(&self) -> Option<&GrantGuard> {
        self.dirs.data_dir().grants()
    }

    /// Returns an artifact if memory has it as it is now.
    pub(crate) fn cached(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        let mut index = self.fresh_index()?;
        Ok(index.loaded(project, artifact).map(|loaded| loaded.stored))
    }

    /// Reads an artifact from the disk and remembers it.
    pub(crate) fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let Some(live) = self.dirs.live(project)? else {
            return Err(not_found(project, artifact));
        };
        let (version, known) = {
            let mut index = self.fresh_index()?;
            (index.begin_read(project, artifact), index.loaded_but_for_log(project, artifact))
        };
        let with_log = match known {
            Some(known) => read_log_of(&live, project, artifact, &known)?,
            None => None,
        };
        let loaded = match with_log {
            Some(loaded) => Some(loaded),
            None => read_artifact(&live, project, artifact, self.grants())?,
        };
        let Some(loaded) = loaded else {
            self.index().end_read_missing(version, project, artifact);
            return Err(not_found(project, artifact));
        };
        let loaded = self.with_recovery(loaded);
        self.index().end_load(version, &loaded);
        Ok(loaded.stored)
    }

    /// Returns an artifact as it is now, from memory or from the disk.
    pub(crate) fn cached_or_load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        match self.cached(project, artifact)? {
            Some(stored) => Ok(stored),
            None => self.load(project, artifact),
        }
    }

    /// As [`Self::load`], for a request that only shows: where the disk fails, the last good state is
    /// better than none.
    pub(crate) fn load_to_show(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        self.load(project, artifact).or_else(|err| {
            if !err.system_error().is_some_and(is_damage) {
                return Err(err);
            }
            let live = self.dirs.live(project)?;
            let shown =
                live.and_then(|live| read_despite_damage(&live, project, artifact, self.grants()));
            shown.map_or(Err(err), |loaded| Ok(loaded.stored))
        })
    }

    /// Returns the ids of a project's artifacts.
    pub(crate) fn ids(&self, project: &ProjectId) -> Result<Vec<ArtifactId>, StoreError> {
        let (known, unsure) = {
            let index = self.fresh_index()?;
            (index.ids(project), index.unsure(project))
        };
        if let Some(ids) = known {
            return Ok(ids);
        }
        // A name that appeared or went is looked up by itself: one create costs no scan of all.
        if let Some(unsure) = unsure {
            self.read_list_entries(project, &unsure)?;
            if let Some(ids) = self.index().ids(project) {
                return Ok(ids);
            }
        }
        let Some(live) = self.dirs.live(project)? else { return Ok(Vec::new()) };
        let version = self.index().begin_scan(project);
        let ids: Vec<ArtifactId> = live
            .entries()?
            .into_iter()
            .filter(|(_, kind)| *kind == EntryKind::Directory)
            .filter_map(|(name, _)| name.parse().ok())
            .collect();
        self.index().end_scan(version, project, &ids);
        Ok(ids)
    }

    /// Returns every project that has a directory.
    pub(crate) fn project_ids(&self) -> Result<Arc<[ProjectId]>, StoreError> {
        if let Some(ids) = self.fresh_index()?.project_ids() {
            return Ok(ids);
        }
        let version = self.index().begin_projects();
        let projects = self.dirs.data_dir().projects()?;
        let ids: Arc<[ProjectId]> = projects
            .entries()?
            .into_iter()
            .filter(|(_, kind)| *kind == EntryKind::Directory)
            .filter_map(|(name, _)| name.parse().ok())
            .collect();
        self.index().end_projects(version, &ids);
        Ok(ids)
    }

    /// Returns the project that has an artifact if memory is sure of it.
    pub(crate) fn cached_location(
        &self,
        artifact: &ArtifactId,
    ) -> Result<Option<ProjectId>, StoreError> {
        Ok(self.fresh_index()?.locate(artifact))
    }

    /// Searches every project for an artifact.
    pub(crate) fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        for project in self.project_ids()?.iter() {
            if self.ids(project)?.contains(artifact) {
                return Ok(Some(project.clone()));
            }
        }
        Ok(None)
    }

    /// Drops what memory has of an artifact that this process just changed.
    pub(crate) fn invalidate(&self, project: &ProjectId, artifact: &ArtifactId) {
        self.index().touch(project, artifact);
    }

    /// Drops what memory has of an artifact's log that this process just changed.
    pub(crate) fn invalidate_log(&self, project: &ProjectId, artifact: &ArtifactId) {
        self.index().touch_log(project, artifact);
    }

    /// Drops an artifact that this process just moved away.
    pub(crate) fn forget(&self, project: &ProjectId, artifact: &ArtifactId) {
        self.index().removed(project, artifact);
    }

    /// Returns the index. What it holds is only a copy of the disk, checked by version, so one that a
    /// panicking thread left behind is still good.
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index after it has taken in every change so far.
    pub(super) fn fresh_index(&self) -> Result<MutexGuard<'_, Index>, StoreError> {
        let mut index = self.index();
        index.catch_up()?;
        Ok(index)
    }
}

pub(super) fn with_health(summary: &ArtifactSummary, health: Health) -> Arc<ArtifactSummary> {
    Arc::new(ArtifactSummary { health, ..summary.clone() })
}
