//! The runs of agents.

use std::fmt;
use std::io;

use async_trait::async_trait;
use od_core::ids::{AgentName, ProjectId, RunId, Timestamp};
use od_core::token::{Endpoint, Operation};
use serde::{Deserialize, Serialize};

/// Whether a run may still act.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It may, while its lease lasts.
    Live,
    /// It is over, for good.
    Ended,
}

/// One run of an agent: what its token is checked against. Never the token itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The run's id.
    pub id: RunId,
    /// The project it works in.
    pub project_id: ProjectId,
    /// The program that the agent is, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Whether it may still act.
    pub state: RunState,
    /// When it began.
    pub started_at: Timestamp,
    /// Until when it may act, unless renewed.
    pub lease_until: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The endpoints its token covers.
    pub endpoints: Vec<Endpoint>,
    /// The operations its token covers.
    pub operations: Vec<Operation>,
}

impl Run {
    /// Returns whether the run may act at a time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.state == RunState::Live && now < self.lease_until
    }

    /// Returns whether the run was over at a time: ended, or its lease lapsed.
    pub fn was_over_at(&self, time: Timestamp) -> bool {
        self.ended_at.unwrap_or(self.lease_until) <= time
    }
}

/// Keeps the state of every run.
///
/// # Contract
///
/// - `create` and `replace` are atomic and durable before they return.
/// - Of two concurrent `replace` calls with the same `from` exactly one succeeds.
/// - A run whose record cannot be read is an error, never `None` and never a live run.
/// - `forget` removes no run that was not over at the time it is given; one that cannot be read stays.
#[async_trait]
pub trait RunStore: fmt::Debug + Send + Sync {
    /// Adds a run.
    async fn create(&self, run: &Run) -> Result<(), RunStoreError>;
    /// Returns a run, or `None` if there is no such run. Read afresh every time.
    async fn get(&self, run: &RunId) -> Result<Option<Run>, RunStoreError>;
    /// Moves a run from one state to another, or fails with [`RunStoreError::Changed`].
    async fn replace(&self, from: &Run, to: &Run) -> Result<(), RunStoreError>;
    /// Removes the runs that were over at a time.
    async fn forget(&self, over_at: Timestamp) -> Result<(), RunStoreError>;
}

/// The reason runs could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    /// There is a run of that id already.
    #[error("run `{run}` exists already")]
    Exists {
        /// The id.
        run: RunId,
    },
    /// Someone else changed it first.
    #[error("run `{run}` has changed")]
    Changed {
        /// The run.
        run: RunId,
    },
    /// The run's record cannot be read.
    #[error("the record of run `{run}` cannot be read")]
    Damaged {
        /// The run.
        run: RunId,
    },
    /// The disk refused.
    #[error("could not {action}")]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}
