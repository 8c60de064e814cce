//! What listeners are told of a refresh.

use od_core::event::{Event, RefreshEvent};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::refresh::Notice;

use crate::app::App;

/// Tells listeners how far a refresh is.
pub(super) fn publish(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
    refresh: &RefreshId,
    notice: Notice,
) {
    let event = RefreshEvent::new(project.clone(), artifact.clone(), refresh.clone(), notice);
    app.ports.events.publish(Event::Refresh(event));
}
