//! Settles commits once there is time for it.
//!
//! A commit is durable when it is acknowledged; syncing its visible copies can wait until nobody
//! commits, and many commits of one artifact then cost one settlement.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::StoreError;

use super::shared::{Shared, busy};
use super::{locks, read, roll};

/// How long nobody may have committed before settling starts.
const QUIET: Duration = Duration::from_millis(60);
/// How long an artifact waits for a quiet time before settling starts anyway: until then an edit by
/// hand does not survive a loss of power in its place.
const WAITING_MAX: Duration = Duration::from_secs(5);
/// Unsettled artifacts beyond which settling starts anyway: they bound the work after a crash.
const UNSETTLED_MAX: usize = 4096;
/// When what could not be settled is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// How long a store that closes waits for copies that are being written.
const PLACING_PATIENCE: Duration = Duration::from_secs(10);

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
    /// When the first of them came.
    since: Option<Instant>,
    /// What could not be settled.
    failed: HashSet<Key>,
    /// When that is tried again.
    retry_at: Option<Instant>,
    /// Counts commits, so that a quiet time can be told.
    commits: u64,
    /// Commits that are acknowledged and not placed.
    placing: usize,
    closing: bool,
}

impl Waiting {
    fn take(&mut self) -> Vec<Key> {
        self.since = None;
        std::mem::take(&mut self.keys).into_iter().collect()
    }

    /// Puts what failed back in line once its time has come.
    fn retry(&mut self) {
        if self.retry_at.is_some_and(|at| at <= Instant::now()) {
            self.retry_at = None;
            let failed = std::mem::take(&mut self.failed);
            self.keys.extend(failed);
            self.since.get_or_insert_with(Instant::now);
        }
    }

    fn is_overdue(&self) -> bool {
        self.keys.len() >= UNSETTLED_MAX
            || self.since.is_some_and(|since| since.elapsed() >= WAITING_MAX)
    }
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
        waiting.since.get_or_insert_with(Instant::now);
        waiting.commits += 1;
        // A settler that waits for a quiet time looks at the count when its time is up.
        if was_idle || waiting.keys.len() >= UNSETTLED_MAX {
            self.changed.notify_all();
        }
    }

    /// Counts a commit from before it is acknowledged until its copies are written.
    pub(crate) fn begin_placing(&self) -> PlacingGuard<'_> {
        self.waiting().placing += 1;
        PlacingGuard { backlog: self }
    }

    /// Waits until every commit that was acknowledged is placed.
    fn wait_placed(&self) {
        let placing = |waiting: &mut Waiting| waiting.placing > 0;
        // Whatever is not placed by then is left to recovery.
        let _ = self.changed.wait_timeout_while(self.waiting(), PLACING_PATIENCE, placing);
    }

    /// Takes everything, for whoever closes the store.
    fn take_all(&self) -> Vec<Key> {
        let mut waiting = self.waiting();
        let failed = std::mem::take(&mut waiting.failed);
        waiting.keys.extend(failed);
        waiting.take()
    }

    fn retry_later(&self, keys: Vec<Key>) {
        let mut waiting = self.waiting();
        if !keys.is_empty() {
            waiting.failed.extend(keys);
            waiting.retry_at.get_or_insert_with(|| Instant::now() + RETRY_AFTER);
        }
    }

    /// Waits for work and then for a quiet time; `None` when the store closes.
    fn next(&self) -> Option<Vec<Key>> {
        let mut waiting = self.waiting();
        loop {
            if waiting.closing {
                return None;
            }
            waiting.retry();
            if waiting.keys.is_empty() {
                waiting = self.wait_for_work(waiting);
                continue;
            }
            let commits = waiting.commits;
            let (guard, timeout) =
                self.changed.wait_timeout(waiting, QUIET).unwrap_or_else(PoisonError::into_inner);
            waiting = guard;
            let quiet = timeout.timed_out() && waiting.commits == commits;
            if quiet || waiting.is_overdue() {
                return Some(waiting.take());
            }
        }
    }

    fn wait_for_work<'w>(&self, waiting: MutexGuard<'w, Waiting>) -> MutexGuard<'w, Waiting> {
        let Some(retry_at) = waiting.retry_at else {
            return self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        };
        let rest = retry_at.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout(waiting, rest);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn close(&self) {
        self.waiting().closing = true;
        self.changed.notify_all();
    }
}

/// A commit that is acknowledged and not placed yet.
#[derive(Debug)]
pub(crate) struct PlacingGuard<'b> {
    backlog: &'b Backlog,
}

impl Drop for PlacingGuard<'_> {
    fn drop(&mut self) {
        self.backlog.waiting().placing -= 1;
        self.backlog.changed.notify_all();
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
        self.shared.backlog.wait_placed();
        self.shared.settle(self.shared.backlog.take_all());
    }
}

impl Shared {
    /// Settles artifacts. What cannot be settled now is tried again later, or at the next start.
    pub(crate) fn settle(&self, keys: Vec<Key>) {
        let settled = |(project, artifact): &Key| self.settle_one(project, artifact).is_ok();
        let failed = keys.into_iter().filter(|key| !settled(key)).collect();
        self.backlog.retry_later(failed);
    }

    fn settle_one(&self, project: &ProjectId, artifact: &ArtifactId) -> Result<(), StoreError> {
        let Some(live) = self.live_if_there(project)? else { return Ok(()) };
        let lock = locks::commit(&live, artifact, locks::CLEARING_PATIENCE)?;
        let _lock = lock.ok_or_else(|| busy(artifact))?;
        let Some(dir) = read::open(&live, artifact)? else { return Ok(()) };
        // Whoever should have placed a commit may have failed to.
        roll::recover(&dir)?;
        Ok(roll::settle(&dir)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        ("web".parse().expect("an id"), name.parse().expect("an id"))
    }

    #[test]
    fn what_could_not_be_settled_is_tried_again_however_busy_the_others_are() {
        let backlog = Backlog::default();
        backlog.retry_later(vec![key("la-late-0123456789ab")]);
        let (project, busy) = key("la-busy-0123456789ab");
        backlog.add(&project, &busy);
        assert_eq!(backlog.next(), Some(vec![key("la-busy-0123456789ab")]), "not at once");
        backlog.waiting().retry_at = Some(Instant::now());
        backlog.add(&project, &busy);
        let next: HashSet<Key> = backlog.next().expect("work").into_iter().collect();
        assert!(next.contains(&key("la-late-0123456789ab")), "{next:?}");
    }

    #[test]
    fn whoever_closes_the_store_takes_what_could_not_be_settled_too() {
        let backlog = Backlog::default();
        backlog.retry_later(vec![key("la-late-0123456789ab")]);
        assert_eq!(backlog.take_all(), [key("la-late-0123456789ab")]);
    }
}
