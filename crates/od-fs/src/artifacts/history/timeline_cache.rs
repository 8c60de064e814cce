//! Timelines and histories as they were last read, so that opening one revision, or one page, does not read
//! the records of all.
//!
//! What was read is believed while the three files that it was read from look exactly as they did then, and
//! only if they had not changed for a while before they were read: a file system tells two changes within
//! one tick of its clock by nothing.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use od_core::refresh::RefreshRecord;
use od_ports::store::Timeline;

use super::archive::COMMITS;
use super::audit_log::{LOG, ROTATED};
use crate::disk::{Dir, DiskError, FileStat};

/// The coarsest clock of a file system that people use has a tick of two seconds.
const SETTLED_NS: i128 = 3_000_000_000;
/// Records remembered at once, of all artifacts; what was read first goes first.
const COMMITS_MAX: usize = 4_096;
const RECORDS_MAX: usize = 16_384;

/// The files that a timeline or a history is read from, as they look.
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

/// What was read of logs, by how those looked.
pub(super) struct LogReadings<T: ?Sized> {
    known: Mutex<VecDeque<Reading<T>>>,
    records_max: usize,
}

struct Reading<T: ?Sized> {
    files: LogFiles,
    value: Arc<T>,
    records: usize,
}

pub(super) static TIMELINES: LazyLock<LogReadings<Timeline>> =
    LazyLock::new(|| LogReadings::of(COMMITS_MAX));
/// The records of refreshes, newest first.
pub(super) static HISTORIES: LazyLock<LogReadings<[RefreshRecord]>> =
    LazyLock::new(|| LogReadings::of(RECORDS_MAX));

impl<T: ?Sized> LogReadings<T> {
    fn of(records_max: usize) -> Self {
        Self { known: Mutex::default(), records_max }
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<Reading<T>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what was read of files that look so.
    pub(super) fn get(&self, files: &LogFiles) -> Option<Arc<T>> {
        let known = self.known();
        let found = known.iter().find(|reading| reading.files == *files);
        found.map(|reading| Arc::clone(&reading.value))
    }

    /// Remembers what was read of files that looked so before and after, with so many records.
    pub(super) fn put(&self, files: LogFiles, value: &Arc<T>, records: usize) {
        // Without a log there is nothing by which one artifact differs from another.
        if files.0[0].is_none() || !files.is_settled() || records > self.records_max {
            return;
        }
        let mut known = self.known();
        known.retain(|reading| reading.files.0[0].map(place) != files.0[0].map(place));
        known.push_back(Reading { files, value: Arc::clone(value), records });
        let mut all: usize = known.iter().map(|reading| reading.records).sum();
        while all > self.records_max {
            let Some(oldest) = known.pop_front() else { return };
            all -= oldest.records;
        }
    }
}

fn place(stat: FileStat) -> (u64, u64) {
    (stat.device, stat.inode)
}
