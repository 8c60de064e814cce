//! What all operations of one store share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::COMMIT_WAIT;
use od_ports::clock::Clock;
use od_ports::store::StoreError;

use super::index::Index;
use super::locks::{self, COMMIT_PATIENCE};
use super::roll::{self, Rest};
use super::roller::Backlog;
use crate::data_dir::{DataDir, LIVE};
use crate::disk::{Dir, DiskError, FileLock};

/// The directory a store keeps, whatever it is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StoreIdentity {
    device: u64,
    inode: u64,
}

/// What all operations of one store share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) data_dir: DataDir,
    pub(crate) clock: Arc<dyn Clock>,
    /// Tells locks of this store from those of another in the same process.
    pub(crate) store: StoreIdentity,
    pub(crate) backlog: Backlog,
    index: Mutex<Index>,
}

impl Shared {
    pub(crate) fn new(data_dir: DataDir, clock: Arc<dyn Clock>) -> Result<Self, DiskError> {
        let root = data_dir.dir()?.stat_self()?;
        let store = StoreIdentity { device: root.device, inode: root.inode };
        let index = Mutex::new(Index::new(data_dir.clone()));
        Ok(Self { data_dir, clock, store, backlog: Backlog::default(), index })
    }

    /// Returns the index. What it holds is only a copy of the disk, checked by version, so one that a
    /// panicking thread left behind is still good.
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index after it has taken in every change so far.
    pub(crate) fn fresh_index(&self) -> Result<MutexGuard<'_, Index>, StoreError> {
        let mut index = self.index();
        index.catch_up()?;
        Ok(index)
    }

    /// Opens `.live-artifacts` of a project; `None` if the project has none yet.
    pub(crate) fn live_if_there(&self, project: &ProjectId) -> Result<Option<Dir>, StoreError> {
        let projects = self.data_dir.projects()?;
        match projects.child(&format!("{project}/{LIVE}")) {
            Ok(live) => Ok(Some(live)),
            Err(err) if err.is_missing() => match projects.child(project.as_str()) {
                Ok(_) => Ok(None),
                Err(err) if err.is_missing() => {
                    Err(StoreError::ProjectNotFound { project: project.clone() })
                }
                Err(err) => Err(err.into()),
            },
            Err(err) => Err(err.into()),
        }
    }

    /// Opens `.live-artifacts` of a project, making it if it is missing.
    pub(crate) fn live(&self, project: &ProjectId) -> Result<Dir, StoreError> {
        if let Some(live) = self.live_if_there(project)? {
            return Ok(live);
        }
        let dir = self.data_dir.projects()?.child(project.as_str())?;
        let live = dir.child_or_make(LIVE)?;
        dir.sync()?;
        Ok(live)
    }

    /// Finishes what a crashed writer left, and sees to it that it is settled. The caller holds the
    /// artifact's commit lock.
    pub(crate) fn finish(
        &self,
        dir: &Dir,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(), DiskError> {
        match roll::recover(dir)? {
            Rest::Settled => {}
            Rest::Unsettled => self.backlog.add(project, artifact),
        }
        Ok(())
    }

    /// Takes the commit lock of an artifact, waiting a bounded time.
    pub(crate) fn lock(&self, live: &Dir, id: &ArtifactId) -> Result<FileLock, StoreError> {
        locks::commit(live, id, COMMIT_PATIENCE)?.ok_or_else(|| busy(id))
    }
}

/// Says that another process kept a lock for too long.
pub(crate) fn busy(artifact: &ArtifactId) -> StoreError {
    StoreError::Busy { artifact: artifact.clone(), waited_ms: COMMIT_WAIT.allowed }
}

pub(crate) fn not_found(project: &ProjectId, artifact: &ArtifactId) -> StoreError {
    StoreError::NotFound { project: project.clone(), artifact: artifact.clone() }
}

impl From<DiskError> for StoreError {
    fn from(err: DiskError) -> Self {
        Self::Io { action: err.action, source: err.source }
    }
}
