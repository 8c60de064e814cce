//! Refreshes: starting one, what past ones left, and the schedule of further ones.

use od_core::artifact::{Provenance, StaleSource};
use od_core::credential::Redactions;
use od_core::ids::{ArtifactId, Digest, RefreshId, Revision, Timestamp};
use od_core::json::BoundedObject;
use od_core::limits::SOURCES;
use od_core::refresh::{ChangeReport, RecordStatus, RefreshRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactLine;

/// Starts a refresh, for the person.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartRefresh {
    /// Accepts that the source's tool or account is no longer the one the artifact was made with.
    #[serde(default)]
    pub accept_drift: bool,
    /// Whether it is started because a person opened the page: then it runs only if the page is older
    /// than its `maxAge`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_open: bool,
}

/// Starts a refresh, for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolRefresh {
    /// Which artifact.
    pub artifact_id: ArtifactId,
}

/// A refresh that succeeded.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshView {
    /// Which refresh.
    pub id: RefreshId,
    /// `succeeded`, or `succeeded_partially` if a source failed and kept its values; a failed one is an
    /// error.
    #[schemars(length(max = 32))]
    pub status: String,
    /// How many sources were read.
    #[schemars(range(max = SOURCES.allowed))]
    pub refreshed_source_count: u64,
    /// The sources that failed and kept their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = SOURCES.allowed))]
    pub stale: Vec<StaleSource>,
    /// Whether the data is different now.
    pub changed: bool,
    /// Where it is different.
    pub changes: ChangeReport,
    /// What was left out of the source's output or replaced in it.
    #[serde(default, skip_serializing_if = "Redactions::is_empty")]
    pub redactions: Redactions,
}

/// Brings a stored state back.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RollBack {
    /// Only if the artifact is at this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<Revision>,
}

/// What a roll back did.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackView {
    /// The refresh whose state is the current one now, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_id: Option<RefreshId>,
    /// The revision whose state is the current one now, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// Whether that made a revision; false if the artifact was in that state already.
    pub changed: bool,
    /// Where the data is different from before.
    pub changes: ChangeReport,
}

/// A cancelled refresh.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelAnswer {
    /// The refresh that was asked to stop.
    pub refresh_id: RefreshId,
    /// `cancelled`, or how it ended when the cancellation came too late.
    pub status: RecordStatus,
}

/// `{ refreshes }`: the records of the history, newest first.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshesAnswer {
    /// The records.
    #[schemars(length(max = 1000))]
    pub refreshes: Vec<RefreshRecord>,
    /// Gives the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub next_cursor: Option<String>,
}

/// One line of the list of stored states.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotLine {
    /// The refresh that made it.
    pub refresh_id: RefreshId,
    /// When its data was fetched.
    pub generated_at: Timestamp,
    /// The digest of its data.
    pub data_digest: Digest,
    /// Bytes of its data.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub bytes: u64,
}

/// `{ snapshots }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotsAnswer {
    /// The stored states, newest first.
    #[schemars(length(max = 1000))]
    pub snapshots: Vec<SnapshotLine>,
    /// Gives the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub next_cursor: Option<String>,
}

/// `{ snapshot }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SnapshotAnswer {
    /// The stored state.
    pub snapshot: SnapshotView,
}

/// One stored state.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    /// The refresh that made it.
    pub refresh_id: RefreshId,
    /// Its data.
    pub data_json: BoundedObject,
    /// Where the data came from.
    pub provenance: Provenance,
}

/// A schedule after a change of it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleAnswer {
    /// The artifact.
    pub artifact: ArtifactLine,
    /// Its next runs, if none of them fails; none if it is switched off.
    #[schemars(length(max = 5))]
    pub next_runs: Vec<Timestamp>,
    /// Where a person sees it.
    #[schemars(length(max = 1024))]
    pub console_url: String,
}
