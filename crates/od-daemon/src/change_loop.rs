//! Refreshes that follow changes of files: a burst of changes becomes one refresh.
//!
//! Waits for the kernel and takes no processor time until a watched file changes. Which files are
//! watched is worked out at each look of the clock.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use od_app::schedule::{self, SlotOutcome, WatchedFiles};
use od_core::ids::Timestamp;
use od_core::schedule::Burst;
use od_fs::FolderWatch;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::daemon::Daemon;

/// Runs until the daemon stops.
pub(crate) async fn run(
    daemon: Arc<Daemon>,
    mut watched: watch::Receiver<Arc<[WatchedFiles]>>,
    mut stopping: watch::Receiver<bool>,
) {
    let folders = match FolderWatch::new() {
        Ok(folders) => folders,
        Err(error) => {
            tracing::warn!(%error, "changes of files are not watched");
            return;
        }
    };
    let started = Instant::now();
    let (files, bursts, known) = (HashMap::new(), HashMap::new(), HashSet::new());
    let mut changes = ChangeLoop { daemon, folders, files, bursts, known, started };
    loop {
        let due = changes.bursts.values().filter_map(Burst::due).min();
        let pause = due.map(|due| Duration::from_millis(due.saturating_sub(changes.now())));
        tokio::select! {
            () = stopped(&mut stopping) => return,
            told = watched.changed() => match told {
                Ok(()) => {
                    let all = Arc::clone(&watched.borrow_and_update());
                    changes.watch(&all).await;
                }
                Err(_) => return,
            },
            paths = changes.folders.changed() => match paths {
                Ok(paths) => changes.take_in(&paths),
                Err(error) => {
                    tracing::warn!(%error, "changes of files are no longer watched");
                    return;
                }
            },
            () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {
                changes.run_due().await;
            }
        }
    }
}

/// Waits until the daemon stops; a sender that is gone is a daemon that is gone.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// Returns whether a file was written after a time.
fn is_newer(file: &Path, than: Timestamp) -> bool {
    let written = std::fs::symlink_metadata(file).and_then(|metadata| metadata.modified());
    let written = written.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    written
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .is_some_and(|ms| ms > than.unix_ms())
}

struct ChangeLoop {
    daemon: Arc<Daemon>,
    folders: FolderWatch,
    /// The artifacts that read each file.
    files: HashMap<PathBuf, Vec<WatchedFiles>>,
    bursts: HashMap<WatchedFiles, Burst>,
    /// The artifacts whose files are watched already.
    known: HashSet<WatchedFiles>,
    started: Instant,
}

impl ChangeLoop {
    /// Returns the milliseconds since the loop began.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn watch(&mut self, all: &[WatchedFiles]) {
        self.files.clear();
        for watched in all {
            // A project without a root, or whose root is gone, has no files.
            let root = self.daemon.app.ports.files.root(&watched.project).await;
            let Ok(Some(root)) = root else { continue };
            for file in &watched.files {
                self.files.entry(root.join(file)).or_default().push(watched.clone());
            }
        }
        let folders: HashSet<PathBuf> =
            self.files.keys().filter_map(|file| file.parent().map(PathBuf::from)).collect();
        self.folders.watch(&folders);
        self.bursts.retain(|watched, _| all.contains(watched));
        self.take_in_unseen(all).await;
    }

    /// Takes in changes from before the watch: while the daemon was down, or between the switch of a
    /// schedule and this look. Only of files that are new to the watch, so that a file whose time lies
    /// ahead of the clock is read once and not again and again.
    async fn take_in_unseen(&mut self, all: &[WatchedFiles]) {
        let known = std::mem::replace(&mut self.known, all.iter().cloned().collect());
        let mut unseen = Vec::new();
        for watched in all.iter().filter(|watched| !known.contains(*watched)) {
            let Some(read) = schedule::last_read(&self.daemon.app, watched).await else { continue };
            let mine = self.files.iter().filter(|(_, readers)| readers.contains(watched));
            unseen.extend(
                mine.filter(|(file, _)| is_newer(file, read)).map(|(file, _)| file.clone()),
            );
        }
        self.take_in(&unseen);
    }

    fn take_in(&mut self, paths: &[PathBuf]) {
        let now = self.now();
        for path in paths {
            // A path that is a folder stands for all of it: notices were lost.
            let hit = self
                .files
                .iter()
                .filter(|(file, _)| *file == path || file.parent() == Some(path.as_path()));
            for watched in hit.flat_map(|(_, readers)| readers) {
                self.bursts.entry(watched.clone()).or_default().changed(now);
            }
        }
    }

    async fn run_due(&mut self) {
        let now = self.now();
        let due: Vec<WatchedFiles> = self
            .bursts
            .iter_mut()
            .filter_map(|(watched, burst)| burst.take(now).then(|| watched.clone()))
            .collect();
        for watched in due {
            let in_flight = self.daemon.in_flight.begin();
            let outcome = schedule::run_changed(&self.daemon.app, &watched).await;
            drop(in_flight);
            match outcome {
                SlotOutcome::Refreshed(_) => {}
                // Whoever runs may have read the file before it changed.
                SlotOutcome::Elsewhere => {
                    let now = self.now();
                    if let Some(burst) = self.bursts.get_mut(&watched) {
                        burst.changed(now);
                    }
                }
                SlotOutcome::Failed(failure) | SlotOutcome::Refused(failure) => {
                    let WatchedFiles { project, artifact, .. } = &watched;
                    let code = failure.code;
                    tracing::warn!(%project, %artifact, %code, "a refresh after a change failed");
                }
            }
        }
    }
}
