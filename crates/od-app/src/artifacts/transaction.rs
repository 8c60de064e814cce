//! One change of an artifact: a decision on its present state, committed or, for a dry run, shown.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Health, render_stored};
use od_core::checks;
use od_core::decide::Decision;
use od_core::error::{Failure, Issue};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::ledger::{self, Actor, CommitKind, CommitNote, Door};
use od_core::ownership::{Place, adopt, name_places};
use od_core::refresh::{ChangeReport, RefreshRecord, report_changes};
use od_ports::store::{Change, Gate, SourceFile, StoreError, Stored};

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
    /// The places of sources whose edits by hand were not taken over.
    restored: Vec<Place>,
    /// The revision before the one that took over edits by hand, if there were any.
    adopted_from: Option<Revision>,
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
        let (base, state, restored, adopted_from) = match mode {
            Mode::Commit => {
                let gate = store.open_gate(project, artifact).await?;
                let (state, restored) =
                    adopt_edits(app, gate.stored(), healthy_state(gate.stored())?);
                // First the edits, as a revision of their own: taken along by the change they would stand in the
                // history as its author's, and restoring the state before it would take them away for good.
                match commit_edits(app, &gate, &state).await? {
                    None => (Base::Locked(gate), state, restored, None),
                    Some(from) => {
                        // A gate is used up by its commit.
                        drop(gate);
                        let gate = store.open_gate(project, artifact).await?;
                        let state = healthy_state(gate.stored())?;
                        (Base::Locked(gate), state, restored, Some(from))
                    }
                }
            }
            Mode::DryRun => {
                let stored = store.load(project, artifact).await?;
                let (state, restored) = adopt_edits(app, &stored, healthy_state(&stored)?);
                (Base::Read(stored), state, restored, None)
            }
        };
        Ok(Self { app, base, state, restored, adopted_from })
    }

    /// Returns whether edits by hand became a revision as it began.
    pub(super) const fn has_adopted_edits(&self) -> bool {
        self.adopted_from.is_some()
    }

    /// Returns a remark on edits by hand that the commit does not take over.
    pub(crate) fn edit_remark(&self) -> Option<Issue> {
        let named = name_places(&self.restored);
        (!self.restored.is_empty()).then(|| {
            let message = format!(
                "data.json was edited by hand at {named}, which a source writes: what the source gave is back"
            );
            Issue::new("data.json", "source_values_kept", message)
                .fix("change the source, or take the paths out of outputMapping.dataPaths")
        })
    }

    /// Refuses a change that was made for another revision. One that was made for edited files was made
    /// for the revision that they are now.
    pub(crate) fn check_revision(&self, expected: Option<Revision>) -> Result<(), StaleRevision> {
        let is_adopted = expected.is_some()
            && self.adopted_from == expected
            && expected.map(Revision::next) == Some(self.state.artifact.revision);
        if is_adopted { Ok(()) } else { check_revision(&self.state, expected) }
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
    pub(crate) async fn commit(
        self,
        decision: Decision,
        note: CommitNote,
    ) -> Result<Arc<Stored>, StoreError> {
        let app = self.app;
        let is_dry = matches!(self.base, Base::Read(_));
        let run = match &note.actor {
            Actor::Agent { run_id, .. } => Some(run_id.clone()),
            Actor::Person | Actor::Schedule => None,
        };
        let stored = self.write(decision, note, None).await?;
        if !is_dry {
            app.publish(run.as_ref(), ArtifactAction::Updated, &stored);
        }
        Ok(stored)
    }

    /// As [`Self::commit`], together with the last record of the refresh that made the decision. When
    /// listeners are told is for the refresh to say.
    pub(crate) async fn commit_refresh(
        self,
        decision: Decision,
        note: CommitNote,
        record: RefreshRecord,
    ) -> Result<Arc<Stored>, StoreError> {
        self.write(decision, note, Some(record)).await
    }

    async fn write(
        self,
        decision: Decision,
        note: CommitNote,
        refresh: Option<RefreshRecord>,
    ) -> Result<Arc<Stored>, StoreError> {
        let expected = self.state.artifact.revision;
        match self.base {
            Base::Locked(gate) => {
                let Decision { state, page, changes, .. } = decision;
                let note = note.with_changes(changes);
                let change = Change { expected, state, page, refresh, note };
                let stored = self.app.ports.artifacts.commit(&gate.witness(), change).await?;
                self.app.publish_checks(&self.state.artifact.check_results, &stored);
                Ok(stored)
            }
            // Edits by hand become a revision of their own before the change does.
            Base::Read(stored) if !stored.drift.is_empty() => {
                Ok(preview(decision, expected.next().next()))
            }
            Base::Read(_) => Ok(preview(decision, expected.next())),
        }
    }
}

/// Returns the state to decide on where data.json was edited by hand: a person wrote what differs, and
/// what belongs to a source is what the source gave.
fn adopt_edits(
    app: &App,
    stored: &Stored,
    state: Arc<ArtifactState>,
) -> (Arc<ArtifactState>, Vec<Place>) {
    match &stored.committed_data {
        None => (state, Vec::new()),
        Some(committed) => {
            let (state, restored) = adopt(&state, committed, app.ports.clock.now());
            (Arc::new(state), restored)
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

/// Commits what was edited by hand as a revision of its own, so that the change on top of it does not
/// take it out of the history; returns the revision before it, or `None` if nothing was taken over.
async fn commit_edits(
    app: &App,
    gate: &Gate,
    adopted: &ArtifactState,
) -> Result<Option<Revision>, BeginError> {
    let stored = gate.stored();
    let changes = match &stored.committed_data {
        Some(committed) => report_changes(committed.value(), adopted.data.value()),
        None => ChangeReport::default(),
    };
    // Where the data before the edit is not known, every edit counts.
    let is_edited = stored.drift.iter().any(|drift| {
        drift.file != SourceFile::Data || stored.committed_data.is_none() || changes.is_changed()
    });
    if !is_edited {
        return Ok(None);
    }
    // What does not render any more is for the change itself to refuse.
    let Ok(page) =
        render_stored(&adopted.template_html, adopted.data.value(), &adopted.page_settings(), None)
    else {
        return Ok(None);
    };
    let expected = adopted.artifact.revision;
    let mut state = adopted.clone();
    state.artifact.updated_at = app.ports.clock.now();
    state.artifact.restored = None;
    checks::update_results(&mut state);
    let note = CommitNote::new(CommitKind::Edit, Actor::Person, Door::Files).with_changes(changes);
    let change = Change { expected, state, page: page.into(), refresh: None, note };
    app.ports.artifacts.commit(&gate.witness(), change).await?;
    Ok(Some(expected))
}

/// Returns what the store would return after it committed the decision as this revision.
pub(crate) fn preview(decision: Decision, revision: Revision) -> Arc<Stored> {
    let state = decision.state_at(revision);
    let health = Health::HEALTHY;
    Arc::new(Stored {
        id: state.artifact.id.clone(),
        project: state.artifact.project_id.clone(),
        summary: Arc::new(state.artifact.summary(health)),
        health,
        drift: Vec::new(),
        committed_data: None,
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
