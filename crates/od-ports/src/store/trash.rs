//! Deleted artifacts, kept for a while.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::ids::{ArtifactId, ProjectId, Revision, Timestamp};
use serde::Serialize;

use super::error::StoreError;
use super::stored::Stored;

/// Keeps deleted artifacts until they expire.
///
/// # Contract
///
/// - **Atomic and durable.** After a crash at any instant an artifact is either in its project or in
///   the trash; what `delete` and `restore` acknowledged survives a loss of power.
/// - **Healthy or not.** A damaged artifact is deleted and restored like any other.
/// - **Pure read.** `list` writes nothing at all.
#[async_trait]
pub trait Trash: fmt::Debug + Send + Sync {
    /// Moves an artifact to the trash, healthy or not; returns what it was.
    async fn delete(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        if_revision: Option<Revision>,
    ) -> Result<Trashed, StoreError>;

    /// Brings an artifact back from the trash, the last deleted if there are several of its id.
    async fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError>;

    /// Lists the trash, the last deleted first.
    async fn list(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError>;
}

/// An artifact in the trash.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trashed {
    /// The artifact's id.
    pub artifact_id: ArtifactId,
    /// The title, if its pointer can still be read.
    pub title: Option<String>,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// When it will be gone for good.
    pub expires_at: Timestamp,
}
