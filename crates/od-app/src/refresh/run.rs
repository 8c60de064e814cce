//! Runs one refresh.

use std::sync::Arc;

use od_core::artifact::{Health, RefreshStatus, Status};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Timestamp};
use od_core::refresh::ChangeReport;
use od_ports::store::{StoreError, Stored};

use super::recover::{CloseError, close_overdue};
use super::runner::Runner;
use crate::app::App;
use crate::app::Caller;
use crate::artifacts::Mode;
use crate::failure;

/// A refresh to run.
#[derive(Clone, Debug)]
pub struct RunRefresh {
    /// The one who asks.
    pub caller: Caller,
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub artifact: ArtifactId,
    /// Take a changed tool or account as the new state of things. Only a person may.
    pub accept_drift: bool,
}

/// A refresh that succeeded.
#[derive(Clone, Debug)]
pub struct Refreshed {
    /// The artifact as it is now.
    pub stored: Arc<Stored>,
    /// The refresh.
    pub refresh: RefreshId,
    /// The places of the data that it changed.
    pub changes: ChangeReport,
}

impl Refreshed {
    /// The number of sources that ran.
    pub const SOURCE_COUNT: u64 = 1;
}

/// Why a refresh did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// There is nothing to refresh, or it is not allowed. Nothing was recorded.
    #[error("artifact `{artifact}` cannot be refreshed: {reason}")]
    Unavailable {
        /// The artifact.
        artifact: ArtifactId,
        /// Why not.
        reason: Unavailable,
    },
    /// An agent asked for what only a person may.
    #[error("only a person may accept a changed tool or account")]
    DriftNotYours,
    /// There is no such project, or the caller may not see it. Nothing was recorded.
    #[error("no project `{project}`")]
    UnknownProject {
        /// The id asked for.
        project: ProjectId,
    },
    /// The artifact may not be written. Nothing was recorded.
    #[error("artifact `{artifact}` is not healthy")]
    NotHealthy {
        /// The artifact.
        artifact: ArtifactId,
        /// The damage.
        health: Health,
    },
    /// Another refresh of the artifact runs. Nothing was recorded.
    #[error("artifact `{artifact}` is being refreshed")]
    Locked {
        /// The artifact.
        artifact: ArtifactId,
        /// The refresh that runs, if it is known.
        running: Option<RefreshId>,
    },
    /// The refresh could not begin. Nothing was recorded.
    #[error(transparent)]
    Begin(StoreError),
    /// Another refresh holds the lock past its time, and could not be closed. Nothing was recorded.
    #[error("an overdue refresh of artifact `{artifact}` could not be closed: {fault}")]
    Overdue {
        /// The artifact.
        artifact: ArtifactId,
        /// Why not.
        fault: CloseError,
    },
    /// The refresh began and failed; what was stored before still is.
    #[error("refresh `{refresh}` failed: {}", failure.message)]
    Failed {
        /// The refresh.
        refresh: RefreshId,
        /// Why, as the record has it in short.
        failure: Box<Failure>,
    },
}

/// Why an artifact has nothing to refresh.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unavailable {
    /// It has no source.
    #[error("it has no source")]
    NoSource,
    /// Nobody allowed it.
    #[error("refreshing it is not permitted")]
    NotPermitted,
    /// It is put away.
    #[error("it is not active")]
    NotActive,
}

/// Runs the source of an artifact and takes over what it gives, or leaves everything as it was.
///
/// Exactly one refresh of an artifact runs at a time, in all processes. Its id is durable before the
/// source runs, and its last record is the only one that ends it. A caller that may go away (a
/// connection) should run this in a task of its own: dropping it leaves a refresh that is found
/// abandoned later.
///
/// A dry run goes through the same steps, records nothing and answers under the id that the refresh
/// would get. The source is run, because it only reads and because what it gives decides most of the
/// answer.
pub async fn run(app: &App, request: RunRefresh, mode: Mode) -> Result<Refreshed, RefreshError> {
    let stored = check_request(app, &request).await?;
    let started = app.ports.clock.now();
    let runner = match mode {
        Mode::Commit => begin(app, request, started).await?,
        Mode::DryRun => begin_dry(app, request, stored).await?,
    };
    runner.drive(started).await
}

