//! Make a stored state the current one again.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, check_data, check_targets};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::{ArtifactAction, ArtifactEvent, Event};
use od_core::ids::{RefreshId, Revision, Timestamp};
use od_core::limits;
use od_core::refresh::{ChangeReport, report_changes};
use od_ports::store::{Change, Snapshot, StoreError, Stored};

use super::candidate::draw_page;
use super::find::{Address, FindError, find};
use super::get::Detail;
use super::planned::as_stored;
use crate::{App, Caller, failure};

/// Which state to bring back.
#[derive(Clone, Debug)]
pub struct RollBack {
    /// Of which artifact.
    pub address: Address,
    /// The refresh that left the state.
    pub refresh: RefreshId,
    /// Only if the artifact is at this revision.
    pub if_revision: Option<Revision>,
}

/// A state that is the current one again.
#[derive(Clone, Debug)]
pub struct RolledBack {
    /// The artifact in that state.
    pub detail: Detail,
    /// The refresh that left the state.
    pub refresh: RefreshId,
    /// Whether that made a revision; not if the artifact was in that state already.
    pub changed: bool,
    /// What is different in the data.
    pub changes: ChangeReport,
    /// What a person should know.
    pub warnings: Vec<Issue>,
}

/// Why a state was not brought back.
#[derive(Debug, thiserror::Error)]
pub enum RollBackError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Only a person rolls back.
    #[error("an agent may not roll artifacts back")]
    PersonOnly,
    /// The template or the schema has changed since, and does not fit the data of that time.
    #[error("the state of `{refresh}` does not fit the artifact of today")]
    DoesNotFit {
        /// The refresh that left the state.
        refresh: RefreshId,
        /// What does not fit, and where.
        issues: Vec<Issue>,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RollBackError> for Failure {
    fn from(err: RollBackError) -> Self {
        let message = err.to_string();
        match err {
            RollBackError::Find(err) => err.into(),
            RollBackError::PersonOnly => Self::new(ErrorCode::Forbidden, message)
                .suggest("ask the person to restore the state in the console"),
            RollBackError::DoesNotFit { refresh, issues } => {
                let failure = Self::validation(ErrorCode::LiveArtifactInvalid, &issues);
                let message = format!("{message}: {}", failure.message);
                Self { message, ..failure }
                    .suggest("change the template so that it fits, or choose another state")
                    .detail("refreshId", refresh.as_str())
            }
            RollBackError::Store(err) => failure::store(err),
        }
    }
}

/// Commits the data and the provenance that a refresh left, as a new revision, by the rules of an
/// update. An artifact that is in that state already stays at its revision.
pub async fn roll_back(
    app: &App,
    caller: &Caller,
    request: RollBack,
) -> Result<RolledBack, RollBackError> {
    let (asked, snapshot) = look_up(app, caller, request).await?;
    let (store, artifact) = (&app.ports.artifacts, asked.address.artifact.clone());
    let project = asked.project.clone();
    let gate = store.open_gate(&project, &artifact).await?;
    let stored = Arc::clone(gate.stored());
    let (before, turn) = asked.decide(&stored, snapshot, app.ports.clock.now())?;
    let Turn { next, changes, warnings } = turn;
    let Some((state, page)) = next else {
        return Ok(asked.answer(stored, false, changes, warnings));
    };
    let change = Change { expected: before, state, page, refresh: None };
    let stored = store.commit(&gate.witness(), change).await?;
    drop(gate);
    app.ports.events.publish(Event::Artifact(ArtifactEvent {
        action: ArtifactAction::Updated,
        project_id: project,
        artifact_id: artifact,
        title: stored.summary.heading.title.clone(),
        refresh_status: stored.summary.refresh_status,
    }));
    Ok(asked.answer(stored, true, changes, warnings))
}

/// Says everything a roll back would say, and writes nothing.
pub async fn plan_roll_back(
    app: &App,
    caller: &Caller,
    request: RollBack,
) -> Result<RolledBack, RollBackError> {
    let (asked, snapshot) = look_up(app, caller, request).await?;
    let artifact = asked.address.artifact.clone();
    let stored = app.ports.artifacts.load(&asked.project, &artifact).await?;
    if !stored.health.is_healthy() {
        return Err(StoreError::NotHealthy { artifact, health: stored.health }.into());
    }
    let (before, turn) = asked.decide(&stored, snapshot, app.ports.clock.now())?;
    let Turn { next, changes, warnings } = turn;
    Ok(match next {
        Some((state, page)) => {
            asked.answer(as_stored(state, &page, before.next()), true, changes, warnings)
        }
        None => asked.answer(stored, false, changes, warnings),
    })
}

/// A request whose project is known.
struct Asked {
    project: od_core::ids::ProjectId,
    address: Address,
    refresh: RefreshId,
    if_revision: Option<Revision>,
}

/// What a roll back makes of a state.
struct Turn {
    /// The next state and its page; `None` if it is the current one.
    next: Option<(ArtifactState, Arc<[u8]>)>,
    changes: ChangeReport,
    warnings: Vec<Issue>,
}

async fn look_up(
    app: &App,
    caller: &Caller,
    request: RollBack,
) -> Result<(Asked, Snapshot), RollBackError> {
    caller.require_person().map_err(|_| RollBackError::PersonOnly)?;
    let RollBack { address, refresh, if_revision } = request;
    let project = find(app, caller, &address).await?;
    let snapshot = app.ports.revisions.snapshot(&project, &address.artifact, &refresh).await?;
    Ok((Asked { project, address, refresh, if_revision }, snapshot))
}

impl Asked {
    fn decide(
        &self,
        stored: &Stored,
        snapshot: Snapshot,
        now: Timestamp,
    ) -> Result<(Revision, Turn), RollBackError> {
        let artifact = self.address.artifact.clone();
        let Some(before) = stored.state.as_deref() else {
            return Err(StoreError::NotHealthy { artifact, health: stored.health }.into());
        };
        let actual = before.artifact.revision;
        if let Some(expected) = self.if_revision.filter(|expected| *expected != actual) {
            return Err(StoreError::RevisionConflict { artifact, expected, actual }.into());
        }
        let fit = turn(before, snapshot, now);
        let refresh = self.refresh.clone();
        let turn = fit.map_err(|issues| RollBackError::DoesNotFit { refresh, issues })?;
        Ok((actual, turn))
    }

    fn answer(
        self,
        stored: Arc<Stored>,
        changed: bool,
        changes: ChangeReport,
        warnings: Vec<Issue>,
    ) -> RolledBack {
        let refresh = self.refresh;
        RolledBack { detail: Detail::of(stored), refresh, changed, changes, warnings }
    }
}

/// Puts the data and the provenance of a snapshot into a state, if they fit what is there.
fn turn(before: &ArtifactState, snapshot: Snapshot, now: Timestamp) -> Result<Turn, Vec<Issue>> {
    let Snapshot { data, provenance, .. } = snapshot;
    let changes = report_changes(before.data.value(), data.value());
    if before.data == data && before.provenance == provenance {
        return Ok(Turn { next: None, changes, warnings: Vec::new() });
    }
    let document = before.artifact.document.as_ref();
    let mut issues = check_data(document, &data);
    issues.extend(check_targets(document, &data));
    let drawn = match draw_page(&before.template_html, data.value()) {
        Ok(drawn) if issues.is_empty() => drawn,
        drawn => {
            issues.extend(drawn.err().unwrap_or_default());
            issues.truncate(limits::JSON_FAULTS.max());
            return Err(issues);
        }
    };
    let mut artifact = before.artifact.clone();
    artifact.updated_at = now;
    let template_html = Arc::clone(&before.template_html);
    let state = ArtifactState { artifact, template_html, data, provenance };
    Ok(Turn { next: Some((state, drawn.page)), changes, warnings: drawn.warnings })
}
