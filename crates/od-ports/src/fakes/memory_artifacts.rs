//! Artifacts kept in memory.

use std::any::Any;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::artifact::{
    ArtifactState, ArtifactSummary, Digests, FileDigests, Health, RefreshStatus,
};
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId, Revision, Timestamp};
use od_core::json;
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};

use crate::artifact_store::ArtifactStore;
use crate::change::{Change, Created, NewArtifact};
use crate::inspection::{InspectedFile, Inspection, RepairMode, RepairReport};
use crate::refresh_log::{History, RunningLock, RunningRefresh, UnfinishedRefresh};
use crate::store_error::StoreError;
use crate::stored::{PageKey, Snapshot, SnapshotSummary, Stored, Trashed};
use crate::write_gate::{CommitLock, Gate, WriteWitness};

type Key = (ProjectId, ArtifactId);

/// Keeps artifacts in memory: the contract without a disk.
#[derive(Debug, Default)]
pub struct MemoryArtifactStore {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    projects: HashSet<ProjectId>,
    artifacts: BTreeMap<Key, Kept>,
    trash: BTreeMap<Key, (Timestamp, Kept)>,
    locked: HashSet<(Key, LockKind)>,
}

#[derive(Clone, Debug)]
struct Kept {
    state: ArtifactState,
    page: Arc<[u8]>,
    log: Vec<RefreshRecord>,
    snapshots: Vec<Snapshot>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum LockKind {
    Commit,
    Running,
}

#[derive(Debug)]
struct MemoryLock {
    inner: Arc<Mutex<Inner>>,
    lock: (Key, LockKind),
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).locked.remove(&self.lock);
    }
}

impl CommitLock for MemoryLock {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl RunningLock for MemoryLock {}

impl Kept {
    fn newest(&self) -> Option<&RefreshId> {
        self.log.iter().map(|record| &record.refresh_id).max()
    }

    fn is_open(&self, refresh: &RefreshId) -> bool {
        let mut records = self.log.iter().filter(|record| record.refresh_id == *refresh).peekable();
        records.peek().is_some() && records.all(|record| !record.step.is_last())
    }

    fn append(&mut self, mut record: RefreshRecord) {
        record.prev = self.log.last().map(RefreshRecord::digest);
        self.log.push(record);
    }
}

impl Inner {
    fn kept(&self, key: &Key) -> Result<&Kept, StoreError> {
        self.artifacts.get(key).ok_or_else(|| not_found(key))
    }

    fn kept_mut(&mut self, key: &Key) -> Result<&mut Kept, StoreError> {
        self.artifacts.get_mut(key).ok_or_else(|| not_found(key))
    }

