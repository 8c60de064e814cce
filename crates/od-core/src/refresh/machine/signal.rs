//! The signals that move a refresh.

use crate::artifact::{OnFailure, StaleSource};
use crate::ids::{RefreshId, Revision, SourceId, Timestamp};
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
    /// The sources have run, each to its output or to its failure.
    SourcesRan {
        /// When.
        at: Timestamp,
        /// Each of them, in the order of the document; those that were still running when one that
        /// has to succeed failed are not among them.
        ran: Vec<SourceRan>,
    },
    /// The candidate is valid and renders.
    CandidateBuilt {
        /// When.
        at: Timestamp,
        /// The difference of its data.
        changes: ChangeReport,
        /// The sources that failed and kept their values.
        stale: Vec<StaleSource>,
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

/// One source that ran, or was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRan {
    /// Its id, where the artifact names its sources.
    pub source: Option<SourceId>,
    /// When it was done.
    pub at: Timestamp,
    /// How many rows it gave, where queries read them.
    pub rows: Option<u64>,
    /// The effect of its failure.
    pub on_failure: OnFailure,
    /// The call that ran, or why it gave nothing.
    pub outcome: Result<Option<RecordConnector>, CompactError>,
}

impl Signal {
    /// Returns the signal's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::SourcesRan { .. } => "sources_ran",
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
