//! Checkpoints once there is time for them.
//!
//! A commit is durable when it is acknowledged; syncing its visible copies can wait until nobody
//! commits, and many commits of one artifact then cost one checkpoint.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::StoreError;

use super::roll_forward::WrittenCopies;
use super::{locks, roll_forward};
use crate::artifacts::dirs::{busy, open_artifact};
use crate::artifacts::read::{ArtifactReader, Recovery};

/// The time without a commit before a checkpoint starts.
const QUIET: Duration = Duration::from_millis(60);
/// The longest that an artifact waits for a quiet time before its checkpoint starts anyway: until then an edit
/// by hand does not survive a loss of power in its place.
const WAITING_MAX: Duration = Duration::from_secs(5);
/// Waiting artifacts beyond which checkpoints start anyway: they bound the work after a crash.
const WAITING_ARTIFACTS_MAX: usize = 4096;
/// The pause before a checkpoint that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// The longest that a store that closes waits for copies that are being written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that a store that closes waits for the locks of all artifacts that await a checkpoint.
const LAST_LOCKS_TIMEOUT: Duration = Duration::from_secs(2);

type Key = (ProjectId, ArtifactId);

/// The artifacts whose commits await a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct CheckpointQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    keys: HashSet<Key>,
    /// When the first of them came.
    since: Option<Instant>,
    /// Those whose checkpoint failed.
    failed: HashSet<Key>,
    /// When that is tried again.
    retry_at: Option<Instant>,
    /// Counts commits, so that a quiet time can be recognised.
    commits: u64,
    /// Commits that are acknowledged and whose copies are not written.
    unwritten: usize,
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
}

impl CheckpointQueue {
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
        // A thread that waits for a quiet time compares the count when its time is up.
        if was_idle || waiting.keys.len() >= WAITING_ARTIFACTS_MAX {
            self.changed.notify_all();
        }
    }

    /// Counts a commit from before it is acknowledged until its copies are written.
    pub(crate) fn begin_writing(&self) -> WritingGuard<'_> {
        self.waiting().unwritten += 1;
        WritingGuard { queue: self }
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
            // The first failure sets the time: a later one must not put off those before it.
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
            // A commit during the pause starts another pause: a checkpoint beside a burst would sync what
            // the next commit replaces, and take the disk from it.
            let commits = waiting.commits;
            let (guard, timeout) =
                self.changed.wait_timeout(waiting, QUIET).unwrap_or_else(PoisonError::into_inner);
            waiting = guard;
            let quiet = timeout.timed_out() && waiting.commits == commits;
            let is_overdue = waiting.keys.len() >= WAITING_ARTIFACTS_MAX
                || waiting.since.is_some_and(|since| since.elapsed() >= WAITING_MAX);
            if quiet || is_overdue {
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
}

/// A commit that is acknowledged and whose copies are not written yet.
#[derive(Debug)]
pub(crate) struct WritingGuard<'b> {
    queue: &'b CheckpointQueue,
}

impl Drop for WritingGuard<'_> {
    fn drop(&mut self) {
        self.queue.waiting().unwritten -= 1;
        self.queue.changed.notify_all();
    }
}

