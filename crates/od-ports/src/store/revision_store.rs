//! Earlier states of artifacts.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::artifact::{HealthReason, Provenance};
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId, Revision, Timestamp};
use od_core::json::BoundedObject;
use od_core::ledger::{CommitRecord, RevisionSource};
use serde::Serialize;

use super::error::StoreError;

/// Keeps the timeline of every artifact, and the contents of its newest revisions.
///
/// # Contract
///
/// - **One a commit.** Every commit, the first included, leaves a record in the timeline and its
///   contents, as part of that commit; what is read back is what was committed, byte for byte.
/// - **Bounded.** Contents are kept as [`od_core::ledger::kept_commits`] says; nothing is dropped from
///   an artifact that is not healthy.
/// - **Isolated damage.** A damaged content damages the revisions that name it, each with
///   [`StoreError::RevisionDamaged`], and no other.
/// - **Snapshots** are the data of the revisions that refreshes made.
/// - **Pure reads.** No method writes anything at all.
#[async_trait]
pub trait RevisionStore: fmt::Debug + Send + Sync {
    /// Returns the whole timeline.
    async fn timeline(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Timeline, StoreError>;

    /// Reads one revision.
    ///
    /// [`StoreError::RevisionNotFound`] if there is no such revision, or it is no longer kept.
    async fn revision(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        revision: Revision,
    ) -> Result<KeptRevision, StoreError>;

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

/// The commits of one artifact.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Newest first.
    pub commits: Vec<CommitRecord>,
    /// The reason commits may be missing: the chain is broken or a line cannot be read.
    pub broken: Option<HealthReason>,
}

/// One revision as it was committed.
#[derive(Clone, Debug)]
pub struct KeptRevision {
    /// Its record.
    pub commit: CommitRecord,
    /// The template.
    pub template_html: Arc<str>,
    /// The data.
    pub data: BoundedObject,
    /// The provenance of the data.
    pub provenance: Provenance,
    /// The source, its schema and its pin.
    pub source: RevisionSource,
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
    /// The revision that it is the data of, if that is known.
    pub revision: Option<Revision>,
    /// The data.
    pub data: BoundedObject,
    /// The provenance of the data.
    pub provenance: Provenance,
}
