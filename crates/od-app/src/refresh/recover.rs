//! Closes refreshes that nobody will finish.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::limits::REFRESH_TIMEOUT;
use od_core::refresh::{
    Effect, InvalidTransition, RecordStep, RefreshState, Signal, StartedRefresh, step,
};
use od_ports::store::{StoreError, UnfinishedRefresh, Unrecovered};

use crate::app::App;
use crate::failure;

/// Why nothing could be recovered.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RecoverError(#[from] StoreError);

impl From<RecoverError> for Failure {
    fn from(err: RecoverError) -> Self {
        failure::store(err.0)
    }
}

/// The refreshes and commits that start-up found unfinished after a crash.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The refreshes that are over now.
    pub closed: Vec<RefreshId>,
    /// The refreshes that could not be closed, and why: they are found again later.
    pub left: Vec<(RefreshId, CloseError)>,
    /// The artifacts whose interrupted commits could not be finished: they are served as they are.
    pub unrecovered: Vec<Unrecovered>,
}

/// Whether a refresh was still open when it was closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Closed {
    /// It was, and this ended it.
    Now,
    /// It had its last record already, from its own process or another one that found it.
    Before,
}

/// Why a refresh could not be closed on behalf of whoever ran it.
#[derive(Debug, thiserror::Error)]
pub enum CloseError {
    /// Its last record could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state machine has no such move: a fault of this program.
    #[error(transparent)]
    Machine(#[from] InvalidTransition),
    /// The state machine wants something that only the refresh itself can do: a fault of this program.
    #[error("closing a refresh from outside cannot do what was asked: {effect}")]
    Effect {
        /// The effect.
        effect: &'static str,
    },
}

impl From<CloseError> for Failure {
    fn from(err: CloseError) -> Self {
        match err {
            CloseError::Store(err) => failure::store(err),
            CloseError::Machine(_) | CloseError::Effect { .. } => {
                Self::new(ErrorCode::Internal, err.to_string())
            }
        }
    }
}

/// Finishes interrupted commits, then closes every refresh whose process is gone or that is past its
/// time. For start-up. One that cannot be closed keeps none of the others open.
pub async fn recover(app: &App) -> Result<Recovered, RecoverError> {
    // Commits first: one that is rolled forward brings the last record of its refresh along, which would
    // otherwise be found open here and be called abandoned although its data is the current one.
    let unrecovered = app.ports.maintenance.recover().await?;
    let at = app.ports.clock.now();
    let mut recovered = Recovered { unrecovered, ..Recovered::default() };
    for found in app.ports.refresh_log.unfinished_refreshes().await? {
        // A lock dies with its holder, so a free one is proof. A held one may be a stopped process: it keeps the
        // lock, and loses the refresh once its time is over.
        let event = if !found.lock_held {
            Signal::HolderLost { at }
        } else if at.ms_since(found.started_at) > REFRESH_TIMEOUT.allowed {
            Signal::DeadlinePassed { at }
        } else {
            continue;
        };
        let UnfinishedRefresh { project, artifact, refresh, started_at, .. } = found;
        let begun = StartedRefresh { refresh_id: refresh.clone(), started_at };
        match close(app, &project, &artifact, begun, event).await {
            Ok(Closed::Now) => recovered.closed.push(refresh),
            Ok(Closed::Before) => {}
            Err(err) => recovered.left.push((refresh, err)),
        }
    }
    Ok(recovered)
}

/// Closes the refresh that holds the lock, if it is past its time: its holder is stopped or hangs.
///
/// The lock itself cannot be taken from a living process; but whatever it still brings is refused.
pub(super) async fn close_overdue(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    refused: &StoreError,
) -> Result<(), CloseError> {
    let StoreError::RefreshLocked { running: Some(running), .. } = refused else { return Ok(()) };
    let history = app.ports.refresh_log.history(project, artifact).await?;
    let started = history
        .records
        .iter()
        .find(|record| record.refresh_id == *running && record.step == RecordStep::Started);
    let Some(started_at) = started.map(|record| record.at) else { return Ok(()) };
    let at = app.ports.clock.now();
    if at.ms_since(started_at) > REFRESH_TIMEOUT.allowed {
        let begun = StartedRefresh { refresh_id: running.clone(), started_at };
        close(app, project, artifact, begun, Signal::DeadlinePassed { at }).await?;
    }
    Ok(())
}

/// Ends a refresh on behalf of whoever ran it.
pub(super) async fn close(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    begun: StartedRefresh,
    event: Signal,
) -> Result<Closed, CloseError> {
    let refresh = begun.refresh_id.clone();
    // How far it had come nobody knows; that it runs is all that can be said from outside.
    let mut moved = step(RefreshState::Running(begun), event)?;
    loop {
        let (state, effects) = moved;
        let mut is_recorded = false;
        for effect in effects {
            match effect {
                Effect::AppendLast(record) => {
                    match app.ports.refresh_log.append_record(project, artifact, *record).await {
                        Ok(()) => is_recorded = true,
                        Err(StoreError::RefreshClosed { .. }) => return Ok(Closed::Before),
                        Err(err) => return Err(err.into()),
                    }
                }
                Effect::Publish(told) => {
                    app.publish_refresh(project, artifact, &refresh, told);
                }
                // The lock is its holder's; a dead one's is free already.
                Effect::ReleaseLock => {}
                Effect::AppendStep(_) => return Err(beyond("append a step")),
                Effect::ExecuteSource => return Err(beyond("execute the source")),
                Effect::BuildCandidate => return Err(beyond("build a candidate")),
                Effect::Commit(_) => return Err(beyond("commit")),
                Effect::PublishUpdate => return Err(beyond("publish an update")),
            }
        }
        if !is_recorded {
            return Ok(Closed::Now);
        }
        moved = step(state, Signal::Recorded)?;
    }
}

fn beyond(effect: &'static str) -> CloseError {
    CloseError::Effect { effect }
}
