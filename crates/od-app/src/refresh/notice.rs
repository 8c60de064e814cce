//! What listeners are told of a refresh.

use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::refresh::{Notice, RecordStep};
use od_ports::event_sink::{Event, RefreshEvent};

use crate::app::App;

/// Tells listeners how far a refresh is.
pub(super) fn publish(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    refresh: &RefreshId,
    notice: Notice,
) {
    let phase = notice.phase();
    let (step, changed, error) = match notice {
        Notice::Started => (None, None, None),
        Notice::SourceRan => (Some(RecordStep::Source.as_str().to_owned()), None, None),
        Notice::Succeeded { changed } => (None, Some(changed), None),
        Notice::Failed(error) => (None, None, Some(error)),
    };
    app.ports.events.publish(Event::Refresh(RefreshEvent {
        phase,
        project_id: project.clone(),
        artifact_id: artifact.clone(),
        refresh_id: refresh.clone(),
        step,
        changed,
        error_code: error.as_ref().map(|error| error.code.as_str()),
        error_message: error.map(|error| error.message),
    }));
}
