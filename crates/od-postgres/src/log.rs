//! The log of an artifact: its lines, checked against the chain that they make.

use std::sync::Arc;

use od_core::artifact::HealthReason;
use od_core::ids::{Digest, Revision};
use od_core::ledger::{CommitRecord, LogRecord, RefreshLedger};
use od_core::refresh::RefreshRecord;
use od_ports::store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::fault::Fault;
use crate::pool::{Conn, Param, Pool};
use crate::row::{ArtifactRow, LogEnd};

/// Reads the lines behind a number. A line longer than any that od writes is not read: it is damage.
const LINES: &str = "SELECT seq, CASE WHEN octet_length(line) <= 1048576 THEN line ELSE ''::bytea END, \
    is_commit FROM od.record WHERE artifact = $1 AND seq > $2 AND seq <= $3 ORDER BY seq";
/// Reads every line, those of commits from before the base included.
const ALL: &str = "SELECT seq, CASE WHEN octet_length(line) <= 1048576 THEN line ELSE ''::bytea END, \
    is_commit FROM od.record WHERE artifact = $1 AND seq <= $2 ORDER BY seq";

/// The log of an artifact as far as it was read, folded.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckedLog {
    pub(crate) seq: i64,
    pub(crate) digest: Option<Digest>,
    base: i64,
    pub(crate) ledger: RefreshLedger,
    newest_commit: Option<Revision>,
    pub(crate) records: usize,
    /// Why the line after `seq` is not believed, if one is not.
    pub(crate) broken: Option<HealthReason>,
}

/// One line as it is stored.
pub(crate) struct Line {
    pub(crate) seq: i64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_commit: bool,
}

impl Line {
    fn read(row: &Row) -> Result<Self, Fault> {
        let fault = |err: tokio_postgres::Error| Fault::of_row(&err);
        Ok(Self {
            seq: row.try_get(0).map_err(fault)?,
            bytes: row.try_get(1).map_err(fault)?,
            is_commit: row.try_get(2).map_err(fault)?,
        })
    }
}

impl CheckedLog {
    /// Starts where all of a log is kept from.
    pub(crate) fn starting_at(log: &LogEnd) -> Self {
        Self { seq: log.base, base: log.base, digest: log.base_digest.clone(), ..Self::default() }
    }

    /// Takes the next line in, unless the chain is broken before it; returns its record.
    pub(crate) fn append(&mut self, line: &Line) -> Option<LogRecord> {
        if self.broken.is_some() {
            return None;
        }
        let Ok(record) = LogRecord::parse(&line.bytes) else {
            self.broken = Some(HealthReason::AuditUnreadable);
            return None;
        };
        let is_next = line.seq == self.seq + 1 && record.prev() == self.digest.as_ref();
        let is_kind = matches!(record, LogRecord::Commit(_)) == line.is_commit;
        if !is_next || !is_kind {
            self.broken = Some(HealthReason::AuditChainBroken);
            return None;
        }
        match &record {
            LogRecord::Refresh(record) => self.ledger.append(record),
            LogRecord::Commit(commit) => self.newest_commit = Some(commit.revision),
        }
        self.seq = line.seq;
        self.digest = Some(Digest::of_bytes(&line.bytes));
        self.records += 1;
        Some(record)
    }

    /// Sets what the records up to the end come to.
    pub(crate) fn set_folded(&mut self, ledger: RefreshLedger, newest_commit: Revision) {
        // With a base, the fold starts there and not at the first record.
        if self.base == 0 {
            self.ledger = ledger;
        }
        self.newest_commit = Some(newest_commit);
    }

    /// Returns why the log does not go with its artifact's row, if it does not.
    pub(crate) fn fault(&self, row: &ArtifactRow) -> Option<HealthReason> {
        if self.broken.is_some() {
            return self.broken;
        }
        let is_whole = self.seq == row.log.seq && self.digest == row.log.digest;
        // What lies before the base is folded into the row only.
        let is_folded = self.base > 0 || row.ledger.as_ref() == Some(&self.ledger);
        let committed = row.pointer.as_ref().ok().map(|artifact| artifact.revision);
        let says_revision = self.newest_commit.is_none() || self.newest_commit == committed;
        let is_sound = is_whole && is_folded && (says_revision || committed.is_none());
        (!is_sound).then_some(HealthReason::AuditContradictsPointer)
    }
}

/// Brings what is known of an artifact's log up to its row.
pub(crate) async fn check(
    reader: Reader<'_>,
    row: &ArtifactRow,
    known: Option<&Arc<CheckedLog>>,
) -> Result<Arc<CheckedLog>, StoreError> {
    let known = known.filter(|known| {
        known.broken.is_none() && known.base == row.log.base && known.seq <= row.log.seq
    });
    if let Some(known) = known.filter(|known| known.seq == row.log.seq) {
        return Ok(Arc::clone(known));
    }
    let mut log = known.map_or_else(|| CheckedLog::starting_at(&row.log), |log| (**log).clone());
    let (from, to) = (log.seq, row.log.seq);
    let params: [Param<'_>; 3] = [(&row.key, Type::INT8), (&from, Type::INT8), (&to, Type::INT8)];
    for line in reader.rows(LINES, &params).await? {
        log.append(&Line::read(&line)?);
    }
    Ok(Arc::new(log))
}

/// Every record of an artifact, oldest first, and the log they make.
pub(crate) struct WholeLog {
    pub(crate) log: CheckedLog,
    pub(crate) refreshes: Vec<RefreshRecord>,
    pub(crate) commits: Vec<CommitRecord>,
    /// The lines from the first one on that is not believed.
    pub(crate) rest: Vec<Line>,
}

/// Reads everything there is of an artifact's log.
pub(crate) async fn read_whole(
    reader: Reader<'_>,
    row: &ArtifactRow,
) -> Result<WholeLog, StoreError> {
    let params: [Param<'_>; 2] = [(&row.key, Type::INT8), (&row.log.seq, Type::INT8)];
    let log = CheckedLog::starting_at(&row.log);
    let (refreshes, commits, rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut whole = WholeLog { log, refreshes, commits, rest };
    for line in reader.rows(ALL, &params).await? {
        let line = Line::read(&line)?;
        let record = if line.seq <= row.log.base {
            LogRecord::parse(&line.bytes).ok()
        } else {
            whole.log.append(&line)
        };
        match record {
            Some(LogRecord::Refresh(record)) => whole.refreshes.push(record),
            Some(LogRecord::Commit(commit)) => whole.commits.push(commit),
            None => whole.rest.push(line),
        }
    }
    Ok(whole)
}

/// What statements that read are sent through: any connection, or that of a transaction.
#[derive(Clone, Copy)]
pub(crate) enum Reader<'a> {
    Pool(&'a Arc<Pool>),
    Transaction(&'a Conn),
}

impl Reader<'_> {
    pub(crate) async fn rows(
        self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        match self {
            Self::Pool(pool) => pool.rows(sql, params).await,
            Self::Transaction(conn) => Ok(conn.rows(sql, params).await?),
        }
    }
}
