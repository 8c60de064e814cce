//! A refresh as the history shows it.

use super::{ChangeReport, CompactError, RecordConnector, RecordStatus};
use crate::ids::{RefreshId, Revision, Timestamp};

/// One refresh, folded from its records.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefreshEntry {
    /// Which refresh.
    pub refresh_id: RefreshId,
    /// How it stands.
    pub status: RecordStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub duration_ms: Option<u64>,
    /// What ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<RecordConnector>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CompactError>,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeReport>,
    /// The revision it committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
}
