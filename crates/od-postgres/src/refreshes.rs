//! The log of refreshes, and the leases that take the place of running locks.

use std::sync::Arc;

use async_trait::async_trait;
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::ledger::{LogRecord, RefreshLedger, RefreshStart, RunningLockState};
use od_core::limits::STORE_LEASE;
use od_core::refresh::RefreshRecord;
use od_ports::store::{
    History, RefreshLog, RunningLock, RunningRefresh, StoreError, UnfinishedRefresh,
};
use tokio_postgres::types::Type;

use crate::fault::Fault;
use crate::generation::ledger_text;
use crate::pool::Param;
use crate::retention;
use crate::row::{ArtifactRow, COLUMNS, LogEnd, TABLES};
use crate::store::{PgStore, Shared};
use crate::write::{Probe, Transaction};

const APPEND: &str = "WITH r AS (INSERT INTO od.record VALUES ($1, $2, $3, false, $4)), \
    l AS (DELETE FROM od.lease WHERE artifact = $1 AND refresh = $5 AND $6) \
    UPDATE od.artifact SET ledger = $7, is_open = $8, log_seq = $2, log_end = $9, log_bytes = $10 \
    WHERE key = $1";
const TAKE: &str = "INSERT INTO od.lease VALUES ($1, $2, $3, clock_timestamp() + \
        $4 * interval '1 millisecond') \
    ON CONFLICT (artifact) DO UPDATE SET refresh = excluded.refresh, holder = excluded.holder, \
        until = excluded.until";
/// Counts as a change, so that everybody sees the status it leaves.
const LET_GO: &str = "WITH d AS (DELETE FROM od.lease WHERE artifact = $1 AND refresh = $2 \
        AND holder = $3 RETURNING artifact), \
    v AS (UPDATE od.store SET version = version + 1 WHERE EXISTS (SELECT 1 FROM d) RETURNING version) \
    UPDATE od.artifact SET version = v.version FROM v WHERE key = $1 RETURNING v.version";

/// Adds one record to a locked artifact's log; returns the log's new end.
async fn append(
    transaction: &Transaction,
    row: &ArtifactRow,
    record: RefreshRecord,
    writer: &str,
) -> Result<(LogEnd, RefreshLedger), StoreError> {
    let mut ledger = row.ledger.clone().unwrap_or_default();
    ledger.append(&record);
    let (refresh, is_last) = (record.refresh_id.clone(), record.step.is_last());
    let mut log = row.log.clone();
    let line = log.push(LogRecord::Refresh(record));
    let (text, is_open) = (ledger_text(&ledger), !ledger.open().is_empty());
    let (refresh, end) = (refresh.as_str(), log.digest.as_ref().map(|digest| digest.as_str()));
    let params: [Param<'_>; 10] = [
        (&row.key, Type::INT8),
        (&log.seq, Type::INT8),
        (&line, Type::BYTEA),
        (&writer, Type::TEXT),
        (&refresh, Type::TEXT),
        (&is_last, Type::BOOL),
        (&text, Type::TEXT),
        (&is_open, Type::BOOL),
        (&end, Type::TEXT),
        (&log.bytes, Type::INT8),
    ];
    transaction.rows(APPEND, &params).await?;
    Ok((log, ledger))
}

