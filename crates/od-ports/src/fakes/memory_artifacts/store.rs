//! The five store ports over memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::artifact::{ArtifactState, ArtifactSummary, Attempt, Health, ListCursor, ListTally};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision, Timestamp};
use od_core::json;
use od_core::ledger::{
    CommitNote, CommitRecord, RefreshStart, RevisionSource, check_revision, trash_expires_at,
};
use od_core::refresh::RefreshRecord;

use super::artifact::KeptArtifact;
use super::state::{Key, LockKind, MemoryLock, MemoryState, key};
use crate::store::{
    ArtifactStore, Census, Change, Created, Gate, History, Inspection, KeptRevision, Page,
    PageRequest, RefreshLog, RepairMode, RepairReport, RevisionStore, RunningRefresh, Snapshot,
    SnapshotSummary, StoreError, StoreMaintenance, Stored, Timeline, Trash, Trashed,
    UnfinishedRefresh, Unrecovered, WriteWitness,
};

/// Keeps artifacts in memory: the contract without a disk.
#[derive(Debug, Default)]
pub struct MemoryArtifactStore {
    memory: Arc<Mutex<MemoryState>>,
}

impl MemoryArtifactStore {
    /// Makes an empty store with these projects.
    pub fn with_projects(projects: impl IntoIterator<Item = ProjectId>) -> Self {
        let memory =
            MemoryState { projects: projects.into_iter().collect(), ..MemoryState::default() };
        Self { memory: Arc::new(Mutex::new(memory)) }
    }

    /// Sets the health of an artifact, as damage on a disk would.
    pub fn set_health(&self, project: &ProjectId, artifact: &ArtifactId, health: Health) {
        if let Ok(kept) = self.memory().kept_mut(&key(project, artifact)) {
            kept.health = health;
        }
    }

    fn memory(&self) -> MutexGuard<'_, MemoryState> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self, key: &Key, kind: LockKind) -> Option<MemoryLock> {
        let lock = (key.clone(), kind);
        let taken = self.memory().locked.insert(lock.clone());
        taken.then(|| MemoryLock { memory: Arc::clone(&self.memory), lock })
    }

    fn commit_lock(&self, key: &Key) -> Result<MemoryLock, StoreError> {
        self.lock(key, LockKind::Commit)
            .ok_or_else(|| StoreError::Busy { artifact: key.1.clone(), waited_ms: 0 })
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifactStore {
    async fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        self.memory().stored(&key(project, artifact))
    }

    async fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        let memory = self.memory();
        Ok(memory.artifacts.keys().find(|key| key.1 == *artifact).map(|key| key.0.clone()))
    }

    async fn list(&self, project: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        let memory = self.memory();
        memory.check_project(project)?;
        let mut list = Vec::new();
        for key in memory.artifacts.keys().filter(|key| key.0 == *project) {
            list.push(Arc::clone(&memory.stored(key)?.summary));
        }
        list.sort_by_cached_key(|line| ListCursor::of(line));
        Ok(list.into())
    }

    async fn page(&self, project: &ProjectId, request: PageRequest) -> Result<Page, StoreError> {
        let list = ArtifactStore::list(self, project).await?;
        let after = |line: &&Arc<ArtifactSummary>| {
            request.after.as_ref().is_none_or(|after| ListCursor::of(line) > *after)
        };
        Ok(Page::take(list.iter().filter(after), &request, tally(&list)))
    }

    async fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        let memory = self.memory();
        memory.check_project(project)?;
        match memory.earlier_attempt(project, attempt)? {
            Some(made) => memory.stored(&made).map(Some),
            None => Ok(None),
        }
    }

    async fn create(&self, new: Decision, note: CommitNote) -> Result<Created, StoreError> {
        let Decision { state, page, .. } = new;
        let project = state.artifact.project_id.clone();
        let key = key(&project, &state.artifact.id);
        let mut memory = self.memory();
        memory.check_project(&project)?;
        if let Some(attempt) = &state.artifact.created_by_attempt
            && let Some(made) = memory.earlier_attempt(&project, attempt)?
        {
            return Ok(Created::Replayed(memory.stored(&made)?));
        }
        if memory.artifacts.contains_key(&key) {
            return Err(StoreError::Exists { artifact: key.1 });
        }
        memory.artifacts.insert(key.clone(), KeptArtifact::new(state, page, note));
        Ok(Created::Fresh(memory.stored(&key)?))
    }

    async fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError> {
        let key = key(project, artifact);
        let stored = self.memory().stored(&key)?;
        let lock = self.commit_lock(&key)?;
        Gate::open(key.0, key.1, Box::new(lock), stored)
    }

    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError> {
        let ours = witness.lock().as_any().downcast_ref::<MemoryLock>();
        if !ours.is_some_and(|lock| Arc::ptr_eq(&lock.memory, &self.memory)) {
            return Err(StoreError::ForeignWitness);
        }
        let key = key(witness.project(), witness.artifact());
        let Change { expected, state, page, refresh, note } = change;
        let mut memory = self.memory();
        let kept = memory.kept_mut(&key)?;
        check_revision(expected, kept.state.artifact.revision)
            .map_err(|conflict| StoreError::revision_conflict(&key.1, conflict))?;
        let refresh_id = refresh.as_ref().map(|record| record.refresh_id.clone());
        if let Some(record) = refresh {
            kept.ledger
                .admit_commit(&record.refresh_id, kept.last_refresh())
                .map_err(|closed| StoreError::refresh_closed(&key.1, closed))?;
            kept.append(record);
        }
        kept.commit(state, page, note, refresh_id);
        memory.stored(&key)
    }
}

