//! Where artifacts are kept.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::artifact::{ArtifactSummary, Attempt};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision, Timestamp};
use od_core::refresh::RefreshRecord;

use crate::change::{Change, Created, NewArtifact};
use crate::inspection::{Inspection, RepairMode, RepairReport, Unrecovered};
use crate::refresh_log::{History, RunningRefresh, UnfinishedRefresh};
use crate::store_error::StoreError;
use crate::stored::{Snapshot, SnapshotSummary, Stored, Trashed};
use crate::write_gate::{Gate, WriteWitness};

/// Keeps artifacts, all or nothing.
///
/// # Contract
///
/// - **Atomic.** After a crash at any instant a reader sees the generation before a change or the one
///   after it, never a mixture.
/// - **Durable.** What `create`, `commit`, `delete`, `restore`, `append_record` and
///   `begin_refresh` acknowledged survives a loss of power; a record of a step between the first and
///   the last of a refresh does so from the last one on.
/// - **Serial.** Of two commits for one expected revision exactly one wins, across processes; the
///   other gets [`StoreError::RevisionConflict`].
/// - **Fresh.** A change made by another process, or by hand, is seen by the next call.
/// - **Pure reads.** `load`, `list`, `locate`, `find_attempt`, `trash`, `history`, `snapshots`, `snapshot`,
///   `inspect` and `repair` in [`RepairMode::Plan`] write nothing at all.
/// - **Isolated damage.** A damaged artifact is listed with its health and refuses writes with
///   [`StoreError::NotHealthy`]; it never hides another one.
/// - **Fenced.** A record or commit of a refresh that has a terminal record, or is older than the
///   newest one, is refused with [`StoreError::RefreshClosed`].
#[async_trait]
pub trait ArtifactStore: fmt::Debug + Send + Sync {
    /// Returns one artifact. Cheap when nothing changed: it comes from memory.
    async fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError>;

    /// Returns the project an artifact is in, or `None` if no project has it.
    async fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError>;

    /// Returns the line of every artifact of a project, the last updated first.
    async fn list(&self, project: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError>;

    /// Returns what an attempt made, or `None` if it made nothing yet.
    ///
    /// [`StoreError::AttemptConflict`] if it was of another body, [`StoreError::AttemptTrashed`] if
    /// what it made is in the trash; as `create` answers.
    async fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError>;

    /// Adds an artifact at revision 1.
    ///
    /// A known attempt of the same body is [`Created::Replayed`]; of another body
    /// [`StoreError::AttemptConflict`]. Of two concurrent creates with one attempt exactly one is
    /// [`Created::Fresh`].
    async fn create(&self, new: NewArtifact) -> Result<Created, StoreError>;

    /// Takes the commit lock, finishes what a crashed holder left, and checks health.
    ///
    /// Waits a bounded time for another holder, then [`StoreError::Busy`].
    async fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError>;

    /// Writes the next revision. The gate's state is one revision behind afterwards.
    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError>;

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
    async fn trash(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError>;

    /// Reads the audit log.
    async fn history(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<History, StoreError>;

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

    /// Reads everything afresh and derives every digest anew.
    async fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError>;

    /// Says what a repair of a damaged artifact keeps and drops, and does it if asked.
    ///
    /// Nothing is deleted: what the artifact loses is kept aside. A healthy artifact is left alone.
    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        mode: RepairMode,
    ) -> Result<RepairReport, StoreError>;

    /// Takes the running lock and allocates the next refresh id, durably, by appending its first
    /// record. [`StoreError::RefreshLocked`] if another refresh runs.
    async fn begin_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        at: Timestamp,
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

    /// Finishes what crashed writers left, in every project, and empties old trash. For start-up.
    ///
    /// Returns those for which that did not work: one damaged artifact keeps nobody from the others.
    async fn recover(&self) -> Result<Vec<Unrecovered>, StoreError>;
}
