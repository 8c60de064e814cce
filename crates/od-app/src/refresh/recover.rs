//! Closes refreshes that nobody will finish.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::limits::REFRESH_TIMEOUT;
use od_core::refresh::{CompactError, RecordStatus, RecordStep, RefreshRecord};
use od_ports::event_sink::{Event, RefreshEvent, RefreshPhase};
use od_ports::store_error::StoreError;

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

/// Finishes interrupted commits, then closes every refresh whose process is gone or that is past its
/// time. For start-up. Returns the refreshes it closed.
pub async fn recover(app: &App) -> Result<Vec<RefreshId>, RecoverError> {
    app.ports.artifacts.recover().await?;
    let now = app.ports.clock.now();
    let mut closed = Vec::new();
    for found in app.ports.artifacts.unfinished_refreshes().await? {
        let status = if !found.lock_held {
            RecordStatus::Abandoned
        } else if now.ms_since(found.started_at) > REFRESH_TIMEOUT.allowed {
            RecordStatus::TimedOut
        } else {
            continue;
        };
        if close(app, &found.project, &found.artifact, &found.refresh, status).await {
            closed.push(found.refresh);
        }
    }
    Ok(closed)
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
    let now = app.ports.clock.now();
    if started.is_some_and(|record| now.ms_since(record.at) > REFRESH_TIMEOUT.allowed) {
        close(app, project, artifact, running, RecordStatus::TimedOut).await;
    }
}

/// Writes a refresh's last record on behalf of whoever ran it. Returns whether it was open.
pub(super) async fn close(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    refresh: &RefreshId,
    status: RecordStatus,
) -> bool {
    let code = match status {
        RecordStatus::Cancelled => ErrorCode::RefreshCancelled,
        RecordStatus::TimedOut => ErrorCode::RefreshTimedOut,
        RecordStatus::Abandoned
        | RecordStatus::Failed
        | RecordStatus::Running
        | RecordStatus::Succeeded => ErrorCode::RefreshAbandoned,
    };
    let at = app.ports.clock.now();
    let mut record = RefreshRecord::new(refresh.clone(), RecordStep::last(status), status, at);
    record.error = Some(CompactError {
        code,
        message: code.doc().to_owned(),
        suggestion: Some("refresh again".to_owned()),
    });
    if app.ports.artifacts.append_record(project, artifact, record).await.is_err() {
        // Closed already, by its own process or by another one that found it.
        return false;
    }
    app.ports.events.publish(Event::Refresh(RefreshEvent {
        phase: RefreshPhase::Failed,
        project_id: project.clone(),
        artifact_id: artifact.clone(),
        refresh_id: refresh.clone(),
        step: None,
        changed: None,
        error_code: Some(code.as_str()),
        error_message: Some(code.doc().to_owned()),
    }));
    true
}
