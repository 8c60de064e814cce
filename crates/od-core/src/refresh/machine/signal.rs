//! The signals that move a refresh.

use crate::ids::{RefreshId, Revision, Timestamp};
use crate::refresh::{ChangeReport, CompactError, RecordConnector, RefreshRecord};

/// Something that happened to a refresh. Time arrives here.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// The id was allocated: its first record is durable.
    Started {
        /// The refresh.
        refresh_id: RefreshId,
        /// When.
        at: Timestamp,
    },
    /// The source gave its output, protected.
    SourceSucceeded {
        /// When.
        at: Timestamp,
        /// The connector call that ran.
        connector: Option<RecordConnector>,
    },
    /// The source failed, or was refused.
    SourceFailed {
        /// When.
        at: Timestamp,
        /// Why.
        error: CompactError,
    },
    /// The candidate is valid and renders.
    CandidateBuilt {
        /// When.
        at: Timestamp,
        /// The difference of its data.
        changes: ChangeReport,
        /// The revision it would be; none if there is nothing to commit.
        revision: Option<Revision>,
    },
    /// A step that is not the last one failed: the candidate, the commit, or the record of a step.
    StepFailed {
        /// When.
        at: Timestamp,
        /// Why.
        error: CompactError,
    },
    /// The candidate is committed, its last record with it.
    Committed,
    /// The last record is written.
    Recorded,
    /// The last record could not be written.
    RecordRefused {
        /// When.
        at: Timestamp,
        /// Why.
        error: CompactError,
    },
    /// There was a last record already: a commit that only looked as if it had failed, or someone
    /// else who took the refresh for dead.
    FoundClosed {
        /// That record.
        record: Box<RefreshRecord>,
    },
    /// Someone asked to stop.
    CancelRequested {
        /// When.
        at: Timestamp,
    },
    /// The refresh ran past its time.
    DeadlinePassed {
        /// When.
        at: Timestamp,
    },
    /// The process that ran it is gone.
    HolderLost {
        /// When that was found.
        at: Timestamp,
    },
}

impl Signal {
    /// Returns the signal's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::SourceSucceeded { .. } => "source_succeeded",
            Self::SourceFailed { .. } => "source_failed",
            Self::CandidateBuilt { .. } => "candidate_built",
            Self::StepFailed { .. } => "step_failed",
            Self::Committed => "committed",
            Self::Recorded => "recorded",
            Self::RecordRefused { .. } => "record_refused",
            Self::FoundClosed { .. } => "found_closed",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::DeadlinePassed { .. } => "deadline_passed",
            Self::HolderLost { .. } => "holder_lost",
        }
    }
}
