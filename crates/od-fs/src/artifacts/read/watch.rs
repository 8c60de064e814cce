//! Change notices of the kernel: changes made by other processes and by hand.
//!
//! The kernel queues an event before the call that caused it returns, so whoever drains the queue
//! after a change sees it: one non-blocking `read` per request keeps memory as fresh as the disk.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use od_core::ids::{ArtifactId, ProjectId};
use od_platform::{ChangeQueue, QueuedChange, WatchInterest};

use crate::artifacts::commit::pending::PENDING;
use crate::artifacts::history::SNAPSHOTS;
use crate::disk::{DiskError, EntryKind};

/// A directory that is watched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum WatchedDir {
    /// `projects/`.
    Projects,
    /// `projects/<project>/.live-artifacts/`.
    Live(ProjectId),
    /// `.live-artifacts/.locks/` of one project.
    Locks(ProjectId),
    /// The directory of one artifact.
    Artifact(ProjectId, ArtifactId),
    /// A directory in that of one artifact. Only what would stand in the way of a commit is of interest
    /// there.
    Inside(ProjectId, ArtifactId, InnerDir),
}

/// A directory in that of an artifact in which a commit writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InnerDir {
    /// `pending/`.
    Pending,
    /// `snapshots/`.
    Snapshots,
}

impl InnerDir {
    pub(crate) const ALL: [Self; 2] = [Self::Pending, Self::Snapshots];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => PENDING,
            Self::Snapshots => SNAPSHOTS,
        }
    }

    /// Returns whether a name that appeared in the directory keeps od from writing.
    pub(crate) fn is_obstacle(self, changed: &ChangedName) -> bool {
        // The notice of a new link or pipe is that of a file: where od writes files they are noticed by the
        // next write.
        match self {
            Self::Pending => changed.kind == EntryKind::Directory,
            Self::Snapshots => changed.kind != EntryKind::Directory,
        }
    }
}

/// A change that the kernel reported.
#[derive(Debug)]
pub(crate) enum ChangeNotice {
    /// Events were lost: everything may have changed.
    Overflow,
    /// A name in a watched directory changed; `None` if the directory itself did.
    Changed(WatchedDir, Option<ChangedName>),
}

/// A name that changed, and what it stands for, or stood.
#[derive(Debug)]
pub(crate) struct ChangedName {
    pub(crate) name: String,
    /// A directory, or anything else.
    pub(crate) kind: EntryKind,
}

/// The queue of change notices. Without one (limits, odd kernels, macOS) nothing in memory is trusted.
#[derive(Debug)]
pub(crate) struct Watcher {
    queue: Option<Arc<ChangeQueue>>,
    targets: HashMap<i32, WatchedDir>,
    /// Which queue this is, of all that were opened: a watch belongs to one.
    generation: u64,
    /// Counts the watches that were stopped.
    stopped: Arc<AtomicU64>,
}

impl Watcher {
    pub(crate) fn new() -> Self {
        let (queue, targets) = (ChangeQueue::open().map(Arc::new), HashMap::new());
        Self { queue, targets, generation: 0, stopped: Arc::default() }
    }

    /// Starts with a new queue and no watches: after an overflow nobody knows which of the directories
    /// that are watched still stand where they stood.
    pub(crate) fn restart(&mut self) {
        *self = Self { generation: self.generation + 1, ..Self::new() };
    }

    /// Returns a way to start watches without holding what holds the watcher.
    pub(crate) fn starter(&self) -> WatchStarter {
        let (queue, stopped) = (self.queue.clone(), Arc::clone(&self.stopped));
        WatchStarter { queue, generation: self.generation, stopped }
    }

    /// Registers a watch that was started. Changes before this call are not reported: whoever starts a
    /// watch reads the directory after it is registered.
    pub(crate) fn register(&mut self, started: StartedWatch, target: WatchedDir) -> Option<i32> {
        // A directory that was watched already got the same watch again; if that was stopped since, it
        // is dead.
        if started.generation != self.generation
            || started.stopped != self.stopped.load(Ordering::Acquire)
        {
            return None;
        }
        let watch = started.watch?;
        self.targets.insert(watch, target);
        Some(watch)
    }

