//! Artifacts on their way from one store to another.

use std::fmt;

use async_trait::async_trait;
use od_core::artifact::ArtifactState;
use od_core::ids::RefreshId;
use od_core::ledger::{CommitRecord, LogRecord};

use super::error::StoreError;
use super::revision_store::KeptRevision;

/// Takes artifacts over from another store, with their history.
///
/// # Contract
///
/// - **Atomic and durable**, as a create is.
/// - **As they were.** Ids, revisions, records and their chain stay what they were; what is read back is
///   what was handed in.
/// - [`StoreError::Exists`] if there is an artifact of the id.
#[async_trait]
pub trait StoreTransfer: fmt::Debug + Send + Sync {
    /// Returns whether it takes commits whose neighbours in the chain are gone.
    fn takes_earlier(&self) -> bool;
    /// Adds an artifact as it was in another store. Its project has to be there.
    async fn adopt(&self, archive: Archive) -> Result<(), StoreError>;
}

/// One artifact with everything that is kept of it.
#[derive(Clone, Debug)]
pub struct Archive {
    /// The present state, revision and digests included.
    pub state: ArtifactState,
    /// The refresh that committed last.
    pub last_refresh: Option<RefreshId>,
    /// Commits from before the oldest record of the chain, oldest first.
    pub earlier: Vec<CommitRecord>,
    /// The chain of records, oldest first, each as it was.
    pub records: Vec<LogRecord>,
    /// The revisions whose contents are kept.
    pub revisions: Vec<KeptRevision>,
}
