//! Why a refresh that had begun changed nothing.

use od_core::error::{ErrorCode, Failure, Retry};
use od_core::limits::{self, REFRESH_TIMEOUT, SHORT_TEXT};
use od_core::refresh::{CompactError, RecordStatus};
use od_ports::store_error::StoreError;

use super::candidate::CandidateFault;
use crate::connectors::SourceRefused;
use crate::connectors::execute::ExecuteError;
use crate::store_failure;

/// Why a refresh that had begun changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum RefreshFault {
    /// The source cannot be run as it is saved.
    #[error(transparent)]
    Source(#[from] SourceRefused),
    /// The source gave nothing.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// What it gave does not become valid data, or the template does not fit it.
    #[error(transparent)]
    Candidate(#[from] CandidateFault),
    /// Someone cancelled it.
    #[error("the refresh was cancelled")]
    Cancelled,
    /// It took too long.
    #[error("the refresh did not end within {} ms", REFRESH_TIMEOUT.allowed)]
    TimedOut,
    /// The source was changed meanwhile.
    #[error("the source was changed while the refresh ran")]
    SourceChanged,
    /// Someone else closed this refresh: it was taken for dead.
    #[error("the refresh was closed by another process while it ran")]
    Fenced,
    /// The store refused or failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for RefreshFault {
    fn from(err: StoreError) -> Self {
        match err {
            StoreError::RefreshClosed { .. } => Self::Fenced,
            StoreError::RevisionConflict { .. } => Self::SourceChanged,
            err @ (StoreError::ProjectNotFound { .. }
            | StoreError::NotFound { .. }
            | StoreError::NotInTrash { .. }
            | StoreError::SnapshotNotFound { .. }
            | StoreError::Exists { .. }
            | StoreError::AttemptConflict { .. }
            | StoreError::AttemptTrashed { .. }
            | StoreError::NotHealthy { .. }
            | StoreError::RefreshLocked { .. }
            | StoreError::Busy { .. }
            | StoreError::ForeignWitness
            | StoreError::Io { .. }) => Self::Store(err),
        }
    }
}

impl RefreshFault {
    /// Returns how the refresh's last record says it ended.
    pub(super) const fn status(&self) -> RecordStatus {
        match self {
            Self::Cancelled => RecordStatus::Cancelled,
            Self::TimedOut | Self::Execute(ExecuteError::TimedOut { .. }) => RecordStatus::TimedOut,
            Self::Fenced => RecordStatus::Abandoned,
            Self::Source(_)
            | Self::Execute(_)
            | Self::Candidate(_)
            | Self::SourceChanged
            | Self::Store(_) => RecordStatus::Failed,
        }
    }

    /// Returns the compact form that goes into the record: no payload, no detail.
    pub(super) fn compact(&self) -> CompactError {
        let Failure { code, message, suggestion, .. } = Failure::from(self);
        CompactError { code, message: short(message), suggestion: Some(short(suggestion)) }
    }
}

/// Cuts a text to what a record may hold.
fn short(mut text: String) -> String {
    while limits::utf16_len(&text) > SHORT_TEXT.max() {
        text.pop();
    }
    text
}

impl From<&RefreshFault> for Failure {
    fn from(err: &RefreshFault) -> Self {
        let message = err.to_string();
        match err {
            RefreshFault::Source(err) => Self::from(err),
            RefreshFault::Execute(ExecuteError::TimedOut { .. }) | RefreshFault::TimedOut => {
                Self::new(ErrorCode::RefreshTimedOut, message)
                    .suggest("ask the source for less, or refresh again later")
            }
            RefreshFault::Execute(err) => Self::from(err),
            RefreshFault::Candidate(err) => Self::from(err),
            RefreshFault::Cancelled => {
                Self::new(ErrorCode::RefreshCancelled, message).suggest("refresh again when ready")
            }
            RefreshFault::SourceChanged => Self::new(ErrorCode::RevisionConflict, message)
                .retry(Retry::RetryableImmediate)
                .suggest("refresh again: the new source will be used"),
            RefreshFault::Fenced => Self::new(ErrorCode::RefreshAbandoned, message)
                .suggest("refresh again; this one ran past its time"),
            RefreshFault::Store(err) => store_failure::of(err),
        }
    }
}
