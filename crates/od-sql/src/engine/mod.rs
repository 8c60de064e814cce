//! SQLite in memory as the engine of an artifact's queries.

pub(crate) mod authorizer;
pub(crate) mod deadline;
pub(crate) mod fault;
mod functions;
mod load;
mod percentile;
mod run;
mod texts;

use std::sync::Arc;

use async_trait::async_trait;
use od_core::query::{QueryFault, QueryFaultKind};
use od_ports::query_engine::{QueryEngine, QueryResults, QueryRun};
use tokio::sync::Semaphore;

use deadline::Deadline;

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