#[async_trait]
impl RefreshLog for MemoryArtifactStore {
    async fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError> {
        let memory = self.memory();
        let kept = memory.kept(&key(project, artifact))?;
        Ok(History { records: kept.log.iter().rev().cloned().collect(), broken: None })
    }

    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        start: RefreshStart,
    ) -> Result<RunningRefresh, StoreError> {
        let key = key(project, artifact);
        let running =
            self.memory().kept(&key)?.ledger.running().map(|begun| begun.refresh_id.clone());
        let Some(lock) = self.lock(&key, LockKind::Running) else {
            return Err(StoreError::RefreshLocked { artifact: key.1, running });
        };
        let _commit = self.commit_lock(&key)?;
        let mut memory = self.memory();
        let base = memory.stored(&key)?;
        if !base.health.is_healthy() {
            return Err(StoreError::NotHealthy { artifact: key.1, health: base.health });
        }
        let kept = memory.kept_mut(&key)?;
        kept.ledger
            .admit_start(&start)
            .map_err(|overtaken| StoreError::refresh_overtaken(&key.1, overtaken))?;
        let abandoned = kept.ledger.running().cloned();
        let id = kept.ledger.next_id(kept.last_refresh());
        kept.append(start.record(id.clone()));
        drop(memory);
        Ok(RunningRefresh { id, base, abandoned, lock: Box::new(lock) })
    }

    async fn append_record(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        record: RefreshRecord,
    ) -> Result<(), StoreError> {
        let key = key(project, artifact);
        let _commit = self.commit_lock(&key)?;
        let mut memory = self.memory();
        let kept = memory.kept_mut(&key)?;
        kept.ledger
            .admit_record(&record)
            .map_err(|closed| StoreError::refresh_closed(&key.1, closed))?;
        kept.append(record);
        Ok(())
    }

    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        let memory = self.memory();
        let mut found = Vec::new();
        for (key, kept) in &memory.artifacts {
            let unfinished = kept.ledger.unfinished(memory.running_lock(key));
            found.extend(unfinished.map(|(begun, lock_held)| UnfinishedRefresh {
                project: key.0.clone(),
                artifact: key.1.clone(),
                refresh: begun.refresh_id.clone(),
                started_at: begun.started_at,
                lock_held,
            }));
        }
        Ok(found)
    }
}

