//! Timelines as they were last read, so that opening one revision does not read the records of all.
//!
//! A timeline is believed while the three files that it was read from look exactly as they did then, and
//! only if they had not changed for a while before they were read: a file system tells two changes within
//! one tick of its clock by nothing.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use od_ports::store::Timeline;

use super::archive::COMMITS;
use super::audit_log::{LOG, ROTATED};
use crate::disk::{Dir, DiskError, FileStat};

/// The coarsest clock of a file system that people use has a tick of two seconds.
const SETTLED_NS: i128 = 3_000_000_000;
/// Commits remembered at once, of all artifacts; the timeline that was read first goes first.
const COMMITS_MAX: usize = 4_096;

/// The files that a timeline is read from, as they look.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct LogFiles([Option<FileStat>; 3]);

impl LogFiles {
    pub(super) fn look(artifact: &Dir) -> Result<Self, DiskError> {
        Ok(Self([artifact.stat(LOG)?, artifact.stat(ROTATED)?, artifact.stat(COMMITS)?]))
    }

    /// Returns whether a change from now on will show. A clock that was set back says no.
    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i128::try_from(now.as_nanos()).unwrap_or_default();
        self.0.iter().flatten().all(|stat| stat.changed_ns + SETTLED_NS < now)
    }
}

type Known = VecDeque<(LogFiles, Arc<Timeline>)>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what was read of files that look so.
pub(super) fn get(files: &LogFiles) -> Option<Arc<Timeline>> {
    known().iter().find(|(then, _)| then == files).map(|(_, timeline)| Arc::clone(timeline))
}

/// Remembers what was read of files that looked so before and after.
pub(super) fn put(files: LogFiles, timeline: &Arc<Timeline>) {
    // Without a log there is nothing by which one artifact differs from another.
    if files.0[0].is_none() || !files.is_settled() || timeline.commits.len() > COMMITS_MAX {
        return;
    }
    let mut known = known();
    known.retain(|(then, _)| then.0[0].map(place) != files.0[0].map(place));
    known.push_back((files, Arc::clone(timeline)));
    let mut commits: usize = known.iter().map(|(_, timeline)| timeline.commits.len()).sum();
    while commits > COMMITS_MAX {
        let Some((_, oldest)) = known.pop_front() else { return };
        commits -= oldest.commits.len();
    }
}

fn place(stat: FileStat) -> (u64, u64) {
    (stat.device, stat.inode)
}