    fn stored(&self, key: &Key) -> Result<Arc<Stored>, StoreError> {
        let kept = self.kept(key)?;
        let mut state = kept.state.clone();
        if let Some(last) = kept.log.last() {
            state.artifact.refresh_status = match (last.step, last.status) {
                (RecordStep::Committed, _) => RefreshStatus::Succeeded,
                (RecordStep::Failed, _) => RefreshStatus::Failed,
                _ if self.locked.contains(&(key.clone(), LockKind::Running)) => {
                    RefreshStatus::Running
                }
                _ => RefreshStatus::Failed,
            };
        }
        let succeeded = |record: &&RefreshRecord| record.step == RecordStep::Committed;
        if let Some(last) = kept.log.iter().rev().find(succeeded) {
            state.artifact.last_refreshed_at = Some(last.at);
        }
        let digests = &state.artifact.digests;
        Ok(Arc::new(Stored {
            id: key.1.clone(),
            project: key.0.clone(),
            summary: Arc::new(state.artifact.summary(Health::HEALTHY)),
            health: Health::HEALTHY,
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

    fn check_project(&self, project: &ProjectId) -> Result<(), StoreError> {
        if self.projects.contains(project) {
            Ok(())
        } else {
            Err(StoreError::ProjectNotFound { project: project.clone() })
        }
    }
}

impl MemoryArtifactStore {
    /// Makes an empty store with these projects.
    pub fn with_projects(projects: impl IntoIterator<Item = ProjectId>) -> Self {
        let inner = Inner { projects: projects.into_iter().collect(), ..Inner::default() };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self, key: &Key, kind: LockKind) -> Option<MemoryLock> {
        let lock = (key.clone(), kind);
        let taken = self.inner().locked.insert(lock.clone());
        taken.then(|| MemoryLock { inner: Arc::clone(&self.inner), lock })
    }

    fn commit_lock(&self, key: &Key) -> Result<MemoryLock, StoreError> {
        self.lock(key, LockKind::Commit)
            .ok_or_else(|| StoreError::Busy { artifact: key.1.clone(), waited_ms: 0 })
    }
}

fn key(project: &ProjectId, artifact: &ArtifactId) -> Key {
    (project.clone(), artifact.clone())
}

fn not_found(key: &Key) -> StoreError {
    StoreError::NotFound { project: key.0.clone(), artifact: key.1.clone() }
}

/// Sets the fields that belong to the store.
fn finish(state: &mut ArtifactState, page: &[u8], revision: Revision) {
    let html = |bytes: &[u8]| FileDigests {
        content: Digest::of_bytes(bytes),
        raw: Digest::of_bytes(bytes),
    };
    let of_json = |value: &json::Value| FileDigests {
        content: Digest::of_json(value),
        raw: Digest::of_bytes(&json::pretty_bytes(value)),
    };
    let provenance = serde_json::to_value(&state.provenance).unwrap_or_default();
    state.artifact.revision = revision;
    state.artifact.digests = Digests {
        template: html(state.template_html.as_bytes()),
        data: of_json(state.data.value()),
        provenance: of_json(&provenance),
        index: html(page),
    };
}

#[async_trait]
impl ArtifactStore for MemoryArtifactStore {
    async fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        self.inner().stored(&key(project, artifact))
    }

    async fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        let inner = self.inner();
        Ok(inner.artifacts.keys().find(|key| key.1 == *artifact).map(|key| key.0.clone()))
    }

    async fn list(&self, project: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        let inner = self.inner();
        inner.check_project(project)?;
        let mut list = Vec::new();
        for key in inner.artifacts.keys().filter(|key| key.0 == *project) {
            list.push(Arc::clone(&inner.stored(key)?.summary));
        }
        list.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
        Ok(list.into())
    }

    async fn create(&self, new: NewArtifact) -> Result<Created, StoreError> {
        let NewArtifact { project, mut state, page } = new;
        let key = key(&project, &state.artifact.id);
        let mut inner = self.inner();
        inner.check_project(&project)?;
        if let Some(attempt) = &state.artifact.created_by_attempt {
            let made = |kept: &Kept| kept.state.artifact.created_by_attempt.clone();
            let known = inner.artifacts.iter().filter(|(key, _)| key.0 == project).find_map(
                |(key, kept)| made(kept).filter(|found| found.id == attempt.id).map(|f| (key, f)),
            );
            if let Some((key, found)) = known {
                if found == *attempt {
                    return Ok(Created::Replayed(inner.stored(&key.clone())?));
                }
                let artifact = key.1.clone();
                return Err(StoreError::AttemptConflict { attempt: found.id, artifact });
            }
            let trashed = inner.trash.iter().find(|(key, (_, kept))| {
                key.0 == project && made(kept).is_some_and(|found| found.id == attempt.id)
            });
            if let Some((key, _)) = trashed {
                let (attempt, artifact) = (attempt.id.clone(), key.1.clone());
                return Err(StoreError::AttemptTrashed { attempt, artifact });
            }
        }
        if inner.artifacts.contains_key(&key) {
            return Err(StoreError::Exists { artifact: key.1 });
        }
        finish(&mut state, &page, Revision::first());
        let kept = Kept { state, page, log: Vec::new(), snapshots: Vec::new() };
        inner.artifacts.insert(key.clone(), kept);
        Ok(Created::Fresh(inner.stored(&key)?))
    }

    async fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError> {
        let key = key(project, artifact);
        let stored = self.inner().stored(&key)?;
        let lock = self.commit_lock(&key)?;
        Gate::open(key.0, key.1, Box::new(lock), stored)
    }

    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError> {
        let ours = witness.lock().as_any().downcast_ref::<MemoryLock>();
        if !ours.is_some_and(|lock| Arc::ptr_eq(&lock.inner, &self.inner)) {
            return Err(StoreError::ForeignWitness);
        }
        let key = key(witness.project(), witness.artifact());
        let Change { expected, mut state, page, refresh } = change;
        let mut inner = self.inner();
        let kept = inner.kept_mut(&key)?;
        let actual = kept.state.artifact.revision;
        if actual != expected {
            let artifact = key.1;
            return Err(StoreError::RevisionConflict { artifact, expected, actual });
        }
        if let Some(record) = refresh {
            let refresh = record.refresh_id.clone();
            if kept.newest() != Some(&refresh) || !kept.is_open(&refresh) {
                return Err(StoreError::RefreshClosed { artifact: key.1, refresh });
            }
            let (data, provenance) = (state.data.clone(), state.provenance.clone());
            kept.snapshots.insert(0, Snapshot { refresh_id: refresh, data, provenance });
            kept.append(record);
        }
        finish(&mut state, &page, actual.next());
        kept.state = state;
        kept.page = page;
        inner.stored(&key)
    }

    async fn delete(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        if_revision: Option<Revision>,
    ) -> Result<Trashed, StoreError> {
        let key = key(project, artifact);
        let mut inner = self.inner();
        let kept = inner.kept(&key)?.clone();
        let actual = kept.state.artifact.revision;
        if let Some(expected) = if_revision.filter(|expected| *expected != actual) {
            let artifact = key.1;
            return Err(StoreError::RevisionConflict { artifact, expected, actual });
        }
        let deleted_at = kept.state.artifact.updated_at;
        let title = Some(kept.state.artifact.title.clone());
        inner.artifacts.remove(&key);
        inner.trash.insert(key.clone(), (deleted_at, kept));
        Ok(Trashed { artifact_id: key.1, title, deleted_at, expires_at: deleted_at })
    }

    async fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let key = key(project, artifact);
        let mut inner = self.inner();
        if inner.trash.contains_key(&key) && inner.artifacts.contains_key(&key) {
            return Err(StoreError::Exists { artifact: key.1 });
        }
        let Some((_, kept)) = inner.trash.remove(&key) else {
            return Err(StoreError::NotInTrash { project: key.0, artifact: key.1 });
        };
        inner.artifacts.insert(key.clone(), kept);
        inner.stored(&key)
    }

    async fn trash(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError> {
        let inner = self.inner();
        let trashed = |(key, (deleted_at, kept)): (&Key, &(Timestamp, Kept))| Trashed {
            artifact_id: key.1.clone(),
            title: Some(kept.state.artifact.title.clone()),
            deleted_at: *deleted_at,
            expires_at: *deleted_at,
        };
        Ok(inner.trash.iter().filter(|(key, _)| key.0 == *project).map(trashed).collect())
    }

    async fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError> {
        let inner = self.inner();
        let kept = inner.kept(&key(project, artifact))?;
        Ok(History { records: kept.log.iter().rev().cloned().collect(), broken: None })
    }

    async fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError> {
        let inner = self.inner();
        let summary = |snapshot: &Snapshot| SnapshotSummary {
            refresh_id: snapshot.refresh_id.clone(),
            generated_at: snapshot.provenance.generated_at,
            data_digest: Digest::of_json(snapshot.data.value()),
            bytes: json::pretty_bytes(snapshot.data.value()).len() as u64,
        };
        Ok(inner.kept(&key(project, artifact))?.snapshots.iter().map(summary).collect())
    }

    async fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError> {
        let inner = self.inner();
        let kept = inner.kept(&key(project, artifact))?;
        let found = kept.snapshots.iter().find(|snapshot| snapshot.refresh_id == *refresh);
        found.cloned().ok_or_else(|| StoreError::SnapshotNotFound {
            artifact: artifact.clone(),
            refresh: refresh.clone(),
        })
    }

    async fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError> {
        let inner = self.inner();
        let kept = inner.kept(&key(project, artifact))?;
        let digests = &kept.state.artifact.digests;
        let provenance = serde_json::to_value(&kept.state.provenance).unwrap_or_default();
        let file = |name, digests: &FileDigests, bytes: Vec<u8>| InspectedFile {
            name,
            content_expected: Some(digests.content.clone()),
            raw_expected: Some(digests.raw.clone()),
            raw_found: Some(Digest::of_bytes(&bytes)),
            bytes: Some(bytes.into()),
            content_found: Some(digests.content.clone()),
        };
        Ok(Inspection {
            health: Health::HEALTHY,
            artifact: Some(kept.state.artifact.clone()),
            files: vec![
                file(
                    "template.html",
                    &digests.template,
                    kept.state.template_html.as_bytes().to_vec(),
                ),
                file("data.json", &digests.data, json::pretty_bytes(kept.state.data.value())),
                file("provenance.json", &digests.provenance, json::pretty_bytes(&provenance)),
                file("index.html", &digests.index, kept.page.to_vec()),
            ],
            log_records: kept.log.len(),
            log_fault: None,
            snapshots: kept.snapshots.len(),
            snapshot_faults: Vec::new(),
        })
    }

    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        _mode: RepairMode,
    ) -> Result<RepairReport, StoreError> {
        self.inner().kept(&key(project, artifact))?;
        Ok(RepairReport::default())
    }

    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        at: Timestamp,
    ) -> Result<RunningRefresh, StoreError> {
        let key = key(project, artifact);
        let running = self.inner().kept(&key)?.newest().cloned();
        let Some(lock) = self.lock(&key, LockKind::Running) else {
            return Err(StoreError::RefreshLocked { artifact: key.1, running });
        };
        let _commit = self.commit_lock(&key)?;
        let mut inner = self.inner();
        let base = inner.stored(&key)?;
        let kept = inner.kept_mut(&key)?;
        let last = kept.newest().cloned();
        let abandoned = last.clone().filter(|last| kept.is_open(last));
        let id = RefreshId::from_number(last.map_or(0, |last| last.number()) + 1);
        let (step, status) = (RecordStep::Started, RecordStatus::Running);
        kept.append(RefreshRecord::new(id.clone(), step, status, at));
        drop(inner);
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
        let mut inner = self.inner();
        let kept = inner.kept_mut(&key)?;
        let refresh = record.refresh_id.clone();
        let allowed =
            kept.is_open(&refresh) && (record.step.is_last() || kept.newest() == Some(&refresh));
        if !allowed {
            return Err(StoreError::RefreshClosed { artifact: key.1, refresh });
        }
        kept.append(record);
        Ok(())
    }

    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        let inner = self.inner();
        let mut found = Vec::new();
        for (key, kept) in &inner.artifacts {
            let Some(refresh) = kept.newest().filter(|newest| kept.is_open(newest)) else {
                continue;
            };
            let first = kept.log.iter().find(|record| record.refresh_id == *refresh);
            found.push(UnfinishedRefresh {
                project: key.0.clone(),
                artifact: key.1.clone(),
                refresh: refresh.clone(),
                started_at: first.map_or(kept.state.artifact.updated_at, |record| record.at),
                lock_held: inner.locked.contains(&(key.clone(), LockKind::Running)),
            });
        }
        Ok(found)
    }

    async fn recover(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{check_artifact_store, check_run_store};
    use crate::fakes::MemoryRunStore;

    #[tokio::test]
    async fn the_fakes_keep_the_contract() {
        let project: ProjectId = "p1".parse().unwrap();
        let store = MemoryArtifactStore::with_projects([project.clone()]);
        check_artifact_store(&store, &project).await;
        check_run_store(&MemoryRunStore::default(), &project).await;
    }
}
