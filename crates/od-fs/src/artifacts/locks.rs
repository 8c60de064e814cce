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
use od_ports::store::{CommitLock, RunningLock};

use super::shared::StoreIdentity;
use crate::data_dir::LOCKS;
use crate::disk::{Dir, DiskError, FileLock};

/// How long a commit may keep others waiting before they are told to come back.
pub(crate) const COMMIT_PATIENCE: Duration = Duration::from_millis(COMMIT_WAIT.allowed);
/// A child process holds every lock of its parent between its fork and its exec. Work that clears up
/// waits that out, on a busy machine too, but not for a process that stands still.
pub(crate) const CLEARING_PATIENCE: Duration = Duration::from_millis(250);
/// A prober holds the running lock for an instant; a taker waits that out.
const RUNNING_PATIENCE: Duration = Duration::from_millis(20);

/// Takes the commit lock; `None` if someone else keeps it.
pub(crate) fn commit(
    live: &Dir,
    id: &ArtifactId,
    patience: Duration,
) -> Result<Option<FileLock>, DiskError> {
    take(live, &format!("{id}.commit"), patience)
}

/// Takes the running lock; `None` if a refresh runs.
pub(crate) fn running(live: &Dir, id: &ArtifactId) -> Result<Option<FileLock>, DiskError> {
    take(live, &format!("{id}.running"), RUNNING_PATIENCE)
}

/// Takes the lock under which attempts of a project are looked up and made.
pub(crate) fn attempts(live: &Dir) -> Result<Option<FileLock>, DiskError> {
    // No id begins with a dot, so no artifact's lock has this name.
    take(live, ".attempts", COMMIT_PATIENCE)
}

/// Shares `.staging` with other creates, so that nobody clears it meanwhile; `None` if someone does
/// and takes long over it.
pub(crate) fn staging_shared(staging: &Dir) -> Result<Option<FileLock>, DiskError> {
    Ok(FileLock::share_dir(staging, COMMIT_PATIENCE)?.held())
}

/// Takes `.staging` alone, to clear it; `None` while a create runs.
pub(crate) fn staging_alone(staging: &Dir) -> Result<Option<FileLock>, DiskError> {
    Ok(FileLock::take_dir(staging, CLEARING_PATIENCE)?.held())
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

fn take(live: &Dir, name: &str, patience: Duration) -> Result<Option<FileLock>, DiskError> {
    let locks = live.child_or_make(LOCKS)?;
    Ok(FileLock::take(&locks, name, patience)?.held())
}

/// The commit lock as a gate holds it. Whoever still rolls forward shares it.
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
