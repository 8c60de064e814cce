//! The effects that a refresh asks its caller for.

use crate::refresh::{CompactError, RefreshRecord};
use crate::words::words;

/// One thing to do after a transition, in order. Its result is the next signal; the effects after
/// one that failed are not carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append the record of a step to the history.
    AppendStep(Box<RefreshRecord>),
    /// Append the refresh's last record to the history.
    AppendLast(Box<RefreshRecord>),
    /// Run the source under its deadline.
    ExecuteSource,
    /// Map, check and render the output.
    BuildCandidate,
    /// Commit the candidate, with this last record and the snapshot: all or nothing.
    Commit(Box<RefreshRecord>),
    /// Tell listeners how far the refresh is.
    Publish(Notice),
    /// Tell listeners that the artifact has another revision.
    PublishUpdate,
    /// Let go of the refresh lock.
    ReleaseLock,
}

/// The news of a refresh that listeners get.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notice {
    /// It began.
    Started,
    /// The source has run.
    SourceRan,
    /// It succeeded.
    Succeeded {
        /// Whether the data is different.
        changed: bool,
    },
    /// It failed, was cancelled, timed out, or was abandoned.
    Failed(CompactError),
}

impl Notice {
    /// Returns how far the refresh is.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Started => Phase::Started,
            Self::SourceRan => Phase::Progress,
            Self::Succeeded { .. } => Phase::Succeeded,
            Self::Failed(_) => Phase::Failed,
        }
    }
}

words! {
    /// How far a refresh is.
    Phase {
        /// Its id is allocated.
        Started = "started",
        /// A step of it ended.
        Progress = "progress",
        /// It committed, or found nothing changed.
        Succeeded = "succeeded",
        /// It ended without a change.
        Failed = "failed",
    }
}
