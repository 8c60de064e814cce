//! What a follower reads: the data of each event.

use od_core::artifact::RefreshStatus;
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::refresh::Phase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The names of the events on the wire, `ready` first on every stream.
pub const EVENT_NAMES: [&str; 4] = ["ready", "resync", "live_artifact", "live_artifact_refresh"];

/// Data of `ready`: whether the stream goes on from the id that was sent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Ready {
    /// False on a first connection, and when something may have been missed.
    pub resumed: bool,
}

/// Data of `resync`: read everything again.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Resync {}

/// What happened to an artifact.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ArtifactAction {
    /// It is new, or back from the trash.
    Created,
    /// It has another revision.
    Updated,
    /// It is in the trash.
    Deleted,
}

/// Data of `live_artifact`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactEvent {
    /// What happened.
    pub action: ArtifactAction,
    /// Where.
    pub project_id: ProjectId,
    /// To which artifact.
    pub artifact_id: ArtifactId,
    /// Its title.
    #[schemars(length(max = 200))]
    pub title: String,
    /// Its refresh status.
    pub refresh_status: RefreshStatus,
}

/// Data of `live_artifact_refresh`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
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
    /// The step it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub step: Option<String>,
    /// Whether the data changed, once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The code of a failed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub error_code: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub error_message: Option<String>,
}