#[async_trait]
impl RevisionStore for MemoryArtifactStore {
    async fn timeline(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Timeline, StoreError> {
        let commits = self.memory().kept(&key(project, artifact))?.commits();
        Ok(Timeline { commits, broken: None })
    }

    async fn revision(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        revision: Revision,
    ) -> Result<KeptRevision, StoreError> {
        let memory = self.memory();
        let kept = memory.kept(&key(project, artifact))?.kept();
        let found = kept.into_iter().find(|(commit, _)| commit.revision == revision);
        let (commit, state) = found
            .cloned()
            .ok_or_else(|| StoreError::RevisionNotFound { artifact: artifact.clone(), revision })?;
        let source = RevisionSource::of(&state.artifact);
        let ArtifactState { template_html, data, provenance, .. } = state;
        Ok(KeptRevision { commit, template_html, data, provenance, source })
    }

    async fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError> {
        let memory = self.memory();
        let summary = |(commit, state): &(CommitRecord, ArtifactState)| {
            Some(SnapshotSummary {
                refresh_id: commit.refresh_id.clone()?,
                generated_at: state.provenance.generated_at,
                data_digest: commit.digests.data_content.clone(),
                bytes: json::pretty_bytes(state.data.value()).len() as u64,
            })
        };
        let kept = memory.kept(&key(project, artifact))?.kept();
        Ok(kept.into_iter().filter_map(summary).collect())
    }

    async fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError> {
        let memory = self.memory();
        let kept = memory.kept(&key(project, artifact))?.kept();
        let found =
            kept.into_iter().find(|(commit, _)| commit.refresh_id.as_ref() == Some(refresh));
        let (commit, state) = found.ok_or_else(|| StoreError::SnapshotNotFound {
            artifact: artifact.clone(),
            refresh: refresh.clone(),
        })?;
        Ok(Snapshot {
            refresh_id: refresh.clone(),
            revision: Some(commit.revision),
            data: state.data.clone(),
            provenance: state.provenance.clone(),
        })
    }
}

#[async_trait]
impl Trash for MemoryArtifactStore {
    async fn delete(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        if_revision: Option<Revision>,
    ) -> Result<Trashed, StoreError> {
        let key = key(project, artifact);
        let mut memory = self.memory();
        let kept = memory.kept(&key)?.clone();
        if let Some(expected) = if_revision {
            check_revision(expected, kept.state.artifact.revision)
                .map_err(|conflict| StoreError::revision_conflict(&key.1, conflict))?;
        }
        let deleted_at = kept.state.artifact.updated_at;
        let trashed = trashed(&key, deleted_at, &kept);
        memory.artifacts.remove(&key);
        memory.trash.insert(key, (deleted_at, kept));
        Ok(trashed)
    }

    async fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let key = key(project, artifact);
        let mut memory = self.memory();
        if memory.trash.contains_key(&key) && memory.artifacts.contains_key(&key) {
            return Err(StoreError::Exists { artifact: key.1 });
        }
        let Some((_, kept)) = memory.trash.remove(&key) else {
            return Err(StoreError::NotInTrash { project: key.0, artifact: key.1 });
        };
        memory.artifacts.insert(key.clone(), kept);
        memory.stored(&key)
    }

    async fn list(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError> {
        let memory = self.memory();
        let here = memory.trash.iter().filter(|(key, _)| key.0 == *project);
        Ok(here.map(|(key, (deleted_at, kept))| trashed(key, *deleted_at, kept)).collect())
    }
}

#[async_trait]
impl StoreMaintenance for MemoryArtifactStore {
    async fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError> {
        Ok(self.memory().kept(&key(project, artifact))?.inspect())
    }

    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        _mode: RepairMode,
    ) -> Result<RepairReport, StoreError> {
        self.memory().kept(&key(project, artifact))?;
        Ok(RepairReport::default())
    }

    async fn recover(&self) -> Result<Vec<Unrecovered>, StoreError> {
        Ok(Vec::new())
    }

    async fn census(&self, projects: &[ProjectId]) -> Census {
        let mut census = Census::default();
        for project in projects {
            match ArtifactStore::list(self, project).await {
                Ok(list) => census.tally.merge(&tally(&list)),
                Err(_) => census.failing += 1,
            }
        }
        census
    }
}

fn tally(list: &[Arc<ArtifactSummary>]) -> ListTally {
    let mut tally = ListTally::default();
    list.iter().for_each(|line| tally.add(line));
    tally
}

fn trashed(key: &Key, deleted_at: Timestamp, kept: &KeptArtifact) -> Trashed {
    Trashed {
        artifact_id: key.1.clone(),
        title: Some(kept.state.artifact.heading.title.clone()),
        deleted_at,
        expires_at: trash_expires_at(deleted_at),
    }
}
