//! The store ports, over the synchronous parts.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use od_core::artifact::{ArtifactSummary, Attempt};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision};
use od_core::ledger::{CommitNote, RefreshStart};
use od_core::refresh::RefreshRecord;
use od_ports::store::{
    Archive, ArtifactStore, Census, Change, Created, Gate, History, Inspection, KeptRevision, Page,
    PageRequest, RefreshLog, RepairMode, RepairReport, RevisionStore, RunningRefresh, Snapshot,
    SnapshotSummary, StoreError, StoreMaintenance, StoreTransfer, Stored, Timeline, Trash, Trashed,
    UnfinishedRefresh, Unrecovered, WriteWitness,
};
use od_ports::system::Clock;
use tokio::sync::oneshot;

use super::commit::checkpoint::{CheckpointQueue, Checkpointer};
use super::commit::locks::StoreIdentity;
use super::commit::{CommitLog, UnwrittenCopies};
use super::dirs::ArtifactDirs;
use super::history::{RefreshRecords, revisions};
use super::maintenance;
use super::read::ArtifactReader;
use super::trash::TrashBin;
use crate::data_dir::DataDir;
use crate::system::{self, Lane};

/// Keeps artifacts as files: the five store ports over the synchronous parts.
///
/// Answers from memory leave neither the thread nor the user's process, but for one non-blocking
/// read of the change queue. Everything else runs where its [`Lane`] says.
#[derive(Debug)]
pub struct FileArtifactStore {
    // Dropped before the rest: it carries out the checkpoints that are left.
    checkpointer: Arc<Checkpointer>,
    parts: Arc<StoreParts>,
    lane: Lane,
    /// With [`Lane::Inline`], commits that are acknowledged and whose copies are not written: the next
    /// call comes to them first, as the worker thread does otherwise.
    unwritten: Mutex<Vec<UnwrittenCopies>>,
}

/// The parts that a store is made of, each with the calls of one port.
#[derive(Debug)]
struct StoreParts {
    reader: Arc<ArtifactReader>,
    queue: Arc<CheckpointQueue>,
    commits: CommitLog,
    refreshes: RefreshRecords,
    trash: TrashBin,
}

impl StoreParts {
    fn new(data_dir: DataDir, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let identity = StoreIdentity::of(&data_dir)?;
        let reader = Arc::new(ArtifactReader::new(ArtifactDirs::new(data_dir)));
        let queue = Arc::new(CheckpointQueue::default());
        Ok(Self {
            commits: CommitLog::new(Arc::clone(&reader), Arc::clone(&queue), identity),
            refreshes: RefreshRecords::new(Arc::clone(&reader), Arc::clone(&queue)),
            trash: TrashBin::new(Arc::clone(&reader), Arc::clone(&queue), clock),
            reader,
            queue,
        })
    }
}

impl FileArtifactStore {
    /// Opens the artifacts of a data directory.
    pub fn open(data_dir: DataDir, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let parts = Arc::new(StoreParts::new(data_dir, clock)?);
        let checkpointer = Checkpointer::start(&parts.reader, &parts.queue)
            .map_err(|source| StoreError::Io { action: "start a thread", source })?;
        Ok(Self {
            checkpointer: Arc::new(checkpointer),
            parts,
            lane: Lane::Pool,
            unwritten: Mutex::default(),
        })
    }

    /// Opens them with every call on the calling thread; see [`Lane::Inline`].
    pub fn open_inline(data_dir: DataDir, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let parts = Arc::new(StoreParts::new(data_dir, clock)?);
        let checkpointer = Checkpointer::deferred(&parts.reader, &parts.queue);
        let (lane, unwritten) = (Lane::Inline, Mutex::default());
        Ok(Self { checkpointer: Arc::new(checkpointer), parts, lane, unwritten })
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StoreParts) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_waiting_copies();
        let parts = Arc::clone(&self.parts);
        self.lane.run(move || work(&parts)).await?
    }

    /// Runs a commit: answers when it is durable, and writes the visible copies after that.
    async fn run_commit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StoreParts) -> Result<(T, Option<UnwrittenCopies>), StoreError>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        self.write_waiting_copies();
        let parts = Arc::clone(&self.parts);
        if self.lane == Lane::Inline {
            let (answer, copies) = work(&parts)?;
            self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).extend(copies);
            return Ok(answer);
        }
        let (sender, receiver) = oneshot::channel();
        tokio::task::spawn_blocking(move || match work(&parts) {
            Ok((answer, copies)) => {
                let _writing = parts.queue.begin_writing();
                // The caller may be gone; the commit is there all the same.
                let _ = sender.send(Ok(answer));
                if let Some(copies) = copies {
                    // The caller may have been woken on this core, and comes first.
                    std::thread::yield_now();
                    parts.commits.write_copies(copies);
                }
            }
            Err(err) => {
                let _ = sender.send(Err(err));
            }
        });
        receiver.await.map_err(|_| system::ended_early())?
    }

    fn write_waiting_copies(&self) {
        let waiting =
            std::mem::take(&mut *self.unwritten.lock().unwrap_or_else(PoisonError::into_inner));
        for copies in waiting {
            self.parts.commits.write_copies(copies);
        }
    }
}

