//! Earlier states of artifacts.

use std::fmt;

use async_trait::async_trait;
use od_core::artifact::Provenance;
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId, Timestamp};
use od_core::json::BoundedObject;
use serde::Serialize;

use super::error::StoreError;

/// Keeps what earlier refreshes brought.
///
/// # Contract
///
/// - **One a change.** The commit of a refresh that changed something leaves a snapshot, as part of
///   that commit; nothing else does.
/// - **Bounded.** The oldest are dropped beyond a limit; the newest never is, and nothing is dropped
///   from an artifact that is not healthy.
/// - **Pure reads.** Both methods write nothing at all.
#[async_trait]
pub trait RevisionStore: fmt::Debug + Send + Sync {
    /// Lists the snapshots, newest first.
    async fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError>;

    /// Reads one snapshot.
    async fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError>;
}

/// One line of the list of snapshots.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotSummary {
    /// The refresh that made it.
    pub refresh_id: RefreshId,
    /// When its data was fetched.
    pub generated_at: Timestamp,
    /// The digest of its data.
    pub data_digest: Digest,
    /// Bytes of its `data.json`.
    pub bytes: u64,
}

/// The data of one successful refresh.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The refresh that made it.
    pub refresh_id: RefreshId,
    /// The data.
    pub data: BoundedObject,
    /// The provenance of the data.
    pub provenance: Provenance,
}
