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
use od_core::query::{QueryFault, QueryFaultKind};
use od_ports::query_engine::{QueryEngine, QueryResults, QueryRun};
use tokio::sync::Semaphore;

/// Answers queries with SQLite in memory.
///
/// One run at a time: SQLite's heap limit is one for the process, and two runs side by side would
/// each be told of memory that the other has.
#[derive(Debug)]
pub struct SqliteEngine {
    turn: Arc<Semaphore>,
}

impl Default for SqliteEngine {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)) }
    }
}

#[async_trait]
impl QueryEngine for SqliteEngine {
    async fn run(&self, run: QueryRun) -> Result<QueryResults, QueryFault> {
        let broken = || QueryFault::new(QueryFaultKind::Failed, "the query engine broke off");
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| broken())?;
        let deadline = Deadline::default();
        let watched = deadline.watch();
        tokio::task::spawn_blocking(move || {
            // Held by the thread, not by the caller, who may be gone before the thread is.
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