impl Drop for FileArtifactStore {
    fn drop(&mut self) {
        self.write_waiting_copies();
    }
}

#[async_trait]
impl ArtifactStore for FileArtifactStore {
    async fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        if let Some(stored) = self.parts.reader.cached(project, artifact)? {
            return Ok(stored);
        }
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| parts.reader.load_to_show(&project, &artifact)).await
    }

    async fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        if let Some(project) = self.parts.reader.cached_location(artifact)? {
            return Ok(Some(project));
        }
        let artifact = artifact.clone();
        self.run(move |parts| parts.reader.locate(&artifact)).await
    }

    async fn list(&self, project: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        if let Some(list) = self.parts.reader.cached_list(project)? {
            return Ok(list);
        }
        let project = project.clone();
        self.run(move |parts| parts.reader.list(&project)).await
    }

    async fn page(&self, project: &ProjectId, request: PageRequest) -> Result<Page, StoreError> {
        if let Some(page) = self.parts.reader.cached_page(project, &request)? {
            return Ok(page);
        }
        let project = project.clone();
        self.run(move |parts| parts.reader.page(&project, &request)).await
    }

    async fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        let (project, attempt) = (project.clone(), attempt.clone());
        self.run(move |parts| parts.commits.find_attempt(&project, &attempt)).await
    }

    async fn create(&self, new: Decision, note: CommitNote) -> Result<Created, StoreError> {
        self.run_commit(move |parts| parts.commits.create(new, note)).await
    }

    async fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| parts.commits.open_gate(&project, &artifact)).await
    }

    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError> {
        let lock = witness.lock().as_any();
        let held = self.parts.commits.own_lock(lock).ok_or(StoreError::ForeignWitness)?;
        let before = Arc::clone(witness.stored());
        self.run_commit(move |parts| parts.commits.commit(&before, change, &held)).await
    }
}

#[async_trait]
impl StoreTransfer for FileArtifactStore {
    fn takes_earlier(&self) -> bool {
        false
    }

    async fn adopt(&self, archive: Archive) -> Result<(), StoreError> {
        self.run(move |parts| maintenance::adopt(&parts.reader, &archive)).await
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
        self.run(move |parts| parts.refreshes.history(&project, &artifact)).await
    }

    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        start: RefreshStart,
    ) -> Result<RunningRefresh, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| parts.refreshes.begin_refresh(&project, &artifact, &start)).await
    }

    async fn append_record(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        record: RefreshRecord,
    ) -> Result<(), StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| parts.refreshes.append_record(&project, &artifact, record)).await
    }

    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        self.run(|parts| parts.refreshes.unfinished_refreshes()).await
    }
}

#[async_trait]
impl RevisionStore for FileArtifactStore {
    async fn timeline(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Timeline, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| {
            let (_, dir) = parts.reader.dirs.artifact(&project, &artifact)?;
            let timeline = revisions::timeline(&dir)?;
            Ok(timeline.as_ref().clone())
        })
        .await
    }

    async fn revision(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        revision: Revision,
    ) -> Result<KeptRevision, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| {
            let (_, dir) = parts.reader.dirs.artifact(&project, &artifact)?;
            revisions::read(&dir, &artifact, revision)
        })
        .await
    }

    async fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| {
            let (_, dir) = parts.reader.dirs.artifact(&project, &artifact)?;
            Ok(revisions::snapshots(&dir)?)
        })
        .await
    }

    async fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError> {
        let (project, artifact, refresh) = (project.clone(), artifact.clone(), refresh.clone());
        self.run(move |parts| {
            let (_, dir) = parts.reader.dirs.artifact(&project, &artifact)?;
            revisions::snapshot(&dir, &artifact, &refresh)
        })
        .await
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
        self.run(move |parts| parts.trash.delete(&project, &artifact, if_revision)).await
    }

    async fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| parts.trash.restore(&project, &artifact)).await
    }

    async fn list(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError> {
        let project = project.clone();
        self.run(move |parts| parts.trash.list(&project)).await
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
        self.run(move |parts| maintenance::inspect(&parts.reader, &project, &artifact)).await
    }

    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        mode: RepairMode,
    ) -> Result<RepairReport, StoreError> {
        let (project, artifact) = (project.clone(), artifact.clone());
        self.run(move |parts| {
            maintenance::repair(&parts.reader, &parts.queue, &project, &artifact, mode)
        })
        .await
    }

    async fn recover(&self) -> Result<Vec<Unrecovered>, StoreError> {
        self.run(|parts| maintenance::recover(&parts.reader, &parts.trash)).await
    }

    async fn census(&self, projects: &[ProjectId]) -> Census {
        self.parts.reader.census(projects)
    }

    async fn finish(&self) {
        self.write_waiting_copies();
        let checkpointer = Arc::clone(&self.checkpointer);
        // A thread that cannot be had leaves the work to recovery, as a crash does.
        let _ = self.lane.run(move || checkpointer.finish()).await;
    }
}
