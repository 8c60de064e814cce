//! Settles commits once there is time for it.
//!
//! A commit is durable when it is acknowledged; syncing its visible copies can wait until nobody
//! commits, and many commits of one artifact then cost one settlement.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use od_core::ids::{ArtifactId, ProjectId};

use super::light::LightReader;
use super::lines::{self, Lines};
use super::shared::Shared;
use super::{locks, roll};
use crate::disk::{Dir, DiskError};

/// How long nobody may have committed before settling starts.
const QUIET: Duration = Duration::from_millis(60);
/// Unsettled artifacts beyond which settling starts anyway: they bound the work after a crash.
const UNSETTLED_MAX: usize = 4096;

type Key = (ProjectId, ArtifactId);

/// The artifacts that have commits to settle.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    keys: HashSet<Key>,
    /// Counts commits, so that a quiet time can be told.
    commits: u64,
    closing: bool,
}

impl Backlog {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an artifact.
    pub(crate) fn add(&self, project: &ProjectId, artifact: &ArtifactId) {
        let mut waiting = self.waiting();
        let was_idle = waiting.keys.is_empty();
        waiting.keys.insert((project.clone(), artifact.clone()));
        waiting.commits += 1;
        // A settler that waits for a quiet time looks at the count when its time is up.
        if was_idle || waiting.keys.len() >= UNSETTLED_MAX {
            self.changed.notify_all();
        }
    }

    fn take(&self) -> Vec<Key> {
        std::mem::take(&mut self.waiting().keys).into_iter().collect()
    }

    /// Waits for work and then for a quiet time; `None` when the store closes.
    fn next(&self) -> Option<Vec<Key>> {
        let mut waiting = self.waiting();
        loop {
            if waiting.closing {
                return None;
            }
            if waiting.keys.is_empty() {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let commits = waiting.commits;
            let (guard, timeout) =
                self.changed.wait_timeout(waiting, QUIET).unwrap_or_else(PoisonError::into_inner);
            waiting = guard;
            let quiet = timeout.timed_out() && waiting.commits == commits;
            if quiet || waiting.keys.len() >= UNSETTLED_MAX {
                return Some(std::mem::take(&mut waiting.keys).into_iter().collect());
            }
        }
    }

    fn close(&self) {
        self.waiting().closing = true;
        self.changed.notify_all();
    }
}

/// The thread that settles.
#[derive(Debug)]
pub(crate) struct Roller {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Roller {
    /// Starts settling in the background.
    pub(crate) fn start(shared: &Arc<Shared>) -> std::io::Result<Self> {
        let worker = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("od-settle".to_owned()).spawn(move || {
            while let Some(keys) = worker.backlog.next() {
                worker.settle(keys);
            }
        })?;
        Ok(Self { shared: Arc::clone(shared), thread: Some(thread) })
    }

    /// Settles only when the store is dropped.
    pub(crate) fn deferred(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), thread: None }
    }
}

impl Drop for Roller {
    fn drop(&mut self) {
        self.shared.backlog.close();
        if let Some(thread) = self.thread.take() {
            // A settler that panicked left its work to recovery.
            let _ = thread.join();
        }
        self.shared.settle(self.shared.backlog.take());
    }
}

/// Settles an artifact, and leaves its line for the next list. The caller holds its commit lock.
pub(crate) fn settle_noted(
    live: &Dir,
    project: &ProjectId,
    artifact: &ArtifactId,
    dir: &Dir,
) -> Result<(), DiskError> {
    roll::settle(dir)?;
    // A list that finds no line reads the artifact.
    let _ = LightReader::new(live, project, &Lines::default()).note(artifact);
    Ok(())
}

impl Shared {
    /// Settles artifacts. What cannot be settled now is left to the next commit or start.
    pub(crate) fn settle(&self, keys: Vec<Key>) {
        let projects: HashSet<ProjectId> =
            keys.iter().map(|(project, _)| project.clone()).collect();
        for (project, artifact) in keys {
            let Ok(Some(live)) = self.live_if_there(&project) else { continue };
            let Ok(Some(_lock)) = locks::commit(&live, &artifact, locks::CLEARING_PATIENCE) else {
                continue;
            };
            if let Ok(dir) = live.child(artifact.as_str()) {
                // The frame stays in `pending/` if this fails, and nothing is lost.
                let _ = settle_noted(&live, &project, &artifact, &dir);
            }
        }
        for project in projects {
            if let Ok(Some(live)) = self.live_if_there(&project) {
                self.tidy_lines(&project, &live);
            }
        }
    }

    /// Keeps the lines of a project within bounds. They are only a memory of what is known anyway: that
    /// they cannot be tidied is no reason to stop.
    pub(crate) fn tidy_lines(&self, project: &ProjectId, live: &Dir) {
        let mut rooms = self.line_rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let room = rooms.get(project).copied().unwrap_or_default();
        if room.is_full(live).unwrap_or(false)
            && let Ok(ids) = self.ids(project)
            && let Ok(room) = lines::tidy(live, &ids)
        {
            rooms.insert(project.clone(), room);
        }
    }
}
