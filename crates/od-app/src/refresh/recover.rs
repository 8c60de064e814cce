//! Closes refreshes that nobody will finish.

use od_core::error::Failure;
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::limits::REFRESH_TIMEOUT;
use od_core::refresh::{Begun, Effect, Event, RecordStep, RefreshState, step};
use od_ports::inspection::Unrecovered;
use od_ports::refresh_log::UnfinishedRefresh;
use od_ports::store_error::StoreError;

use super::notice;
use crate::app::App;
use crate::store_failure;

/// Why nothing could be recovered.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RecoverError(#[from] StoreError);

impl From<&RecoverError> for Failure {
    fn from(err: &RecoverError) -> Self {
        store_failure::of(&err.0)
    }
}

/// What was recovered.
#[derive(Debug)]
pub struct Recovered {
    /// The refreshes that were closed.
    pub closed: Vec<RefreshId>,
    /// The artifacts for which that did not work; they are served as they are.
    pub failed: Vec<Unrecovered>,
}

/// Finishes interrupted commits, then closes every refresh whose process is gone or that is past its
/// time. For start-up.
pub async fn recover(app: &App) -> Result<Recovered, RecoverError> {
    let failed = app.ports.artifacts.recover().await?;
    let at = app.ports.clock.now();
    let mut closed = Vec::new();
    for found in app.ports.artifacts.unfinished_refreshes().await? {
        let event = if !found.lock_held {
            Event::HolderLost { at }
        } else if at.ms_since(found.started_at) > REFRESH_TIMEOUT.allowed {
            Event::DeadlinePassed { at }
        } else {
            continue;
        };
        let UnfinishedRefresh { project, artifact, refresh, started_at, .. } = found;
        let begun = Begun { refresh_id: refresh.clone(), started_at };
        if close(app, &project, &artifact, begun, event).await {
            closed.push(refresh);
        }
    }
    Ok(Recovered { closed, failed })
}

/// Closes the refresh that holds the lock, if it is past its time: its holder is stopped or hangs.
///
/// The lock itself cannot be taken from a living process; but whatever it still brings is refused.
pub(super) async fn close_overdue(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    refused: &StoreError,
) {
    let StoreError::RefreshLocked { running: Some(running), .. } = refused else { return };
    let Ok(history) = app.ports.artifacts.history(project, artifact).await else { return };
    let started = history
        .records
        .iter()
        .find(|record| record.refresh_id == *running && record.step == RecordStep::Started);
    let Some(started_at) = started.map(|record| record.at) else { return };
    let at = app.ports.clock.now();
    if at.ms_since(started_at) > REFRESH_TIMEOUT.allowed {
        let begun = Begun { refresh_id: running.clone(), started_at };
        close(app, project, artifact, begun, Event::DeadlinePassed { at }).await;
    }
}

/// Ends a refresh on behalf of whoever ran it. Returns whether it was open.
pub(super) async fn close(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    begun: Begun,
    event: Event,
) -> bool {
    let refresh = begun.refresh_id.clone();
    // How far it had come nobody knows; that it runs is all that can be said from outside.
    let Ok((state, effects)) = step(RefreshState::Running(begun), event) else { return false };
    for effect in effects {
        if let Effect::AppendLast(record) = effect
            && app.ports.artifacts.append_record(project, artifact, *record).await.is_err()
        {
            // Closed already, by its own process or by another one that found it.
            return false;
        }
    }
    let Ok((_, effects)) = step(state, Event::Recorded) else { return false };
    for effect in effects {
        if let Effect::Publish(told) = effect {
            notice::publish(app, project, artifact, &refresh, told);
        }
    }
    true
}
