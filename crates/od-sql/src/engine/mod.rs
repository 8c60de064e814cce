//! SQLite in memory as the engine of an artifact's queries.

pub(crate) mod authorizer;
pub(crate) mod fault;
pub(crate) mod functions;
mod percentile;
mod run;
mod texts;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use od_core::limits::SQLITE_RUNS;
use od_core::query::{QueryFault, QueryFaultKind};
use od_ports::query_engine::{QueryEngine, QueryResults, QueryRun};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The turn that every run of SQLite in this process waits for.
///
/// SQLite's heap limit is one for the process, and two runs side by side would each be told of memory
/// that the other has: a large `sqlite.query` made the queries of another artifact's refresh fail.
static TURN: Semaphore = Semaphore::const_new(SQLITE_RUNS.max());

/// Waits for the turn. It is held by the thread that works, not by the caller, who may be gone before
/// the thread is.
pub(crate) async fn turn() -> Option<SemaphorePermit<'static>> {
    TURN.acquire().await.ok()
}

/// Answers queries with SQLite in memory.
#[derive(Debug, Default)]
pub struct SqliteEngine;

#[async_trait]
impl QueryEngine for SqliteEngine {
    async fn run(&self, run: QueryRun) -> Result<QueryResults, QueryFault> {
        let broken = || QueryFault::new(QueryFaultKind::Failed, "the query engine broke off");
        let turn = turn().await.ok_or_else(broken)?;
        let deadline = Deadline::default();
        let watched = deadline.watch();
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            run::run(&run, &watched)
        })
        .await
        .map_err(|_| broken())?
    }
}

/// Stops the thread that watches it when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Deadline(Watch);

/// The thread's side of a deadline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_abandoned: AtomicBool,
    ends: Mutex<Option<Instant>>,
}

impl Deadline {
    /// Returns the side for the thread that works.
    pub(crate) fn watch(&self) -> Watch {
        self.0.clone()
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.0.shared.is_abandoned.store(true, Ordering::Relaxed);
    }
}

impl Watch {
    /// Starts the time of the next statement.
    pub(crate) fn start(&self, allowed: Duration) {
        let ends = Instant::now().checked_add(allowed);
        *self.shared.ends.lock().unwrap_or_else(PoisonError::into_inner) = ends;
    }

    /// Returns whether work should stop now.
    pub(crate) fn is_over(&self) -> bool {
        let ends = *self.shared.ends.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.is_abandoned.load(Ordering::Relaxed)
            || ends.is_some_and(|ends| Instant::now() >= ends)
    }
}
