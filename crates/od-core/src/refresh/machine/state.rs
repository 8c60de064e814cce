//! Where a refresh stands.

use crate::ids::{RefreshId, Timestamp};
use crate::refresh::{
    ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord,
};

/// Where a refresh stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RefreshState {
    /// The lock is held; the refresh has no id yet.
    Requested,
    /// The source runs.
    Running(StartedRefresh),
    /// The source gave its output; the candidate is built and rendered.
    Building(StartedRefresh, Option<RecordConnector>),
    /// The candidate is being committed, together with its last record. It can no longer be stopped.
    Committing(StartedRefresh, ChangeReport),
    /// The outcome is decided; the last record is being written.
    Recording(StartedRefresh, Outcome),
    /// It is over and the data is what the source gave.
    Succeeded(RefreshId, ChangeReport),
    /// It is over and the data before it is kept.
    Failed(RefreshId, CompactError),
}

impl RefreshState {
    /// Returns whether the refresh is over.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Succeeded(..) | Self::Failed(..))
    }

    /// Returns the state's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Running(_) => "running",
            Self::Building(..) => "building",
            Self::Committing(..) => "committing",
            Self::Recording(..) => "recording",
            Self::Succeeded(..) => "succeeded",
            Self::Failed(..) => "failed",
        }
    }
}

/// A refresh that has its id.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedRefresh {
    /// The refresh.
    pub refresh_id: RefreshId,
    /// When it began.
    pub started_at: Timestamp,
}

impl StartedRefresh {
    /// Makes a record of this refresh.
    pub(super) fn record(
        &self,
        step: RecordStep,
        status: RecordStatus,
        at: Timestamp,
    ) -> RefreshRecord {
        let mut record = RefreshRecord::new(self.refresh_id.clone(), step, status, at);
        record.duration_ms = Some(at.ms_since(self.started_at));
        record
    }
}

/// The outcome of a refresh, before its last record is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The source gave what was there already: there is nothing to commit.
    Unchanged(ChangeReport),
    /// It failed.
    Failed(CompactError),
}
