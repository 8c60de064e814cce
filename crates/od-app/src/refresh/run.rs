//! Runs one refresh.

use std::sync::Arc;

use od_core::artifact::{Health, OnFailure, RefreshStatus, StaleSource};
use od_core::credential::Redactions;
use od_core::decide::{self, RefreshUnavailable};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Timestamp};
use od_core::ledger::{IfNewest, RefreshStart};
use od_core::refresh::{ChangeReport, RecordStatus};
use od_core::schedule::{SlotRun, Trigger};
use od_ports::store::{StoreError, Stored};

use super::fault::RefreshFault;
use super::recover::{CloseError, close_overdue};
use super::runner::Runner;
use super::sources::saved_call;
use crate::app::App;
use crate::app::Caller;
use crate::artifacts::Mode;
use crate::connectors::execute::ExecuteError;
use crate::connectors::{Payer, execute};
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
    /// What it is for.
    pub cause: Cause,
}

/// The cause of a refresh.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Cause {
    /// Somebody asked for it.
    #[default]
    Asked,
    /// A person opened the page when it was too old.
    Opened,
    /// A file that a source reads has changed.
    FileChanged,
    /// A slot of the schedule came. Refused if another refresh has begun since the log was read.
    Slot {
        /// The slot.
        run: SlotRun,
        /// The newest refresh of that log.
        newest: Option<RefreshId>,
        /// Who looked at the clock: the daemon, or a command.
        trigger: Trigger,
    },
}

impl Cause {
    fn start(&self, at: Timestamp) -> RefreshStart {
        let manual = RefreshStart::manual(at);
        match self {
            Self::Asked => manual,
            Self::Opened => RefreshStart { trigger: Trigger::Open, ..manual },
            Self::FileChanged => RefreshStart { trigger: Trigger::Change, ..manual },
            Self::Slot { run, newest, trigger } => RefreshStart {
                at,
                trigger: *trigger,
                actor: None,
                slot: Some(*run),
                if_newest: IfNewest::Is(newest.clone()),
            },
        }
    }
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
    /// What was taken out of the sources' outputs, as answers name it.
    pub redactions: Redactions,
    /// The number of sources that gave their data.
    pub source_count: u64,
    /// The sources that failed and kept their values.
    pub stale: Vec<StaleSource>,
}

impl Refreshed {
    /// Returns how the refresh ended, as its last record says it.
    pub fn status(&self) -> RecordStatus {
        if self.stale.is_empty() {
            RecordStatus::Succeeded
        } else {
            RecordStatus::SucceededPartially
        }
    }
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
        reason: RefreshUnavailable,
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
    /// Its source may not be run now: too many calls, another account or tool than was saved, a
    /// connector that is off. Nothing was recorded.
    #[error("the refresh was refused: {}", failure.message)]
    Refused {
        /// Why.
        failure: Box<Failure>,
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

/// Runs the sources and queries of an artifact and takes over what they give, or leaves everything as it
/// was.
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
        Mode::Commit => begin(app, request, &stored, started).await?,
        Mode::DryRun => begin_dry(app, request, stored).await?,
    };
    runner.drive(started).await
}

async fn begin<'a>(
    app: &'a App,
    request: RunRefresh,
    stored: &Stored,
    started: Timestamp,
) -> Result<Runner<'a>, RefreshError> {
    let RunRefresh { caller, project, artifact, .. } = &request;
    let key = (project.clone(), artifact.clone());
    // The map before the disk and before the rate: of two requests in this process the second is told at once,
    // and costs its caller no call.
    let entry = app.refreshes.enter(key, caller.run().cloned()).map_err(|running| {
        let running = running.id().cloned();
        RefreshError::Locked { artifact: artifact.clone(), running }
    })?;
    admit(app, &request, stored).await?;
    let start = request.cause.start(started).by(caller.actor());
    match app.ports.refresh_log.begin_refresh(project, artifact, start).await {
        Ok(running) => Ok(Runner::of_running(app, request, running, entry).await),
        // Whoever is refused for a lock is the one who comes by: nothing else looks whether its holder is past its
        // time. This request is refused all the same: a living process keeps its lock, but what it still brings
        // is refused from now on.
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
    // No lock is taken: a dry run that hangs on its provider must not keep a real refresh out.
    let history = app.ports.refresh_log.history(project, artifact).await;
    let newest = history.map_err(RefreshError::Begin)?.records.first().cloned();
    let newest = newest.map(|record| record.refresh_id);
    if stored.summary.refresh_status == RefreshStatus::Running {
        return Err(RefreshError::Locked { artifact: artifact.clone(), running: newest });
    }
    admit(app, &request, &stored).await?;
    let refresh = RefreshId::from_number(newest.map_or(0, |newest| newest.number()) + 1);
    Ok(Runner::of_dry_run(app, request, refresh, stored))
}

