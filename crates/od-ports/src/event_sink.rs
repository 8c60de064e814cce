//! What the use cases tell whoever is listening.

use std::fmt;

use od_core::artifact::RefreshStatus;
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::refresh::Phase;
use serde::Serialize;

/// What happened to an artifact.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactAction {
    /// It is new, or back from the trash.
    Created,
    /// It has another revision.
    Updated,
    /// It is in the trash.
    Deleted,
}

/// The contract's `live_artifact` event.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactEvent {
    /// What happened.
    pub action: ArtifactAction,
    /// Where.
    pub project_id: ProjectId,
    /// To which artifact.
    pub artifact_id: ArtifactId,
    /// Its title.
    pub title: String,
    /// Its refresh status.
    pub refresh_status: RefreshStatus,
}

/// The contract's `live_artifact_refresh` event.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshEvent {
    /// How far it is.
    pub phase: Phase,
    /// Where.
    pub project_id: ProjectId,
    /// Of which artifact.
    pub artifact_id: ArtifactId,
    /// Which refresh.
    pub refresh_id: RefreshId,
    /// The step it is at, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Whether the data changed, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The error code of a failed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<&'static str>,
    /// What went wrong, without any payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

/// Something a listener may want to know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// An artifact changed.
    Artifact(ArtifactEvent),
    /// A refresh moved.
    Refresh(RefreshEvent),
}

impl Event {
    /// Returns the project it belongs to.
    pub const fn project(&self) -> &ProjectId {
        match self {
            Self::Artifact(event) => &event.project_id,
            Self::Refresh(event) => &event.project_id,
        }
    }

    /// Returns the event's name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Artifact(_) => "live_artifact",
            Self::Refresh(_) => "live_artifact_refresh",
        }
    }
}

/// Takes events.
///
/// # Contract
///
/// - `publish` is called after the change is durable, never before.
/// - It does not block and does not fail: a slow listener loses events, not the writer time.
pub trait EventSink: fmt::Debug + Send + Sync {
    /// Hands one event over.
    fn publish(&self, event: Event);
}
