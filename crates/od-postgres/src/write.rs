//! Transactions: one a change, ended by the change's number and COMMIT, and asked for by name when the
//! answer is lost.

use std::sync::Arc;
use std::time::Duration;

use od_core::limits::{COMMIT_WAIT, STORE_IDLE, STORE_RESOLVE};
use od_ports::store::{Outcome, StoreError};
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::fault::{Fault, unavailable};
use crate::pool::{Conn, Param, Pool};

/// Counts the change. The row is everybody's, so this comes last: COMMIT follows in the same breath.
const COUNT: &str = "WITH v AS (UPDATE od.store SET version = version + 1 RETURNING version) \
    UPDATE od.artifact SET version = v.version FROM v WHERE key = $1 RETURNING v.version";
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A transaction that is open. Dropped, it is rolled back.
#[derive(Debug)]
pub(crate) struct Transaction {
    conn: Option<Conn>,
}

/// What became of a COMMIT.
pub(crate) enum Commit {
    /// It is done; the number of the change.
    Done(i64),
    /// The connection was lost before the answer.
    Lost,
}

impl Transaction {
    /// Begins one. Everything is set for it alone, so that a pooler hands nothing on.
    pub(crate) async fn begin(pool: &Arc<Pool>) -> Result<Self, StoreError> {
        let (lock, idle) = (COMMIT_WAIT.allowed, STORE_IDLE.allowed);
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; \
             SET LOCAL lock_timeout = {lock}; \
             SET LOCAL idle_in_transaction_session_timeout = {idle}; \
             SET LOCAL client_min_messages = error; \
             SELECT set_config('synchronous_commit', 'on', true) \
                WHERE current_setting('synchronous_commit') = 'off'"
        );
        let mut tries = 0;
        loop {
            let conn = pool.writer().await?;
            conn.set_clean(false);
            match conn.batch(&begin).await {
                Ok(()) => return Ok(Self { conn: Some(conn) }),
                // Nothing has happened yet: a connection that broke while it was idle is replaced.
                Err(Fault::Lost) if tries == 0 => {
                    tries += 1;
                    pool.forget_idle();
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    pub(crate) fn conn(&self) -> Result<&Conn, StoreError> {
        self.conn.as_ref().ok_or_else(|| Fault::Lost.into())
    }

    /// Runs a statement.
    pub(crate) async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        match &self.conn {
            Some(conn) => conn.locked_rows(sql, params).await,
            None => Err(Fault::Lost),
        }
    }

    /// Counts the change of an artifact and commits. A refusal leaves nothing behind.
    pub(crate) async fn commit(mut self, key: i64) -> Result<Commit, StoreError> {
        let Some(conn) = self.conn.take() else { return Ok(Commit::Lost) };
        let params: [Param<'_>; 1] = [(&key, Type::INT8)];
        let counted = conn.locked_rows(COUNT, &params);
        // Both are sent before the first is answered: whoever stops between the two holds up everybody.
        let (counted, committed) = futures_util::future::join(counted, conn.batch("COMMIT")).await;
        match (counted, committed) {
            (Ok(rows), Ok(())) => {
                conn.set_clean(true);
                let version = rows.first().and_then(|row| row.try_get(0).ok());
                Ok(version.map_or(Commit::Lost, Commit::Done))
            }
            (Err(Fault::Lost), _) | (_, Err(Fault::Lost)) => Ok(Commit::Lost),
            // After a refusal COMMIT rolls back.
            (Err(fault), Ok(())) => {
                conn.set_clean(true);
                Err(fault.into())
            }
            (_, Err(fault)) => Err(fault.into()),
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(conn) = self.conn.take() else { return };
        // Without a runtime the connection is closed, which rolls back just as well.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if conn.batch("ROLLBACK").await.is_ok() {
                    conn.set_clean(true);
                }
            });
        }
    }
}

/// The question whether a change was made, asked when the answer of its COMMIT was lost.
#[derive(Debug)]
pub(crate) enum Probe {
    /// The record with this number was written by this write.
    Record { key: i64, seq: i64, writer: String },
    /// The artifact was created by this write.
    Create { project: String, key: i64, writer: String },
    /// The artifact lies in the trash since this time, or does not any more.
    Trash { key: i64, deleted_at: Option<i64> },
}

impl Probe {
    /// Asks once. The lock is the one that the lost transaction held: while it may still commit, this
    /// waits, and what is read then is final.
    async fn ask(&self, pool: &Arc<Pool>) -> Result<Option<i64>, StoreError> {
        let transaction = Transaction::begin(pool).await?;
        let rows = match self {
            Self::Record { key, seq, writer } => {
                lock_artifact(&transaction, *key).await?;
                let sql = "SELECT a.version FROM od.record r JOIN od.artifact a ON a.key = r.artifact \
                    WHERE r.artifact = $1 AND r.seq = $2 AND r.writer = $3";
                let params: [Param<'_>; 3] =
                    [(key, Type::INT8), (seq, Type::INT8), (writer, Type::TEXT)];
                transaction.rows(sql, &params).await?
            }
            Self::Create { project, key, writer } => {
                let lock = "SELECT 1 FROM od.project WHERE id = $1 FOR NO KEY UPDATE";
                transaction.rows(lock, &[(project, Type::TEXT)]).await?;
                let sql = "SELECT a.version FROM od.record r JOIN od.artifact a ON a.key = r.artifact \
                    WHERE r.artifact = $1 AND r.seq = 1 AND r.writer = $2";
                transaction.rows(sql, &[(key, Type::INT8), (writer, Type::TEXT)]).await?
            }
            Self::Trash { key, deleted_at } => {
                lock_artifact(&transaction, *key).await?;
                let sql = "SELECT version FROM od.artifact \
                    WHERE key = $1 AND deleted_at IS NOT DISTINCT FROM $2";
                transaction.rows(sql, &[(key, Type::INT8), (deleted_at, Type::INT8)]).await?
            }
        };
        Ok(rows.first().and_then(|row| row.try_get(0).ok()))
    }
}

async fn lock_artifact(transaction: &Transaction, key: i64) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM od.artifact WHERE key = $1 FOR UPDATE";
    transaction.rows(sql, &[(&key, Type::INT8)]).await.map(drop)
}

/// Turns what became of a COMMIT into an answer: a lost one is asked for, never repeated.
pub(crate) async fn settle(
    pool: &Arc<Pool>,
    commit: Commit,
    probe: Probe,
) -> Result<i64, StoreError> {
    if let Commit::Done(version) = commit {
        return Ok(version);
    }
    pool.forget_idle();
    let until = Instant::now() + STORE_RESOLVE.duration();
    let mut pause = FIRST_PAUSE;
    loop {
        match probe.ask(pool).await {
            Ok(Some(version)) => return Ok(version),
            Ok(None) => {
                return Err(unavailable(
                    "the connection broke off before the change was made",
                    Outcome::NotDone,
                ));
            }
            Err(_) if Instant::now() + pause < until => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(_) => {
                return Err(unavailable(
                    "the connection broke off while a change was being made",
                    Outcome::Unknown,
                ));
            }
        }
    }
}
