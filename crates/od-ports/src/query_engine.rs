//! An engine that answers SQL over tables in memory.

use std::fmt;

use async_trait::async_trait;
use od_core::ids::Timestamp;
use od_core::intake::InputTable;
use od_core::query::{QueryFault, ResultSet, SqlText};

/// The tables and queries of one refresh.
#[derive(Clone, Debug)]
pub struct QueryRun {
    /// The tables; no two have the same name.
    pub tables: Vec<InputTable>,
    /// The queries.
    pub queries: Vec<SqlText>,
    /// The value of the parameter `:refreshed_at`.
    pub refreshed_at: Timestamp,
}

/// One result for each query, in their order.
pub type QueryResults = Vec<Result<ResultSet, QueryFault>>;

/// Answers queries over the tables they are given with, and over nothing else.
///
/// # Contract
///
/// - A query sees the tables of its run alone, with their columns in order. Texts, integers, doubles
///   and nulls are as they are, truth values 0 and 1.
/// - No query changes what another sees; nothing outlives the run.
/// - The same tables and queries give the same results, row by row: no clock, no chance.
/// - A result has at most 500 rows; more are a fault, never a cut result.
/// - Time and memory are bounded whatever the query; the fault says which bound it was.
/// - A query that fails does not keep the next from its result.
/// - Dropping the future stops the work soon.
#[async_trait]
pub trait QueryEngine: fmt::Debug + Send + Sync {
    /// Runs the queries.
    ///
    /// # Errors
    ///
    /// Fails as a whole only if the tables cannot be loaded.
    async fn run(&self, run: QueryRun) -> Result<QueryResults, QueryFault>;
}
