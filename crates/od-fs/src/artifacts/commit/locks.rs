//! The two locks of an artifact, `.locks/<id>.commit` and `.locks/<id>.running`, and that of `.staging`.
//!
//! The files are never renamed and never removed: a lock on a file that someone else replaced would
//! exclude nobody.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use od_core::ids::ArtifactId;
use od_core::ledger::RunningLockState;
use od_core::limits::COMMIT_WAIT;
use od_ports::store::{CommitLock, RunningLock, StoreError};

use crate::artifacts::dirs::busy;
use crate::data_dir::{DataDir, LOCKS};
use crate::disk::{Dir, DiskError, FileLock};

/// The longest that a commit keeps others waiting before they are refused as busy.
const COMMIT_TIMEOUT: Duration = Duration::from_millis(COMMIT_WAIT.allowed);
/// A child process holds every lock of its parent between its fork and its exec. Work that clears up
/// waits that out, on a busy machine too, but not for a process that stands still.
pub(crate) const CLEARING_TIMEOUT: Duration = Duration::from_millis(250);
/// A prober holds the running lock for an instant; a taker waits that out.
const RUNNING_TIMEOUT: Duration = Duration::from_millis(20);

/// Takes the commit lock; `None` if someone else keeps it.
pub(crate) fn commit(
    live: &Dir,
    id: &ArtifactId,
    timeout: Duration,
) -> Result<Option<FileLock>, DiskError> {
    take(live, &format!("{id}.commit"), timeout)
}

/// Takes the commit lock, and refuses the request if someone else keeps it for longer than a commit
/// takes.
pub(crate) fn commit_or_busy(live: &Dir, id: &ArtifactId) -> Result<FileLock, StoreError> {
    commit(live, id, COMMIT_TIMEOUT)?.ok_or_else(|| busy(id))
}

/// Takes the running lock; `None` if a refresh runs.
pub(crate) fn running(live: &Dir, id: &ArtifactId) -> Result<Option<FileLock>, DiskError> {
    take(live, &format!("{id}.running"), RUNNING_TIMEOUT)
}

/// Takes the lock under which attempts of a project are looked up and made.
pub(crate) fn attempts(live: &Dir) -> Result<Option<FileLock>, DiskError> {
    // No id begins with a dot, so no artifact's lock has this name.
    take(live, ".attempts", COMMIT_TIMEOUT)
}

/// Shares `.staging` with other creates, so that nobody clears it meanwhile; `None` if someone does
/// and takes long over it.
pub(crate) fn staging_shared(staging: &Dir) -> Result<Option<FileLock>, DiskError> {
    Ok(FileLock::share_dir(staging, COMMIT_TIMEOUT)?.held())
}

/// Takes `.staging` alone, to clear it; `None` while a create runs.
pub(crate) fn staging_alone(staging: &Dir) -> Result<Option<FileLock>, DiskError> {
    Ok(FileLock::take_dir(staging, CLEARING_TIMEOUT)?.held())
}

/// Probes the running lock.
pub(crate) fn running_state(live: &Dir, id: &ArtifactId) -> Result<RunningLockState, DiskError> {
    let is_held = match live.child(LOCKS) {
        Ok(locks) => FileLock::is_held(&locks, &format!("{id}.running"))?,
        Err(err) if err.is_missing() => false,
        Err(err) => return Err(err),
    };
    Ok(if is_held { RunningLockState::Held } else { RunningLockState::Free })
}

fn take(live: &Dir, name: &str, timeout: Duration) -> Result<Option<FileLock>, DiskError> {
    let locks = live.child_or_make(LOCKS)?;
    Ok(FileLock::take(&locks, name, timeout)?.held())
}

/// The directory a store keeps, whatever path leads to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StoreIdentity {
    device: u64,
    inode: u64,
}

impl StoreIdentity {
    pub(crate) fn of(data_dir: &DataDir) -> Result<Self, DiskError> {
        let root = data_dir.dir()?.stat_self()?;
        Ok(Self { device: root.device, inode: root.inode })
    }
}

/// The commit lock as a gate holds it, shared with whoever still writes the copies of its commit.
#[derive(Clone, Debug)]
pub(crate) struct HeldCommit {
    pub(crate) lock: Arc<FileLock>,
    /// The store it belongs to.
    pub(crate) store: StoreIdentity,
}

impl CommitLock for HeldCommit {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The running lock as a refresh holds it.
#[derive(Debug)]
pub(crate) struct HeldRunning {
    pub(crate) _lock: FileLock,
}

impl RunningLock for HeldRunning {}