/// Carries out the checkpoints of a queue: on a thread of its own, or when it is dropped.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    reader: Arc<ArtifactReader>,
    queue: Arc<CheckpointQueue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Checkpointer {
    /// Starts a thread for checkpoints.
    pub(crate) fn start(
        reader: &Arc<ArtifactReader>,
        queue: &Arc<CheckpointQueue>,
    ) -> std::io::Result<Self> {
        let (worker_reader, worker) = (Arc::clone(reader), Arc::clone(queue));
        let thread =
            std::thread::Builder::new().name("od-checkpoint".to_owned()).spawn(move || {
                while let Some(keys) = worker.next() {
                    checkpoint_all(&worker_reader, &worker, keys, || locks::CLEARING_TIMEOUT);
                }
            })?;
        Ok(Self {
            reader: Arc::clone(reader),
            queue: Arc::clone(queue),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Checkpoints only when it is dropped.
    pub(crate) fn deferred(reader: &Arc<ArtifactReader>, queue: &Arc<CheckpointQueue>) -> Self {
        Self { reader: Arc::clone(reader), queue: Arc::clone(queue), thread: Mutex::default() }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Checkpointer {
    /// Ends the thread and carries out what waits. What is committed later waits for the drop.
    ///
    /// A daemon does this while it holds its lock still: `od stop` once came back while the last frames
    /// were being renamed, and a `git add` of the data failed for one that had just gone.
    pub(crate) fn finish(&self) {
        self.queue.waiting().closing = true;
        self.queue.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A thread that panicked left its work to recovery.
            let _ = thread.join();
        }
        // The copies of every commit that was acknowledged are written first. Whatever is not by then
        // is left to recovery.
        let unwritten = |waiting: &mut Waiting| waiting.unwritten > 0;
        let _ =
            self.queue.changed.wait_timeout_while(self.queue.waiting(), CLOSE_TIMEOUT, unwritten);
        // Nobody tries again before the next start, so a lock that a child process inherited for a
        // moment is waited out for longer than by the thread; but all of them together are bounded.
        let deadline = Instant::now() + LAST_LOCKS_TIMEOUT;
        let remaining = || deadline.saturating_duration_since(Instant::now());
        checkpoint_all(&self.reader, &self.queue, self.queue.take_all(), remaining);
    }
}

/// Checkpoints artifacts. What fails now is tried again later, or at the next start.
fn checkpoint_all(
    reader: &ArtifactReader,
    queue: &CheckpointQueue,
    keys: Vec<Key>,
    lock_timeout: impl Fn() -> Duration,
) {
    let done = |(project, artifact): &Key| {
        checkpoint_one(reader, project, artifact, lock_timeout()).is_ok()
    };
    queue.retry_later(keys.into_iter().filter(|key| !done(key)).collect());
}

fn checkpoint_one(
    reader: &ArtifactReader,
    project: &ProjectId,
    artifact: &ArtifactId,
    lock_timeout: Duration,
) -> Result<(), StoreError> {
    let Some(live) = reader.dirs.live(project)? else { return Ok(()) };
    let lock = locks::commit(&live, artifact, lock_timeout)?;
    let _lock = lock.ok_or_else(|| busy(artifact))?;
    let Some(dir) = open_artifact(&live, artifact)? else { return Ok(()) };
    // Whoever should have written the copies of a commit may have failed to.
    let done = roll_forward::recover(&dir, WrittenCopies::Checked)
        .and_then(|_| roll_forward::checkpoint(&dir));
    reader.note_recovery(project, artifact, Recovery::of(&done));
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        ("web".parse().expect("an id"), name.parse().expect("an id"))
    }

    #[test]
    fn a_checkpoint_that_failed_is_tried_again_however_busy_the_others_are() {
        let queue = CheckpointQueue::default();
        queue.retry_later(vec![key("la-late-0123456789ab")]);
        let (project, busy) = key("la-busy-0123456789ab");
        queue.add(&project, &busy);
        assert_eq!(queue.next(), Some(vec![key("la-busy-0123456789ab")]), "not at once");
        queue.waiting().retry_at = Some(Instant::now());
        queue.add(&project, &busy);
        let next: HashSet<Key> = queue.next().expect("work").into_iter().collect();
        assert!(next.contains(&key("la-late-0123456789ab")), "{next:?}");
    }

    #[test]
    fn whoever_closes_the_store_takes_the_checkpoints_that_failed_too() {
        let queue = CheckpointQueue::default();
        queue.retry_later(vec![key("la-late-0123456789ab")]);
        assert_eq!(queue.take_all(), [key("la-late-0123456789ab")]);
    }
}
