//! Cancels a running refresh.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::refresh::{RecordStatus, Signal, StartedRefresh};
use od_ports::store::{StoreError, UnfinishedRefresh};

use super::recover::{CloseError, close};
use crate::app::App;
use crate::{Caller, failure};

/// A refresh to cancel, by its artifact.
#[derive(Clone, Debug)]
pub struct CancelRefresh {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub artifact: ArtifactId,
}

/// The end of a refresh that somebody wanted to cancel.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cancelled {
    /// The refresh.
    pub refresh: RefreshId,
    /// Cancelled, or what it was when the cancellation came too late.
    pub status: RecordStatus,
}

/// Why nothing was cancelled.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// An agent asked about a refresh that its run did not start.
    #[error("the refresh of artifact `{artifact}` was not started by this run")]
    AnothersWork {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// No refresh of the artifact runs.
    #[error("no refresh of artifact `{artifact}` is running")]
    NotRunning {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// It runs elsewhere and could not be closed.
    #[error(transparent)]
    Close(#[from] CloseError),
    /// It stopped, but its last record could not be written.
    #[error("refresh `{refresh}` was stopped, but its end could not be recorded")]
    Unrecorded {
        /// The refresh.
        refresh: RefreshId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Asks every refresh of this process to stop, and does not wait: for a daemon that shuts down.
pub fn cancel_all(app: &App) {
    app.refreshes.cancel_all();
}

/// Cancels the running refresh of an artifact and waits until it is over. An agent may cancel what its
/// own run started.
///
/// One that runs in another process is closed, for a person: whatever it still brings is refused.
pub async fn cancel(
    app: &App,
    caller: &Caller,
    request: CancelRefresh,
) -> Result<Cancelled, CancelError> {
    let CancelRefresh { project, artifact } = request;
    if !caller.may_see(&project) {
        return Err(CancelError::NotRunning { artifact });
    }
    // An unknown artifact is told apart from one that is not being refreshed.
    app.ports.artifacts.load(&project, &artifact).await?;
    let refresh = match app.refreshes.get(&(project.clone(), artifact.clone())) {
        Some(active) if caller.run().is_some_and(|run| active.run() != Some(run)) => {
            return Err(CancelError::AnothersWork { artifact });
        }
        None if caller.run().is_some() => None,
        Some(active) => {
            active.cancel();
            active.wait_until_ended().await;
            active.id().cloned()
        }
        None => match find_elsewhere(app, &project, &artifact).await? {
            Some(UnfinishedRefresh { refresh, started_at, .. }) => {
                let begun = StartedRefresh { refresh_id: refresh.clone(), started_at };
                let stopped = Signal::CancelRequested { at: app.ports.clock.now() };
                close(app, &project, &artifact, begun, stopped).await?;
                Some(refresh)
            }
            None => None,
        },
    };
    let Some(refresh) = refresh else { return Err(CancelError::NotRunning { artifact }) };
    let history = app.ports.refresh_log.history(&project, &artifact).await?;
    let last =
        history.records.iter().find(|record| record.refresh_id == refresh && record.step.is_last());
    match last.map(|record| record.status) {
        Some(status) => Ok(Cancelled { refresh, status }),
        None => Err(CancelError::Unrecorded { refresh }),
    }
}

async fn find_elsewhere(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
) -> Result<Option<UnfinishedRefresh>, StoreError> {
    let unfinished = app.ports.refresh_log.unfinished_refreshes().await?;
    Ok(unfinished
        .into_iter()
        .find(|found| found.project == *project && found.artifact == *artifact))
}

impl From<CancelError> for Failure {
    fn from(err: CancelError) -> Self {
        let message = err.to_string();
        match err {
            CancelError::AnothersWork { .. } => Self::new(ErrorCode::Forbidden, message)
                .suggest("wait for it, or ask the person to cancel it"),
            CancelError::NotRunning { artifact } => Self::new(ErrorCode::Conflict, message)
                .suggest("look at the history: the refresh may be over already")
                .detail("artifactId", artifact.as_str()),
            CancelError::Close(err) => Self::from(err),
            CancelError::Unrecorded { refresh } => {
                Self::new(ErrorCode::LiveArtifactStorageFailed, message)
                    .suggest("check free space and permissions of the data directory; the next refresh closes this one")
                    .detail("refreshId", refresh.as_str())
            }
            CancelError::Store(err) => failure::store(err),
        }
    }
}
