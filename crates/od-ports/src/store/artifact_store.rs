//! Reading and committing artifacts.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::artifact::{ArtifactState, ArtifactSummary, Attempt, ListCursor, ListTally, Status};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::ledger::CommitNote;
use od_core::refresh::RefreshRecord;

use super::error::StoreError;
use super::stored::Stored;
use super::write_gate::{Gate, WriteWitness};

/// Keeps artifacts, all or nothing.
///
/// # Contract
///
/// - **Atomic.** After a crash at any instant a reader sees the generation before a change or the one
///   after it, never a mixture.
/// - **Durable.** What `create` and `commit` acknowledged survives a loss of power.
/// - **Serial.** Of two commits for one expected revision exactly one wins, across processes; the
///   other gets [`StoreError::RevisionConflict`].
/// - **Fresh.** A change made by another process, or by hand, is seen by the next call.
/// - **Pure reads.** `load`, `list`, `page`, `locate` and `find_attempt` write nothing at all.
/// - **Isolated damage.** A damaged artifact is listed with its health and refuses writes with
///   [`StoreError::NotHealthy`]; it never hides another one.
/// - **Recorded.** Every commit leaves one record in the timeline, as part of the commit.
/// - **Fenced.** A commit of a refresh that has a terminal record, or is older than the newest one,
///   is refused with [`StoreError::RefreshClosed`].
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

    /// Returns a part of what `list` returns, and the counts of all of it, without going through all of
    /// it: what changed since the last call is read, and nothing else.
    async fn page(&self, project: &ProjectId, request: PageRequest) -> Result<Page, StoreError>;

    /// Returns what an attempt made, or `None` if it made nothing yet.
    ///
    /// [`StoreError::AttemptConflict`] if it was of another body, [`StoreError::AttemptTrashed`] if
    /// what it made is in the trash; as `create` answers.
    async fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError>;

    /// Adds the artifact that was decided on, its attempt included, at revision 1.
    ///
    /// A known attempt of the same body is [`Created::Replayed`]; of another body
    /// [`StoreError::AttemptConflict`]. Of two concurrent creates with one attempt exactly one is
    /// [`Created::Fresh`].
    async fn create(&self, new: Decision, note: CommitNote) -> Result<Created, StoreError>;

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
}

/// The part of a project's list that is asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageRequest {
    /// Only what comes after this row.
    pub after: Option<ListCursor>,
    /// At most so many.
    pub rows: usize,
    /// Whether archived artifacts are left out.
    pub only_active: bool,
}

/// A part of a project's list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Page {
    /// The lines, the last updated first.
    pub lines: Vec<Arc<ArtifactSummary>>,
    /// Whether there are more after them.
    pub has_more: bool,
    /// The counts of the whole list, archived artifacts included.
    pub tally: ListTally,
}

impl Page {
    /// Takes a page from the lines after the place that was asked for, in their order.
    pub fn take<'l>(
        lines: impl Iterator<Item = &'l Arc<ArtifactSummary>>,
        request: &PageRequest,
        tally: ListTally,
    ) -> Self {
        let shows = |line: &&Arc<ArtifactSummary>| {
            !request.only_active || line.heading.status != Status::Archived
        };
        let mut rest = lines.filter(shows);
        let lines = rest.by_ref().take(request.rows).map(Arc::clone).collect();
        Self { lines, has_more: rest.next().is_some(), tally }
    }
}

/// The outcome of a create.
#[derive(Clone, Debug)]
pub enum Created {
    /// It is there now.
    Fresh(Arc<Stored>),
    /// The same attempt had made it before; here is what it is now.
    Replayed(Arc<Stored>),
}

impl Created {
    /// Returns the artifact either way.
    pub const fn stored(&self) -> &Arc<Stored> {
        match self {
            Self::Fresh(stored) | Self::Replayed(stored) => stored,
        }
    }
}

/// The next revision of an artifact.
#[derive(Clone, Debug)]
pub struct Change {
    /// The revision it was computed from; any other on disk is a conflict.
    pub expected: Revision,
    /// The whole next state. Revision and digests are set by the store.
    pub state: ArtifactState,
    /// The rendered page.
    pub page: Arc<[u8]>,
    /// The terminal record, if a refresh makes the change: it is appended as part of the same commit.
    /// Its refresh id must be open and the newest.
    pub refresh: Option<RefreshRecord>,
    /// Who makes the change and why, for the timeline.
    pub note: CommitNote,
}
