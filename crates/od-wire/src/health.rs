//! The health of the daemon, as anybody may ask for it.

use od_core::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The daemon's state. It names no path and no project: anyone on this machine may ask.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthReport {
    /// Always `od`.
    #[schemars(length(max = 16))]
    pub service: String,
    /// The daemon's version.
    #[schemars(length(max = 64))]
    pub version: String,
    /// The version of the stored shape.
    #[schemars(range(min = 1, max = 2))]
    pub schema_version: u64,
    /// Whether the store can be read.
    pub store: StoreState,
    /// What keeps the artifacts.
    pub store_kind: StoreKind,
    /// How many artifacts are how sound, as they were last read.
    pub artifacts: ArtifactCounts,
    /// When this daemon started.
    pub started_at: Timestamp,
    /// How long it has been up.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub uptime_ms: u64,
}

/// Whether the store can be read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StoreState {
    /// Everything can be read and is healthy.
    Ok,
    /// It is being read for the first time: everything is served, and not everything is counted.
    Reading,
    /// It can be read; some artifacts are damaged.
    Degraded,
    /// A shared store does not answer: what is in memory is served, and nothing is written.
    Unreachable,
    /// It cannot be read.
    Failing,
}

/// What keeps the artifacts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StoreKind {
    /// The data directory of this machine.
    Files,
    /// A PostgreSQL database that other machines use, too.
    Postgres,
}

/// Artifacts by health.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ArtifactCounts {
    /// All of them.
    #[schemars(range(max = 1_000_000_000))]
    pub total: u64,
    /// Where everything fits.
    #[schemars(range(max = 1_000_000_000))]
    pub healthy: u64,
    /// Whose history does not fit.
    #[schemars(range(max = 1_000_000_000))]
    pub corrupt_tail: u64,
    /// Whose current state does not fit.
    #[schemars(range(max = 1_000_000_000))]
    pub corrupt_head: u64,
    /// Written by a newer daemon.
    #[schemars(range(max = 1_000_000_000))]
    pub unknown_version: u64,
    /// Those that were not read yet.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub unread: u64,
}
