//! The records of refreshes: begin, append, read.

use std::sync::Arc;

use od_core::artifact::{Health, HealthState};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::ledger::{LogRecord, RefreshStart, is_synced_at_once};
use od_core::refresh::RefreshRecord;
use od_ports::store::{History, RunningRefresh, StoreError, UnfinishedRefresh};

use super::audit_log::{self, AuditLog, Tail};
use super::timeline_cache::{HISTORIES, LogFiles};
use super::{archive, revisions, snapshots};
use crate::artifacts::commit::checkpoint::CheckpointQueue;
use crate::artifacts::commit::locks::{self, HeldRunning};
use crate::artifacts::commit::roll_forward::WrittenCopies;
use crate::artifacts::commit::{Pointer, pending};
use crate::artifacts::dirs::{not_found, open_artifact};
use crate::artifacts::read::{ArtifactReader, Validity};
use crate::disk::{Dir, DiskError, FileLock};

/// Numbers refreshes and keeps their records.
#[derive(Debug)]
pub(crate) struct RefreshRecords {
    reader: Arc<ArtifactReader>,
    queue: Arc<CheckpointQueue>,
}

impl RefreshRecords {
    pub(crate) const fn new(reader: Arc<ArtifactReader>, queue: Arc<CheckpointQueue>) -> Self {
        Self { reader, queue }
    }

    /// Takes the running lock and allocates the next id, durably.
    pub(crate) fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        start: &RefreshStart,
    ) -> Result<RunningRefresh, StoreError> {
        let (live, dir) = self.reader.dirs.artifact(project, artifact)?;
        // The running lock before the commit lock, and the commit lock only for the allocation: a refresh
        // takes minutes, and nobody's update waits for it.
        let Some(running) = locks::running(&live, artifact)? else {
            let running =
                AuditLog::read(&dir)?.ledger.running().map(|begun| begun.refresh_id.clone());
            return Err(StoreError::RefreshLocked { artifact: artifact.clone(), running });
        };
        let (_commit, dir) = self.lock_and_finish(&live, project, artifact)?;
        let base = self.reader.cached_or_load(project, artifact)?;
        if !base.health.is_healthy() {
            return Err(StoreError::NotHealthy { artifact: artifact.clone(), health: base.health });
        }
        let log = AuditLog::read(&dir)?;
        log.ledger
            .admit_start(start)
            .map_err(|overtaken| StoreError::refresh_overtaken(artifact, overtaken))?;
        let abandoned = log.ledger.running().cloned();
        let id = next_id(&dir, &log)?;
        let mut record = start.record(id.clone());
        record.prev = log.chain_end();
        // Synced before the source runs: an id that somebody was shown is never given again.
        log.append_synced(&dir, &record.to_line())?;
        self.reader.invalidate_log(project, artifact);
        Ok(RunningRefresh { id, base, abandoned, lock: Box::new(HeldRunning { _lock: running }) })
    }

    /// Appends one record; the last one of a refresh durably, and those before it with it.
    pub(crate) fn append_record(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        mut record: RefreshRecord,
    ) -> Result<(), StoreError> {
        let (live, _) = self.reader.dirs.artifact(project, artifact)?;
        let (_commit, dir) = self.lock_and_finish(&live, project, artifact)?;
        let log = AuditLog::read(&dir)?;
        // Behind a break nobody would find the record: it is refused rather than lost.
        if let Tail::Broken(reason) = log.tail {
            let health = Health::unsound(HealthState::CorruptTail, reason);
            return Err(StoreError::NotHealthy { artifact: artifact.clone(), health });
        }
        if let Err(closed) = log.ledger.admit_record(&record) {
            // Whoever is refused goes by the record that closed it: that has to be on the disk.
            audit_log::sync(&dir)?;
            dir.sync()?;
            return Err(StoreError::refresh_closed(artifact, closed));
        }
        record.prev = log.chain_end();
        if is_synced_at_once(record.step) {
            log.append_synced(&dir, &record.to_line())?;
        } else {
            log.append_step(&dir, &record.to_line())?;
        }
        self.reader.invalidate_log(project, artifact);
        audit_log::rotate(&dir)?;
        Ok(())
    }

    /// Returns the refreshes that have no terminal record.
    pub(crate) fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        let mut found = Vec::new();
        for project in self.reader.project_ids()?.iter() {
            // What the disk does not give now is found at the next start.
            let Ok(Some(live)) = self.reader.dirs.live(project) else { continue };
            let Ok(entries) = self.reader.list_entries(project) else { continue };
            for (artifact, entry) in entries {
                if entry.validity != Validity::WhileRefreshOpen {
                    continue;
                }
                let Ok(Some(dir)) = open_artifact(&live, &artifact) else { continue };
                let Ok(log) = AuditLog::read(&dir) else { continue };
                let Ok(lock) = locks::running_state(&live, &artifact) else { continue };
                let unfinished = log.ledger.unfinished(lock).map(|(begun, lock_held)| {
                    let (project, artifact) = (project.clone(), artifact.clone());
                    let (refresh, started_at) = (begun.refresh_id.clone(), begun.started_at);
                    UnfinishedRefresh { project, artifact, refresh, started_at, lock_held }
                });
                found.extend(unfinished);
            }
        }
        Ok(found)
    }

    /// Reads the audit log, newest first.
    pub(crate) fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError> {
        let (_, dir) = self.reader.dirs.artifact(project, artifact)?;
        // The frames before the log: a record that goes from one to the other is then seen twice, not never.
        let is_logged = pending::list(&dir)?.is_empty();
        let files = LogFiles::look(&dir)?;
        if is_logged && let Some(records) = HISTORIES.get(&files) {
            return Ok(History { records, broken: None });
        }
        let (log, records) = revisions::read_log(&dir)?;
        let archived = archive::archived_refreshes(&dir, &records)?;
        let logged = records.into_iter().rev().filter_map(LogRecord::into_refresh);
        let records: Arc<[RefreshRecord]> = logged.chain(archived.into_iter().rev()).collect();
        let broken = revisions::broken(&log);
        if is_logged && broken.is_none() && LogFiles::look(&dir)? == files {
            HISTORIES.put(files, &records, records.len());
        }
        Ok(History { records, broken })
    }

    /// Takes the commit lock, and finishes what a crashed holder left.
    fn lock_and_finish(
        &self,
        live: &Dir,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(FileLock, Dir), StoreError> {
        let lock = locks::commit_or_busy(live, artifact)?;
        // Opened under the lock: it may have been deleted while we waited for it.
        let dir = open_artifact(live, artifact)?.ok_or_else(|| not_found(project, artifact))?;
        self.reader.finish(&dir, project, artifact, &self.queue, WrittenCopies::Believed)?;
        Ok((lock, dir))
    }
}

/// Returns the id after every id there is a trace of, in log, pointer or snapshots.
fn next_id(dir: &Dir, log: &AuditLog) -> Result<RefreshId, DiskError> {
    let committed = Pointer::read_sound(dir)?.and_then(|pointer| pointer.store.last_refresh);
    Ok(log.ledger.next_id(committed.iter().chain(&snapshots::ids(dir)?)))
}