    /// Watches a directory; `None` means that changes in it will not be seen.
    pub(crate) fn watch(&mut self, path: &Path, target: WatchedDir) -> Option<i32> {
        let started = self.starter().start(path, WatchInterest::Everything);
        self.register(started, target)
    }

    /// As [`Self::watch`], for the names that appear in a directory.
    pub(crate) fn watch_new_names(&mut self, path: &Path, target: WatchedDir) -> Option<i32> {
        let started = self.starter().start(path, WatchInterest::NewNames);
        self.register(started, target)
    }

    /// Stops watching.
    pub(crate) fn forget(&mut self, watch: i32) {
        if self.targets.remove(&watch).is_some()
            && let Some(queue) = &self.queue
        {
            self.stopped.fetch_add(1, Ordering::AcqRel);
            queue.forget(watch);
        }
    }

    /// Takes everything that is queued.
    pub(crate) fn drain(&mut self) -> Result<Vec<ChangeNotice>, DiskError> {
        let Some(queue) = &self.queue else { return Ok(vec![ChangeNotice::Overflow]) };
        let (mut notices, mut gone) = (Vec::new(), Vec::new());
        let drained = queue.drain(|change| match change {
            QueuedChange::Overflow => notices.push(ChangeNotice::Overflow),
            QueuedChange::Dropped(watch) => gone.push(watch),
            QueuedChange::Changed { watch, name, is_directory } => {
                if let Some(target) = self.targets.get(&watch) {
                    let kind = if is_directory { EntryKind::Directory } else { EntryKind::Regular };
                    let name = name.map(|name| ChangedName { name: name.to_owned(), kind });
                    notices.push(ChangeNotice::Changed(target.clone(), name));
                }
            }
        });
        drained.map_err(|err| DiskError::new("read change notices", err))?;
        for watch in gone {
            self.targets.remove(&watch);
        }
        Ok(notices)
    }
}

/// Starts watches; the kernel needs no lock of ours for that, and it takes a while.
#[derive(Clone, Debug)]
pub(crate) struct WatchStarter {
    queue: Option<Arc<ChangeQueue>>,
    generation: u64,
    stopped: Arc<AtomicU64>,
}

/// A watch that the kernel has begun, and that is not registered yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StartedWatch {
    watch: Option<i32>,
    /// The queue it was begun on.
    generation: u64,
    /// The count of stopped watches when it was begun.
    stopped: u64,
}

/// The watches of one artifact that were begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StartedWatches {
    pub(crate) own: StartedWatch,
    /// Those of [`InnerDir::ALL`]; none where they were not asked for.
    pub(crate) inner: Option<[StartedWatch; 2]>,
}

impl WatchStarter {
    /// Begins to watch the directory of an artifact, and those in it where a commit writes.
    pub(crate) fn start_artifact(&self, path: &Path) -> StartedWatches {
        let own = self.start(path, WatchInterest::Everything);
        let inner = |inner: InnerDir| self.start(&path.join(inner.name()), WatchInterest::NewNames);
        StartedWatches { own, inner: Some(InnerDir::ALL.map(inner)) }
    }

    fn start(&self, path: &Path, interest: WatchInterest) -> StartedWatch {
        let stopped = self.stopped.load(Ordering::Acquire);
        let queue = self.queue.as_ref();
        let watch = queue.and_then(|queue| queue.watch(path, interest));
        StartedWatch { watch, generation: self.generation, stopped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_was_begun_on_the_queue_before_is_not_registered() {
        let place = tempfile::tempdir().expect("a directory");
        let mut watcher = Watcher::new();
        let (before, begun) =
            (watcher.starter(), watcher.starter().start_artifact(place.path()).own);
        watcher.restart();
        assert!(watcher.register(begun, WatchedDir::Projects).is_none());
        // A way to start watches that was given out before is one to the old queue still.
        assert!(
            watcher
                .register(before.start_artifact(place.path()).own, WatchedDir::Projects)
                .is_none()
        );
        assert!(watcher.watch(place.path(), WatchedDir::Projects).is_some());
    }
}