/// Makes every check that needs no call of the source, and counts the call: what is refused here has no
/// id and no record, so nobody fills a history with refusals.
async fn admit(app: &App, request: &RunRefresh, stored: &Stored) -> Result<(), RefreshError> {
    let payer = match request.caller.run() {
        Some(run) => Payer::Run(run.clone()),
        None => Payer::Artifact(request.project.clone(), request.artifact.clone()),
    };
    let Some(artifact) = stored.artifact() else { return Ok(()) };
    for source in artifact.sources() {
        let admitted = match saved_call(app, request, artifact, &source, payer.clone()) {
            Ok(call) => execute::admit(app, &call).await.map_err(RefreshFault::Execute),
            Err(fault) => Err(fault),
        };
        let Err(fault) = admitted else { continue };
        // One that may fail fails in the refresh, with its record; the count holds for all.
        let is_count = matches!(fault, RefreshFault::Execute(ExecuteError::OverLimit(_)));
        if source.on_failure == OnFailure::Fail || is_count {
            let mut failure = Failure::from(fault);
            if source.index.is_some() {
                failure = failure.detail("source", source.id);
            }
            return Err(RefreshError::Refused { failure: Box::new(failure) });
        }
    }
    Ok(())
}

/// Checks what has to hold before a refresh is even recorded; returns the artifact.
async fn check_request(app: &App, request: &RunRefresh) -> Result<Arc<Stored>, RefreshError> {
    let RunRefresh { caller, project, artifact, accept_drift, cause } = request;
    if *accept_drift && caller.require_person().is_err() {
        return Err(RefreshError::DriftNotYours);
    }
    if !caller.may_see(project) {
        // To an agent, another project is one that is not there.
        let project = project.clone();
        return Err(RefreshError::UnknownProject { project });
    }
    let stored = app.ports.artifacts.load(project, artifact).await.map_err(RefreshError::Begin)?;
    check_refreshable(&stored)?;
    if *cause == Cause::Opened {
        decide::refreshable_when_opened(&stored.summary, app.ports.clock.now())
            .map_err(|reason| unavailable(&stored, reason))?;
    }
    Ok(stored)
}

fn check_refreshable(stored: &Stored) -> Result<(), RefreshError> {
    let artifact = stored.artifact().filter(|_| stored.health.is_healthy()).ok_or_else(|| {
        RefreshError::NotHealthy { artifact: stored.id.clone(), health: stored.health }
    })?;
    decide::refreshable(artifact).map_err(|reason| unavailable(stored, reason))
}

fn unavailable(stored: &Stored, reason: RefreshUnavailable) -> RefreshError {
    RefreshError::Unavailable { artifact: stored.id.clone(), reason }
}

impl From<RefreshError> for Failure {
    fn from(err: RefreshError) -> Self {
        let message = err.to_string();
        match err {
            RefreshError::Unavailable { artifact, reason } => {
                Self::new(ErrorCode::LiveArtifactRefreshUnavailable, message)
                    .suggest(reason.suggestion())
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
            RefreshError::Refused { failure } => *failure,
            RefreshError::Begin(err) => failure::store(err),
            RefreshError::Overdue { fault, .. } => Self::from(fault),
            RefreshError::Failed { refresh, failure } => {
                failure.detail("refreshId", refresh.as_str())
            }
        }
    }
}
