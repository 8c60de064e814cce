//! One change of an artifact: a decision on its present state, committed or, for a dry run, shown.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Health};
use od_core::decide::Decision;
use od_core::error::Failure;
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::ledger;
use od_core::refresh::RefreshRecord;
use od_ports::store::{Change, Gate, StoreError, Stored};

use crate::{App, failure};

/// Whether a use case writes what it decided.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// It is written.
    Commit,
    /// Nothing is written; the answer is that of the real call, and so is every refusal.
    DryRun,
}

impl Mode {
    /// Returns the mode of a request that may ask for a dry run.
    #[must_use]
    pub const fn of_dry_run(dry_run: bool) -> Self {
        if dry_run { Self::DryRun } else { Self::Commit }
    }
}

/// A change under way. From its begin on nobody else can commit to the artifact, unless it is a dry
/// run: that holds no lock and writes nothing, not even what a crashed writer left undone.
#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    app: &'a App,
    base: Base,
    state: Arc<ArtifactState>,
}

#[derive(Debug)]
enum Base {
    /// Read under the commit lock.
    Locked(Gate),
    /// Read without it.
    Read(Arc<Stored>),
}

impl<'a> Transaction<'a> {
    /// Reads the artifact to decide on, and locks it if the decision will be committed.
    pub(crate) async fn begin(
        app: &'a App,
        project: &ProjectId,
        artifact: &ArtifactId,
        mode: Mode,
    ) -> Result<Self, BeginError> {
        let store = &app.ports.artifacts;
        let base = match mode {
            Mode::Commit => Base::Locked(store.open_gate(project, artifact).await?),
            Mode::DryRun => Base::Read(store.load(project, artifact).await?),
        };
        let state = healthy_state(base.stored())?;
        Ok(Self { app, base, state })
    }

    /// Returns what is stored now.
    pub(crate) fn stored(&self) -> &Arc<Stored> {
        self.base.stored()
    }

    /// Returns the state to decide on.
    pub(crate) fn state(&self) -> &Arc<ArtifactState> {
        &self.state
    }

    /// Commits the decision and tells listeners; in a dry run returns what that would return.
    pub(crate) async fn commit(self, decision: Decision) -> Result<Arc<Stored>, StoreError> {
        let app = self.app;
        let is_dry = matches!(self.base, Base::Read(_));
        let stored = self.write(decision, None).await?;
        if !is_dry {
            app.publish(ArtifactAction::Updated, &stored);
        }
        Ok(stored)
    }

    /// As [`Self::commit`], together with the last record of the refresh that made the decision. When
    /// listeners are told is for the refresh to say.
    pub(crate) async fn commit_refresh(
        self,
        decision: Decision,
        record: RefreshRecord,
    ) -> Result<Arc<Stored>, StoreError> {
        self.write(decision, Some(record)).await
    }

    async fn write(
        self,
        decision: Decision,
        refresh: Option<RefreshRecord>,
    ) -> Result<Arc<Stored>, StoreError> {
        let expected = self.state.artifact.revision;
        match self.base {
            Base::Locked(gate) => {
                let Decision { state, page, .. } = decision;
                let change = Change { expected, state, page, refresh };
                self.app.ports.artifacts.commit(&gate.witness(), change).await
            }
            Base::Read(_) => Ok(preview(decision, expected.next())),
        }
    }
}

impl Base {
    fn stored(&self) -> &Arc<Stored> {
        match self {
            Self::Locked(gate) => gate.stored(),
            Self::Read(stored) => stored,
        }
    }
}

/// Returns what the store would return after it committed the decision as this revision.
pub(super) fn preview(decision: Decision, revision: Revision) -> Arc<Stored> {
    let state = decision.state_at(revision);
    let health = Health::HEALTHY;
    Arc::new(Stored {
        id: state.artifact.id.clone(),
        project: state.artifact.project_id.clone(),
        summary: Arc::new(state.artifact.summary(health)),
        health,
        drift: Vec::new(),
        kept_aside: Vec::new(),
        page_key: None,
        state: Some(Arc::new(state)),
        last_page: None,
    })
}

/// Returns the state of an artifact that may be written.
pub(super) fn healthy_state(stored: &Stored) -> Result<Arc<ArtifactState>, BeginError> {
    match &stored.state {
        Some(state) if stored.health.is_healthy() => Ok(Arc::clone(state)),
        Some(_) | None => {
            Err(BeginError::NotHealthy { artifact: stored.id.clone(), health: stored.health })
        }
    }
}

/// Refuses a change that was made for another revision of the artifact.
pub(super) fn check_revision(
    state: &ArtifactState,
    expected: Option<Revision>,
) -> Result<(), StaleRevision> {
    let Some(expected) = expected else { return Ok(()) };
    ledger::check_revision(expected, state.artifact.revision).map_err(|conflict| StaleRevision {
        artifact: state.artifact.id.clone(),
        expected: conflict.expected,
        actual: conflict.actual,
    })
}

/// Why a change could not begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The artifact is damaged, or newer than this program.
    #[error("artifact `{artifact}` is not healthy")]
    NotHealthy {
        /// The artifact.
        artifact: ArtifactId,
        /// The damage.
        health: Health,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<BeginError> for Failure {
    fn from(err: BeginError) -> Self {
        match err {
            BeginError::NotHealthy { artifact, health } => failure::not_healthy(&artifact, health),
            BeginError::Store(err) => failure::store(err),
        }
    }
}

/// A change was made for another revision than the present one.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("artifact `{artifact}` is at revision {actual}, not {expected}")]
pub struct StaleRevision {
    /// The artifact.
    pub artifact: ArtifactId,
    /// The revision the change was made for.
    pub expected: Revision,
    /// The present one.
    pub actual: Revision,
}

impl From<StaleRevision> for Failure {
    fn from(err: StaleRevision) -> Self {
        failure::revision_conflict(&err.artifact, err.expected, err.actual)
    }
}
