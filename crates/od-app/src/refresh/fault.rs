//! Why a refresh that had begun changed nothing.

use od_core::artifact::{Health, PageRefused};
use od_core::decide::RefreshRefused;
use od_core::error::{ErrorCode, Failure, Retry};
use od_core::ids::ArtifactId;
use od_core::intake::RowsFault;
use od_core::limits::{INTAKE_REFRESH, JSON_DOCUMENT, RENDERED_PREVIEW};
use od_core::refresh::{CompactError, InvalidTransition, MappingError};
use od_core::template::RenderError;
use od_ports::store::StoreError;

use super::gather::QueriesFailed;
use super::recover::CloseError;
use crate::artifacts::BeginError;
use crate::connectors::SourceRefused;
use crate::connectors::execute::ExecuteError;
use crate::failure;

const SUGGEST_FIT: &str = "change the template, or the mapping, so that they fit each other";

/// Why a refresh that had begun changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum RefreshFault {
    /// The source cannot be run as it is saved.
    #[error(transparent)]
    Source(#[from] SourceRefused),
    /// The source gave nothing.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The output does not become valid data, or the template does not fit it.
    #[error(transparent)]
    Refused(#[from] RefreshRefused),
    /// The rows of a source cannot be read as a table.
    #[error(transparent)]
    Rows(#[from] RowsFault),
    /// The queries gave nothing.
    #[error(transparent)]
    Queries(#[from] QueriesFailed),
    /// The sources gave more than one refresh may read.
    #[error("the sources gave {measured} bytes, and one refresh reads {}", INTAKE_REFRESH.want())]
    IntakeTooLarge {
        /// The bytes of all outputs.
        measured: usize,
    },
    /// Someone cancelled it.
    #[error("{}", CompactError::cancelled().message)]
    Cancelled,
    /// It took too long.
    #[error("{}", CompactError::timed_out().message)]
    TimedOut,
    /// The source was changed meanwhile.
    #[error("the source was changed while the refresh ran")]
    SourceChanged,
    /// The refresh before it died and could not be closed.
    #[error("the refresh before this one could not be closed: {0}")]
    LeftOpen(CloseError),
    /// The artifact may not be written.
    #[error("artifact `{artifact}` is not healthy")]
    NotHealthy {
        /// The artifact.
        artifact: ArtifactId,
        /// The damage.
        health: Health,
    },
    /// Someone else closed this refresh: it was taken for dead.
    #[error("the refresh was closed by another process while it ran")]
    Fenced,
    /// The store refused or failed.
    #[error(transparent)]
    Store(StoreError),
    /// A step came that the state machine does not know: a fault of this program.
    #[error(transparent)]
    Machine(InvalidTransition),
    /// A step was asked for before what it needs was there: a fault of this program.
    #[error("a step of the refresh was asked for before there was {lacks}")]
    OutOfOrder {
        /// The thing it needs.
        lacks: &'static str,
    },
}

impl From<BeginError> for RefreshFault {
    fn from(err: BeginError) -> Self {
        match err {
            BeginError::NotHealthy { artifact, health } => Self::NotHealthy { artifact, health },
            BeginError::Store(err) => err.into(),
        }
    }
}

impl From<StoreError> for RefreshFault {
    fn from(err: StoreError) -> Self {
        match err {
            StoreError::RefreshClosed { .. } => Self::Fenced,
            err @ (StoreError::RevisionConflict { .. }
            | StoreError::ProjectNotFound { .. }
            | StoreError::NotFound { .. }
            | StoreError::NotInTrash { .. }
            | StoreError::SnapshotNotFound { .. }
            | StoreError::RevisionNotFound { .. }
            | StoreError::RevisionDamaged { .. }
            | StoreError::Exists { .. }
            | StoreError::AttemptConflict { .. }
            | StoreError::AttemptTrashed { .. }
            | StoreError::NotHealthy { .. }
            | StoreError::RefreshLocked { .. }
            | StoreError::RefreshOvertaken { .. }
            | StoreError::Busy { .. }
            | StoreError::ForeignWitness
            | StoreError::Unavailable { .. }
            | StoreError::Io { .. }) => Self::Store(err),
        }
    }
}

impl From<RefreshFault> for Failure {
    fn from(err: RefreshFault) -> Self {
        let message = err.to_string();
        match err {
            RefreshFault::Source(err) => Self::from(err),
            RefreshFault::TimedOut => Self::from(CompactError::timed_out()),
            RefreshFault::Execute(ExecuteError::TimedOut { .. }) => {
                let ended = Self::from(CompactError::timed_out());
                Self { message, ..ended }
            }
            RefreshFault::Execute(err) => Self::from(err),
            RefreshFault::Refused(refused) => refused_failure(&refused),
            RefreshFault::Rows(fault) => {
                let failure = Self::new(ErrorCode::QueryFailed, message);
                match fault {
                    RowsFault::Unresolved { path, .. } => failure
                        .suggest("name the path of the rows in `rows`, or leave it out")
                        .detail("rows", path.as_str()),
                    RowsFault::TooManyColumns { .. } | RowsFault::TooManyCells { .. } => {
                        failure.suggest("name narrower rows in `rows`, or ask the source for less")
                    }
                }
            }
            RefreshFault::Queries(QueriesFailed::Refused(refused)) => Self::from(refused),
            RefreshFault::Queries(QueriesFailed::History(err)) => failure::store(err),
            RefreshFault::Queries(QueriesFailed::Tables(_) | QueriesFailed::HistoryRows(_)) => {
                Self::new(ErrorCode::QueryFailed, message).suggest("ask the sources for less")
            }
            RefreshFault::IntakeTooLarge { measured } => {
                Self::new(ErrorCode::OutputTooLarge, message)
                    .suggest("ask the sources for less")
                    .detail("limit", INTAKE_REFRESH.want())
                    .detail("measured", measured)
            }
            RefreshFault::Cancelled => Self::from(CompactError::cancelled()),
            RefreshFault::SourceChanged => Self::new(ErrorCode::RevisionConflict, message)
                .retry(Retry::RetryableImmediate)
                .suggest("refresh again: the new source will be used"),
            RefreshFault::NotHealthy { artifact, health } => {
                failure::not_healthy(&artifact, health)
            }
            RefreshFault::Fenced => Self::new(ErrorCode::RefreshAbandoned, message)
                .suggest("refresh again; this one ran past its time"),
            RefreshFault::Store(err) => failure::store(err),
            RefreshFault::LeftOpen(err) => Self::from(err),
            RefreshFault::Machine(_) | RefreshFault::OutOfOrder { .. } => {
                Self::new(ErrorCode::Internal, message)
            }
        }
    }
}

fn refused_failure(refused: &RefreshRefused) -> Failure {
    let code = refused.code();
    match refused {
        RefreshRefused::Mapping { source_id, fault } => {
            let failure = Failure { message: refused.to_string(), ..mapping_failure(fault) };
            match source_id {
                Some(id) => failure.detail("source", id.as_str()),
                None => failure,
            }
        }
        RefreshRefused::Redacted { .. } => Failure::validation(code, &refused.issues()),
        RefreshRefused::Limits { faults } => {
            not_stored(code, refused).detail("limit", faults.limit())
        }
        RefreshRefused::Data { .. } => not_stored(code, refused),
        RefreshRefused::Page(PageRefused::Template(_) | PageRefused::NewerFormat { .. }) => {
            Failure::new(code, "the stored template does not compile").suggest(SUGGEST_FIT)
        }
        RefreshRefused::Page(page @ PageRefused::Data(faults)) => {
            let message = format!("the template does not fit the refreshed data: {page}");
            let failure = Failure::new(code, message);
            match faults[..] {
                [RenderError::TooLarge { measured }] => failure
                    .suggest("map fewer rows, or repeat less in the template")
                    .detail("limit", RENDERED_PREVIEW.want())
                    .detail("measured", measured)
                    .detail("allowed", RENDERED_PREVIEW.allowed)
                    .detail("howMeasured", RENDERED_PREVIEW.how_measured),
                [..] => failure.suggest(SUGGEST_FIT),
            }
        }
    }
}

fn not_stored(code: ErrorCode, refused: &RefreshRefused) -> Failure {
    let failure = Failure::validation(code, &refused.issues());
    let message = format!("the refreshed data cannot be stored: {}", failure.message);
    Failure { message, ..failure }
}

fn mapping_failure(fault: &MappingError) -> Failure {
    let failure = Failure::new(fault.code(), fault.to_string());
    match fault {
        MappingError::Unresolved { from, nearest, outline } => failure
            .suggest(format!("map from one of: {}", nearest.join(", ")))
            .detail("from", from.as_str())
            .detail("nearest", nearest.clone())
            .detail("output", outline.clone()),
        MappingError::Blocked { to, .. } => failure
            .suggest("map to a place below an object, or change what stands on the way")
            .detail("to", to.as_str()),
        MappingError::Transform { .. } => {
            failure.suggest("use the transform that fits the value, or `identity`")
        }
        MappingError::TooLarge { measured, .. } => failure
            .suggest(
                "map a smaller part, use `compact_table`, or write a query that picks the rows",
            )
            .detail("limit", JSON_DOCUMENT.want())
            .detail("measured", *measured)
            .detail("allowed", JSON_DOCUMENT.allowed)
            .detail("howMeasured", JSON_DOCUMENT.how_measured),
        MappingError::NotAnObject { .. } => failure.suggest(
            "give `outputMapping.dataPaths`, such as [{\"from\": \"$\", \"to\": \"rows\"}]",
        ),
    }
}
