//! The audit log of refreshes: numbered, fenced, hash-chained.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::artifact::HealthReason;
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Timestamp};
use od_core::ledger::RefreshStart;
use od_core::refresh::{RefreshRecord, StartedRefresh};

use super::error::StoreError;
use super::stored::Stored;

/// Keeps the audit log of every artifact, and with it the numbers of refreshes.
///
/// # Contract
///
/// - **Durable.** What `begin_refresh` and `append_record` acknowledged survives a loss of power; a
///   record of a step between the first and the last of a refresh does so from the last one on.
/// - **Numbered.** Ids rise by one, across processes, restarts and changes of the clock.
/// - **Fenced.** A record of a refresh that has a terminal record, or a step of one that is older than
///   the newest, is refused with [`StoreError::RefreshClosed`].
/// - **Fresh.** A record appended by another process is seen by the next call.
/// - **Pure reads.** `history` and `unfinished_refreshes` write nothing at all.
#[async_trait]
pub trait RefreshLog: fmt::Debug + Send + Sync {
    /// Reads the audit log.
    async fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError>;

    /// Takes the running lock and allocates the next refresh id, durably, by appending its first
    /// record, which says why it begins. [`StoreError::RefreshLocked`] if another refresh runs;
    /// [`StoreError::RefreshOvertaken`] if the start goes by a newest refresh that is not the newest any
    /// more: of all who work out the same slot from the same log, one begins.
    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        start: RefreshStart,
    ) -> Result<RunningRefresh, StoreError>;

    /// Appends one record of an open refresh under the commit lock.
    ///
    /// The store sets the record's chain field. A terminal record closes the refresh and is durable,
    /// with every record before it; so is the record of a commit. Not for use
    /// while a gate of the same artifact is held (it would wait for itself): drop the gate first.
    async fn append_record(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        record: RefreshRecord,
    ) -> Result<(), StoreError>;

    /// Returns the refreshes that have no terminal record, of every project.
    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError>;
}

/// An artifact's running lock, held. Dropping it lets go; so does the end of the process.
pub trait RunningLock: fmt::Debug + Send + Sync {}

/// A refresh whose id is allocated and whose running lock is held.
#[derive(Debug)]
pub struct RunningRefresh {
    /// The id: newer than every one before it, durable before this value exists.
    pub id: RefreshId,
    /// The state when it began.
    pub base: Arc<Stored>,
    /// An earlier refresh whose holder died: give it a terminal record.
    pub abandoned: Option<StartedRefresh>,
    /// The lock. Keep it until the terminal record is written.
    pub lock: Box<dyn RunningLock>,
}

/// A refresh that has no terminal record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnfinishedRefresh {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub artifact: ArtifactId,
    /// The refresh.
    pub refresh: RefreshId,
    /// When it began, as its first record says.
    pub started_at: Timestamp,
    /// Whether someone still holds the running lock. If not, it is abandoned.
    pub lock_held: bool,
}

/// The audit log of one artifact.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Newest first.
    pub records: Arc<[RefreshRecord]>,
    /// The reason records may be missing: the chain is broken or a line cannot be read.
    pub broken: Option<HealthReason>,
}
