//! The port, over the synchronous operations.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use od_core::artifact::{ArtifactSummary, Attempt};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision, Timestamp};
use od_core::refresh::RefreshRecord;
use od_ports::clock::Clock;
use od_ports::store::{
    ArtifactStore, Change, Created, Gate, History, Inspection, NewArtifact, RefreshLog, RepairMode,
    RepairReport, RevisionStore, RunningRefresh, Snapshot, SnapshotSummary, StoreError,
    StoreMaintenance, Stored, Trash, Trashed, UnfinishedRefresh, Unrecovered, WriteWitness,
};
use tokio::sync::oneshot;

use super::locks::HeldCommit;
use super::roller::Roller;
use super::shared::Shared;
use super::write::Placing;
use crate::blocking::{self, Lane};
use crate::data_dir::DataDir;

/// Keeps artifacts as files.
///
/// Answers from memory leave neither the thread nor the user's process, but for one non-blocking
/// read of the change queue. Everything else runs where its [`Lane`] says.
#[derive(Debug)]
pub struct FileArtifactStore {
    // Dropped before the rest: it settles what is left.
    _roller: Roller,
    shared: Arc<Shared>,
    lane: Lane,
    /// With [`Lane::Inline`], commits that are acknowledged and not placed: the next call comes first
    /// to them, as the worker thread does otherwise.
    unplaced: Mutex<Vec<Placing>>,
}

impl FileArtifactStore {
    /// Opens the artifacts of a data directory.
    pub fn open(data_dir: DataDir, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared::new(data_dir, clock)?);
        let roller = Roller::start(&shared)
            .map_err(|source| StoreError::Io { action: "start a thread", source })?;
        Ok(Self { _roller: roller, shared, lane: Lane::Pool, unplaced: Mutex::default() })
    }

    /// Opens them with every call on the calling thread; see [`Lane::Inline`].
    pub fn open_inline(data_dir: DataDir, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared::new(data_dir, clock)?);
        let roller = Roller::deferred(&shared);
        Ok(Self { _roller: roller, shared, lane: Lane::Inline, unplaced: Mutex::default() })
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.place_rest();
        let shared = Arc::clone(&self.shared);
        self.lane.run(move || work(&shared)).await?
    }

    /// Runs a commit: answers when it is durable, and writes the visible copies after that.
    async fn run_commit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<(T, Option<Placing>), StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.place_rest();
        let shared = Arc::clone(&self.shared);
        if self.lane == Lane::Inline {
            let (answer, placing) = work(&shared)?;
            self.unplaced.lock().unwrap_or_else(PoisonError::into_inner).extend(placing);
            return Ok(answer);
        }
        let (tell, told) = oneshot::channel();
        tokio::task::spawn_blocking(move || match work(&shared) {
            Ok((answer, placing)) => {
                let _placing = shared.backlog.begin_placing();
                // Whoever asked may be gone; the commit is there all the same.
                let _ = tell.send(Ok(answer));
                if let Some(placing) = placing {
                    // Whoever asked may have been woken on this core, and comes first.
                    std::thread::yield_now();
                    shared.place(placing);
                }
            }
            Err(err) => {
                let _ = tell.send(Err(err));
            }
        });
        told.await.map_err(|_| blocking::ended_early())?
    }

    fn place_rest(&self) {
        let rest =
            std::mem::take(&mut *self.unplaced.lock().unwrap_or_else(PoisonError::into_inner));
        for placing in rest {
            self.shared.place(placing);
        }
    }
}

impl Drop for FileArtifactStore {
    fn drop(&mut self) {
        self.place_rest();
    }
}

#[async_trait]
impl ArtifactStore for FileArtifactStore {
    async fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        if let Some(stored) = self.shared.cached(project, artifact)? {
            return Ok(stored);
        }
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.load_to_show(&project, &artifact)).await
    }

    async fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        if let Some(project) = self.shared.cached_location(artifact)? {
            return Ok(Some(project));
        }
        let artifact = artifact.clone();
        self.run(move |shared| shared.locate(&artifact)).await
    }

    async fn list(&self, project: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        if let Some(list) = self.shared.cached_list(project)? {
            return Ok(list);
        }
        let project = project.clone();
        self.run(move |shared| shared.list(&project)).await
    }

    async fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        let (project, attempt) = (project.clone(), attempt.clone());
        self.run(move |shared| shared.find_attempt(&project, &attempt)).await
    }

    async fn create(&self, new: NewArtifact) -> Result<Created, StoreError> {
        self.run_commit(move |shared| shared.create(new)).await
    }

    async fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.open_gate(&project, &artifact)).await
    }

    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError> {
        let held = witness
            .lock()
            .as_any()
            .downcast_ref::<HeldCommit>()
            .filter(|held| held.store == self.shared.store)
            .ok_or(StoreError::ForeignWitness)?
            .clone();
        let before = Arc::clone(witness.stored());
        self.run_commit(move |shared| shared.commit(&before, change, &held)).await
    }
}

#[async_trait]
impl RefreshLog for FileArtifactStore {
    async fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.history(&project, &artifact)).await
    }

    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        at: Timestamp,
    ) -> Result<RunningRefresh, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.begin_refresh(&project, &artifact, at)).await
    }

    async fn append_record(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        record: RefreshRecord,
    ) -> Result<(), StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.append_record(&project, &artifact, record)).await
    }

    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        self.run(Shared::unfinished_refreshes).await
    }
}

#[async_trait]
impl RevisionStore for FileArtifactStore {
    async fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.snapshots(&project, &artifact)).await
    }

    async fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError> {
        let (project, artifact, refresh) = (project.clone(), artifact.clone(), refresh.clone());
        self.run(move |shared| shared.snapshot(&project, &artifact, &refresh)).await
    }
}

#[async_trait]
impl Trash for FileArtifactStore {
    async fn delete(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        if_revision: Option<Revision>,
    ) -> Result<Trashed, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.delete(&project, &artifact, if_revision)).await
    }

    async fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.restore(&project, &artifact)).await
    }

    async fn list(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError> {
        let project = project.clone();
        self.run(move |shared| shared.trash(&project)).await
    }
}

#[async_trait]
impl StoreMaintenance for FileArtifactStore {
    async fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.inspect(&project, &artifact)).await
    }

    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        mode: RepairMode,
    ) -> Result<RepairReport, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |shared| shared.repair(&project, &artifact, mode)).await
    }

    async fn recover(&self) -> Result<Vec<Unrecovered>, StoreError> {
        self.run(Shared::recover).await
    }
}