#[async_trait]
impl RefreshLog for PgStore {
    async fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError> {
        let (loaded, whole) = self.whole_log(project, artifact).await?;
        let records = whole.refreshes.into_iter().rev().collect();
        Ok(History { records, broken: whole.log.fault(&loaded.row) })
    }

    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        start: RefreshStart,
    ) -> Result<RunningRefresh, StoreError> {
        let (transaction, loaded) = self.lock(project, artifact).await?;
        let row = &loaded.row;
        let ledger = row.ledger.clone().unwrap_or_default();
        // By the server's clock: nobody else's says when a lease has lapsed.
        if let Some(lease) = loaded.lease.as_ref().filter(|lease| lease.is_held) {
            let running = Some(lease.refresh.clone());
            return Err(StoreError::RefreshLocked { artifact: artifact.clone(), running });
        }
        if !loaded.stored.health.is_healthy() {
            let (artifact, health) = (artifact.clone(), loaded.stored.health);
            return Err(StoreError::NotHealthy { artifact, health });
        }
        ledger
            .admit_start(&start)
            .map_err(|overtaken| StoreError::refresh_overtaken(artifact, overtaken))?;
        let abandoned = ledger.running().cloned();
        let id = ledger.next_id(row.last_refresh.as_ref());
        let writer = self.shared.writer();
        let (log, _) = append(&transaction, row, start.record(id.clone()), &writer).await?;
        let (refresh, lasts) = (id.as_str(), STORE_LEASE.allowed as f64);
        let params: [Param<'_>; 4] = [
            (&row.key, Type::INT8),
            (&refresh, Type::TEXT),
            (&writer, Type::TEXT),
            (&lasts, Type::FLOAT8),
        ];
        transaction.rows(TAKE, &params).await?;
        let committed = transaction.commit(row.key).await?;
        let probe = Probe::Record { key: row.key, seq: log.seq, writer: writer.clone() };
        let version = self.shared.settle(committed, probe).await?;
        self.shared.note_own(version);
        let shared = Arc::clone(&self.shared);
        let lock = PgRunningLock { shared, key: row.key, refresh: id.clone(), holder: writer };
        let base = Arc::clone(&loaded.stored);
        Ok(RunningRefresh { id, base, abandoned, lock: Box::new(lock) })
    }

    async fn append_record(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        record: RefreshRecord,
    ) -> Result<(), StoreError> {
        let (transaction, loaded) = self.lock(project, artifact).await?;
        let row = &loaded.row;
        let ledger = row.ledger.clone().unwrap_or_default();
        if !self.shared.is_unfenced() {
            ledger
                .admit_record(&record)
                .map_err(|closed| StoreError::refresh_closed(artifact, closed))?;
        }
        let writer = self.shared.writer();
        let (log, ledger) = append(&transaction, row, record, &writer).await?;
        retention::rotate(&transaction, row.key, &log, &ledger).await?;
        let committed = transaction.commit(row.key).await?;
        let probe = Probe::Record { key: row.key, seq: log.seq, writer };
        let version = self.shared.settle(committed, probe).await?;
        self.shared.note_own(version);
        Ok(())
    }

    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.is_open AND a.deleted_at IS NULL");
        let mut found = Vec::new();
        for row in self.shared.pool.rows(&sql, &[]).await? {
            let Some(row) = ArtifactRow::read(&row)? else { continue };
            let lease = row
                .lease
                .as_ref()
                .filter(|lease| lease.is_held && !self.shared.index.is_released(row.key, lease));
            let lock =
                if lease.is_some() { RunningLockState::Held } else { RunningLockState::Free };
            let Some(ledger) = &row.ledger else { continue };
            found.extend(ledger.unfinished(lock).map(|(begun, lock_held)| UnfinishedRefresh {
                project: row.project.clone(),
                artifact: row.id.clone(),
                refresh: begun.refresh_id.clone(),
                started_at: begun.started_at,
                lock_held,
            }));
        }
        Ok(found)
    }
}

/// The lease of a refresh that runs here. Let go when it is dropped; lapses by itself if the process ends.
#[derive(Debug)]
struct PgRunningLock {
    shared: Arc<Shared>,
    key: i64,
    refresh: RefreshId,
    holder: String,
}

impl RunningLock for PgRunningLock {}

impl Drop for PgRunningLock {
    fn drop(&mut self) {
        let (shared, key) = (Arc::clone(&self.shared), self.key);
        let (refresh, holder) = (self.refresh.clone(), std::mem::take(&mut self.holder));
        // Free for everybody here from now on; for the others once the store has been told.
        shared.index.release(key, refresh.clone());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Ok(Some(version)) = let_go(&shared, key, &refresh, &holder).await {
                shared.note_own(version);
            }
        });
    }
}

/// Deletes a lease, if it is still there and this one's; returns the number of the change.
async fn let_go(
    shared: &Shared,
    key: i64,
    refresh: &RefreshId,
    holder: &str,
) -> Result<Option<i64>, StoreError> {
    let refresh = refresh.as_str();
    let params: [Param<'_>; 3] =
        [(&key, Type::INT8), (&refresh, Type::TEXT), (&holder, Type::TEXT)];
    let conn = shared.pool.writer().await?;
    let rows = conn.locked_rows(LET_GO, &params).await?;
    rows.first().map(|row| row.try_get(0)).transpose().map_err(|err| Fault::of_row(&err).into())
}
