//! Retention: what commits and records leave behind, removed by the rules of `od_core::ledger`.

use od_core::ids::{Digest, Revision};
use od_core::ledger::{LogRecord, RefreshLedger, kept_commits, kept_objects, needs_rotation};
use od_core::limits::{AUDIT_LOG, REVISIONS};
use od_ports::store::StoreError;
use tokio_postgres::types::Type;

use crate::fault::Fault;
use crate::pool::Param;
use crate::row::LogEnd;
use crate::write::Transaction;

/// Commits between two sweeps: each reads the whole timeline.
const SWEEP_EVERY: u64 = 16;

/// Removes contents that no kept revision names. What may be read is decided by the rule and not by what
/// is there, so a sweep now and then is enough.
pub(crate) async fn sweep(
    transaction: &Transaction,
    key: i64,
    revision: Revision,
) -> Result<(), StoreError> {
    let number = revision.get();
    if number <= REVISIONS.allowed || !number.is_multiple_of(SWEEP_EVERY) {
        return Ok(());
    }
    let sql = "SELECT line FROM od.record WHERE artifact = $1 AND is_commit ORDER BY seq DESC";
    let mut commits = Vec::new();
    for row in transaction.rows(sql, &[(&key, Type::INT8)]).await? {
        let line: Vec<u8> = row.try_get(0).map_err(|err| Fault::of_row(&err))?;
        // Of an artifact whose history cannot be read nothing is removed.
        let Some(commit) = LogRecord::parse(&line).ok().and_then(LogRecord::into_commit) else {
            return Ok(());
        };
        commits.push(commit);
    }
    let objects: Vec<&str> = kept_objects(&commits).into_iter().map(Digest::as_str).collect();
    let revisions: Vec<i64> = kept_commits(&commits)
        .filter_map(|commit| i64::try_from(commit.revision.get()).ok())
        .collect();
    let blobs = "DELETE FROM od.blob WHERE artifact = $1 AND digest <> ALL($2)";
    let params: [Param<'_>; 2] = [(&key, Type::INT8), (&objects, Type::TEXT_ARRAY)];
    transaction.rows(blobs, &params).await?;
    let pointers = "DELETE FROM od.revision WHERE artifact = $1 AND revision <> ALL($2)";
    let params: [Param<'_>; 2] = [(&key, Type::INT8), (&revisions, Type::INT8_ARRAY)];
    transaction.rows(pointers, &params).await?;
    Ok(())
}

/// Removes the older half of the records of refreshes once a log is full. Records of commits stay, and so
/// does the digest that the rest of the chain begins with.
pub(crate) async fn rotate(
    transaction: &Transaction,
    key: i64,
    log: &LogEnd,
    ledger: &RefreshLedger,
) -> Result<(), StoreError> {
    let bytes = u64::try_from(log.bytes).unwrap_or(0);
    if !needs_rotation(bytes / 2, ledger) {
        return Ok(());
    }
    let sql = "SELECT seq, octet_length(line)::int8, 'sha256:' || encode(sha256(line), 'hex') \
        FROM od.record WHERE artifact = $1 AND seq > $2 ORDER BY seq DESC";
    let params: [Param<'_>; 2] = [(&key, Type::INT8), (&log.base, Type::INT8)];
    let fault = |err: tokio_postgres::Error| Fault::of_row(&err);
    let mut kept = 0;
    for row in transaction.rows(sql, &params).await? {
        let (seq, length): (i64, i64) =
            (row.try_get(0).map_err(fault)?, row.try_get(1).map_err(fault)?);
        if u64::try_from(kept).unwrap_or(0) < AUDIT_LOG.allowed {
            kept += length;
            continue;
        }
        let digest: String = row.try_get(2).map_err(fault)?;
        let sql = "WITH d AS (DELETE FROM od.record WHERE artifact = $1 AND seq <= $2 AND NOT is_commit) \
            UPDATE od.artifact SET log_base = $2, log_base_end = $3, log_bytes = $4 WHERE key = $1";
        let params: [Param<'_>; 4] =
            [(&key, Type::INT8), (&seq, Type::INT8), (&digest, Type::TEXT), (&kept, Type::INT8)];
        transaction.rows(sql, &params).await?;
        return Ok(());
    }
    Ok(())
}