async fn begin(
    app: &App,
    request: RunRefresh,
    started: Timestamp,
) -> Result<Runner<'_>, RefreshError> {
    let RunRefresh { project, artifact, .. } = &request;
    let entry = app.refreshes.enter((project.clone(), artifact.clone())).map_err(|running| {
        let running = running.id().cloned();
        RefreshError::Locked { artifact: artifact.clone(), running }
    })?;
    match app.ports.refresh_log.begin_refresh(project, artifact, started).await {
        Ok(running) => Ok(Runner::of_running(app, request, running, entry).await),
        Err(err) => Err(match close_overdue(app, project, artifact, &err).await {
            Ok(()) => RefreshError::Begin(err),
            Err(fault) => RefreshError::Overdue { artifact: artifact.clone(), fault },
        }),
    }
}

async fn begin_dry(
    app: &App,
    request: RunRefresh,
    stored: Arc<Stored>,
) -> Result<Runner<'_>, RefreshError> {
    let RunRefresh { project, artifact, .. } = &request;
    let history = app.ports.refresh_log.history(project, artifact).await;
    let newest = history.map_err(RefreshError::Begin)?.records.into_iter().next();
    let newest = newest.map(|record| record.refresh_id);
    if stored.summary.refresh_status == RefreshStatus::Running {
        return Err(RefreshError::Locked { artifact: artifact.clone(), running: newest });
    }
    let refresh = RefreshId::from_number(newest.map_or(0, |newest| newest.number()) + 1);
    Ok(Runner::of_dry_run(app, request, refresh, stored))
}

/// Checks what has to hold before a refresh is even recorded; returns the artifact.
async fn check_request(app: &App, request: &RunRefresh) -> Result<Arc<Stored>, RefreshError> {
    let RunRefresh { caller, project, artifact, accept_drift } = request;
    if *accept_drift && *caller != Caller::Person {
        return Err(RefreshError::DriftNotYours);
    }
    if !caller.may_see(project) {
        // To an agent, another project is one that is not there.
        let project = project.clone();
        return Err(RefreshError::UnknownProject { project });
    }
    let stored = app.ports.artifacts.load(project, artifact).await.map_err(RefreshError::Begin)?;
    check_refreshable(&stored)?;
    Ok(stored)
}

fn check_refreshable(stored: &Stored) -> Result<(), RefreshError> {
    let refused = |reason| RefreshError::Unavailable { artifact: stored.id.clone(), reason };
    let not_healthy = || {
        let (artifact, health) = (stored.id.clone(), stored.health);
        RefreshError::NotHealthy { artifact, health }
    };
    if !stored.health.is_healthy() {
        return Err(not_healthy());
    }
    let artifact = stored.artifact().ok_or_else(not_healthy)?;
    match artifact.heading.status {
        Status::Active => {}
        Status::Archived | Status::Error => return Err(refused(Unavailable::NotActive)),
    }
    if artifact.source().is_none() {
        return Err(refused(Unavailable::NoSource));
    }
    if !artifact.is_refreshable(&stored.health) {
        return Err(refused(Unavailable::NotPermitted));
    }
    Ok(())
}

impl From<RefreshError> for Failure {
    fn from(err: RefreshError) -> Self {
        let message = err.to_string();
        match err {
            RefreshError::Unavailable { artifact, reason } => {
                let suggestion = match reason {
                    Unavailable::NoSource => "give the artifact a source first",
                    Unavailable::NotPermitted => {
                        "a person can permit it in the console, or with an update of the source"
                    }
                    Unavailable::NotActive => "make the artifact active first",
                };
                Self::new(ErrorCode::LiveArtifactRefreshUnavailable, message)
                    .suggest(suggestion)
                    .detail("artifactId", artifact.as_str())
            }
            RefreshError::DriftNotYours => Self::new(ErrorCode::Forbidden, message)
                .suggest("ask the person to refresh it in the console"),
            RefreshError::UnknownProject { project } => failure::unknown_project(&project),
            RefreshError::NotHealthy { artifact, health } => {
                failure::not_healthy(&artifact, health)
            }
            RefreshError::Locked { artifact, running } => {
                failure::refresh_locked(&artifact, running.as_ref())
            }
            RefreshError::Begin(err) => failure::store(err),
            RefreshError::Overdue { fault, .. } => Self::from(fault),
            RefreshError::Failed { refresh, failure } => {
                failure.detail("refreshId", refresh.as_str())
            }
        }
    }
}
