//! `commits.jsonl`: the records that outlive the logs that they stood in.
//!
//! Commits, and of refreshes the first and the last record. There is room for so many of each, and whoever
//! has most gives way first: an agent that refreshes without end pushes out its own records.

use std::collections::{HashMap, HashSet};

use od_core::ids::RefreshId;
use od_core::ledger::{Actor, CommitRecord, LogRecord, kept_fairly};
use od_core::limits::{COMMIT_RECORDS, FAILED_REFRESH_RECORDS, Limit, REFRESH_RECORDS};
use od_core::refresh::{RecordStep, RefreshRecord};

use super::audit_log::{self, LOG_BYTES_MAX};
use crate::disk::{Dir, DiskError, is_foreign};

/// The records of the logs before the two that are kept whole. Named for what it held first.
pub(crate) const COMMITS: &str = "commits.jsonl";
/// The archive is written anew at each rotation, and read with every history.
const ARCHIVE_BYTES_MAX: u64 = LOG_BYTES_MAX / 2;

/// Everything in the archive, oldest first.
#[derive(Clone, Debug, Default)]
struct Archive {
    commits: Vec<CommitRecord>,
    refreshes: Vec<EndedRefresh>,
}

/// A refresh that is over, without its steps.
#[derive(Clone, Debug)]
struct EndedRefresh {
    began: RefreshRecord,
    ended: RefreshRecord,
}

impl Archive {
    /// Arranges records; lines that are neither commits nor ends of refreshes are passed over.
    fn of(records: impl IntoIterator<Item = LogRecord>) -> Self {
        let mut archive = Self::default();
        let mut began: HashMap<RefreshId, RefreshRecord> = HashMap::new();
        for record in records {
            match record {
                LogRecord::Commit(commit) => archive.commits.push(commit),
                LogRecord::Refresh(record) if record.step == RecordStep::Started => {
                    began.insert(record.refresh_id.clone(), record);
                }
                LogRecord::Refresh(ended) if ended.step.is_last() => {
                    // One that was abandoned is closed after the next has begun.
                    if let Some(began) = began.remove(&ended.refresh_id) {
                        archive.refreshes.push(EndedRefresh { began, ended });
                    }
                }
                LogRecord::Refresh(_) => {}
            }
        }
        archive.refreshes.sort_by_key(|refresh| refresh.began.refresh_id.number());
        archive
    }

    /// Adds newer records, without those that are there already.
    fn extend(&mut self, newer: Self) {
        let newest = self.commits.last().map(|commit| commit.revision);
        let is_newer = |commit: &CommitRecord| Some(commit.revision) > newest;
        self.commits.extend(newer.commits.into_iter().filter(is_newer));
        let newest = self.refreshes.last().map(|refresh| refresh.began.refresh_id.number());
        let is_newer = |refresh: &EndedRefresh| Some(refresh.began.refresh_id.number()) > newest;
        self.refreshes.extend(newer.refreshes.into_iter().filter(is_newer));
    }

    /// Drops what there is no room for; `share` is the part of the room that there is.
    fn trim(&mut self, share: usize) {
        let room = |limit: Limit| (limit.max() / share).max(1);
        self.commits = fair(std::mem::take(&mut self.commits), room(COMMIT_RECORDS), |commit| {
            Some(&commit.actor)
        });
        let refreshes = std::mem::take(&mut self.refreshes);
        let (good, other): (Vec<_>, Vec<_>) =
            refreshes.into_iter().partition(|refresh| refresh.ended.status.is_success());
        for (refreshes, room) in
            [(good, room(REFRESH_RECORDS)), (other, room(FAILED_REFRESH_RECORDS))]
        {
            self.refreshes.extend(fair(refreshes, room, |refresh| refresh.began.actor.as_ref()));
        }
        self.refreshes.sort_by_key(|refresh| refresh.began.refresh_id.number());
    }

    /// Returns the lines of what there is room for.
    ///
    /// Long records have to leave room as many do: a file that is too long to be read is an empty one.
    fn into_bounded_lines(mut self) -> Vec<u8> {
        let mut share = 1;
        loop {
            self.trim(share);
            let lines = self.clone().into_lines();
            if lines.len() as u64 <= ARCHIVE_BYTES_MAX || share >= COMMIT_RECORDS.max() {
                return lines;
            }
            share *= 2;
        }
    }

    fn into_lines(self) -> Vec<u8> {
        let refreshes = self.refreshes.into_iter().flat_map(|it| [it.began, it.ended]);
        let records = refreshes.map(LogRecord::Refresh);
        let mut bytes = Vec::new();
        for record in records.chain(self.commits.into_iter().map(LogRecord::Commit)) {
            let prev = record.prev().cloned();
            bytes.extend(record.to_line_after(prev));
            bytes.push(b'\n');
        }
        bytes
    }
}

/// Returns those that stay, oldest first as they come.
fn fair<T>(oldest_first: Vec<T>, max: usize, actor: impl Fn(&T) -> Option<&Actor>) -> Vec<T> {
    let mut newest_first = oldest_first;
    newest_first.reverse();
    let kept = kept_fairly(&newest_first, max, actor);
    let kept = newest_first.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept);
    let mut kept: Vec<T> = kept.map(|(record, _)| record).collect();
    kept.reverse();
    kept
}

/// Takes what outlives it out of the log that the next rotation removes. Whoever reads finds it twice if
/// that rotation does not happen, and tells the two apart by revision and refresh.
pub(super) fn keep_records(artifact: &Dir) -> Result<(), DiskError> {
    let mut archive = Archive::of(read_lines(artifact)?);
    archive.extend(Archive::of(audit_log::rotated_records(artifact)?));
    let bytes = archive.into_bounded_lines();
    if bytes.is_empty() { Ok(()) } else { artifact.replace_synced(COMMITS, &bytes) }
}

/// Returns the commits that outlived their log, oldest first.
pub(crate) fn archived_commits(artifact: &Dir) -> Result<Vec<CommitRecord>, DiskError> {
    Ok(read_lines(artifact)?.into_iter().filter_map(LogRecord::into_commit).collect())
}

/// Returns the records of refreshes that outlived their log, oldest first, but for those of refreshes that
/// stand in the logs still.
pub(super) fn archived_refreshes(
    artifact: &Dir,
    logged: &[LogRecord],
) -> Result<Vec<RefreshRecord>, DiskError> {
    let logged: HashSet<&RefreshId> = logged
        .iter()
        .filter_map(|record| match record {
            LogRecord::Refresh(record) => Some(&record.refresh_id),
            LogRecord::Commit(_) => None,
        })
        .collect();
    let records = read_lines(artifact)?.into_iter().filter_map(LogRecord::into_refresh);
    Ok(records.filter(|record| !logged.contains(&record.refresh_id)).collect())
}

/// Reads the archive; lines that cannot be read are passed over.
fn read_lines(artifact: &Dir) -> Result<Vec<LogRecord>, DiskError> {
    let bytes = match artifact.read_if_there(COMMITS, LOG_BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(err) if is_foreign(&err) => Vec::new(),
        Err(err) => return Err(err),
    };
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines.filter_map(|line| LogRecord::parse(line).ok()).collect())
}
