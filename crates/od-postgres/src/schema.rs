//! The tables, and the way from one version of them to the next: forward only, each step one transaction.

use std::sync::Arc;

use od_ports::store::StoreError;

use crate::fault::{Fault, unavailable};
use crate::pool::Pool;

/// The steps, in order; the version of a database is the number of steps that it has had. A step that was
/// released is never changed.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// Keeps two programs from migrating at once: any number that nobody else uses.
const MIGRATION_LOCK: i64 = 0x6f64_7374_6f72_6501;

/// The version of the tables that this program works with.
pub const SCHEMA_VERSION: i32 = STEPS.len() as i32;

/// The tables of a database, compared with those of this program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SchemaState {
    /// There are none.
    Absent,
    /// They are of an earlier version: `od store migrate` brings them up to date.
    Older(i32),
    /// They are those of this program.
    Current,
    /// They are of a later version: only a newer program can use them.
    Newer(i32),
}

impl SchemaState {
    const fn of(version: Option<i32>) -> Self {
        match version {
            None => Self::Absent,
            Some(version) if version < SCHEMA_VERSION => Self::Older(version),
            Some(SCHEMA_VERSION) => Self::Current,
            Some(version) => Self::Newer(version),
        }
    }

    /// Returns why a store with these tables cannot be used, and the command that helps; `None` if it can.
    #[must_use]
    pub fn refusal(self) -> Option<String> {
        match self {
            Self::Current => None,
            Self::Absent => {
                Some("it has no tables of od yet: run `od store migrate` as their owner".to_owned())
            }
            Self::Older(version) => Some(format!(
                "its tables are of version {version}, and this program needs {SCHEMA_VERSION}: run `od store migrate` as their owner"
            )),
            Self::Newer(version) => Some(format!(
                "its tables are of version {version}, and this program knows {SCHEMA_VERSION}: install the `od` that the others of the team use"
            )),
        }
    }
}

/// Reads which tables there are.
pub(crate) async fn state(pool: &Arc<Pool>) -> Result<SchemaState, StoreError> {
    let there = pool.rows("SELECT to_regclass('od.schema_version') IS NOT NULL", &[]).await?;
    if !there.first().and_then(|row| row.try_get(0).ok()).unwrap_or(false) {
        return Ok(SchemaState::Absent);
    }
    let rows = pool.rows("SELECT max(version) FROM od.schema_version", &[]).await?;
    Ok(SchemaState::of(rows.first().and_then(|row| row.try_get(0).ok())))
}

/// Refuses a database whose tables are not those of this program.
pub(crate) async fn check(pool: &Arc<Pool>) -> Result<(), StoreError> {
    match state(pool).await?.refusal() {
        None => Ok(()),
        Some(reason) => Err(unavailable(reason, od_ports::store::Outcome::NotDone)),
    }
}

/// Brings the tables up to this program's version; returns the version they had.
pub(crate) async fn migrate(pool: &Arc<Pool>) -> Result<SchemaState, StoreError> {
    let before = state(pool).await?;
    let from = match before {
        SchemaState::Current => return Ok(before),
        SchemaState::Newer(_) => return check(pool).await.map(|()| before),
        SchemaState::Absent => 0,
        SchemaState::Older(version) => version,
    };
    let conn = pool.writer().await?;
    for (number, step) in (1_i32..).zip(STEPS).skip(usize::try_from(from).unwrap_or_default()) {
        // Whoever waited for the lock finds the step taken: its first statement fails then, and the state
        // below tells that all is well.
        let sql = format!(
            "BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK}); {step}; \
             INSERT INTO od.schema_version(version) VALUES ({number}); COMMIT"
        );
        conn.set_clean(false);
        if let Err(fault) = conn.batch(&sql).await {
            drop(conn);
            let is_theirs = !matches!(fault, Fault::Lost)
                && state(pool).await.is_ok_and(|state| state == SchemaState::Current);
            return if is_theirs { Ok(before) } else { Err(fault.into()) };
        }
        conn.set_clean(true);
    }
    Ok(before)
}
