//! Refreshes on schedule: switching them on, finding what is due, and running it.

use std::collections::HashSet;
use std::sync::Arc;

use od_core::artifact::{ArtifactSummary, Freshness};
use od_core::decide::{self, ScheduleChange, ScheduleChangeRefused};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision, Timestamp};
use od_core::ledger::CommitKind;
use od_core::limits::NEXT_RUNS;
use od_core::schedule::{Due, LocalSchedules, ScheduleRefused, SlotRun, Trigger};
use od_ports::connector_provider::ConnectorAccess;
use od_ports::project_registry::ProjectError;
use od_ports::store::{StoreError, StorePlace, Stored};

use crate::artifacts::{Address, BeginError, FindError, Mode, StaleRevision, Transaction, find};
use crate::refresh::run::{Cause, RefreshError, Refreshed, RunRefresh};
use crate::{App, Caller, PersonOnly, failure, refresh};

/// Sets the schedule of an artifact, switches it on, or switches it off.
pub async fn change(
    app: &App,
    caller: &Caller,
    request: ChangeSchedule,
    mode: Mode,
) -> Result<ChangedSchedule, ScheduleError> {
    caller.require_person()?;
    let ChangeSchedule { address, change, if_revision } = request;
    let project = find(app, caller, &address).await?;
    let transaction = Transaction::begin(app, &project, &address.artifact, mode).await?;
    transaction.check_revision(if_revision)?;
    let at = app.ports.clock.now();
    let decision = decide::schedule(transaction.state(), change, at)?;
    let stored = transaction.commit(decision, caller.note(CommitKind::Update)).await?;
    let next_runs = next_runs(&stored.summary, at);
    Ok(ChangedSchedule { stored, next_runs })
}

/// A change of a schedule.
#[derive(Clone, Debug)]
pub struct ChangeSchedule {
    /// The artifact.
    pub address: Address,
    /// What becomes of its schedule.
    pub change: ScheduleChange,
    /// Only if the artifact is at this revision.
    pub if_revision: Option<Revision>,
}

/// A schedule that was changed.
#[derive(Clone, Debug)]
pub struct ChangedSchedule {
    /// The artifact after it.
    pub stored: Arc<Stored>,
    /// Its next runs.
    pub next_runs: Vec<Timestamp>,
}

/// Why a schedule was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// An agent asked: it can only propose.
    #[error("an agent can propose a schedule, and only a person switches it on")]
    PersonOnly,
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It cannot run, or the page does not render.
    #[error(transparent)]
    Refused(#[from] ScheduleChangeRefused),
    /// The artifact may not be written.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The change was made for another revision.
    #[error(transparent)]
    Stale(#[from] StaleRevision),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PersonOnly> for ScheduleError {
    fn from(_: PersonOnly) -> Self {
        Self::PersonOnly
    }
}

impl From<ScheduleError> for Failure {
    fn from(err: ScheduleError) -> Self {
        let message = err.to_string();
        match err {
            ScheduleError::PersonOnly => Self::new(ErrorCode::Forbidden, message)
                .suggest("propose it as `document.refresh`, and ask the person to switch it on"),
            ScheduleError::Find(err) => err.into(),
            ScheduleError::Refused(ScheduleChangeRefused::Schedule(refused)) => {
                refused_failure(&refused)
            }
            ScheduleError::Refused(ScheduleChangeRefused::Page(page)) => {
                Self::validation(ErrorCode::LiveArtifactInvalid, &page.issues())
            }
            ScheduleError::Begin(err) => err.into(),
            ScheduleError::Stale(err) => err.into(),
            ScheduleError::Store(err) => failure::store(err),
        }
    }
}

fn refused_failure(refused: &ScheduleRefused) -> Failure {
    let missing = |pointer: &str, fix: &str| {
        let issue = Issue::new(pointer, "required", refused.to_string()).fix(fix);
        Failure::validation(ErrorCode::LiveArtifactInvalid, &[issue])
    };
    match refused {
        ScheduleRefused::NoSchedule => missing(
            "/document/refresh",
            "say when: `od artifacts schedule ARTIFACT --every 1h`, or `{ \"every\": \"1h\" }`",
        ),
        ScheduleRefused::NoSource => {
            missing("/document/sourceJson", "give the artifact a source that a refresh can read")
        }
        ScheduleRefused::Invalid { issues } => {
            Failure::validation(ErrorCode::LiveArtifactInvalid, issues)
        }
    }
}

/// Returns the next runs of an artifact whose schedule runs, if none of them fails.
#[must_use]
pub fn next_runs(summary: &ArtifactSummary, now: Timestamp) -> Vec<Timestamp> {
    let schedule = summary.schedule.as_ref();
    let active = schedule.and_then(|line| line.active_since().map(|since| (line, since)));
    active
        .map_or_else(Vec::new, |(line, since)| line.refresh.next_runs(since, now, NEXT_RUNS.max()))
}

/// Returns whether agents of a project may switch on schedules of local sources.
pub(crate) async fn allowed_for_agents(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
) -> LocalSchedules {
    match caller {
        Caller::Person | Caller::PersonVia(_) | Caller::Schedule => LocalSchedules::PersonOnly,
        // A registry that does not answer allows nothing.
        Caller::Agent { .. } => match app.ports.projects.get(project).await {
            Ok(Some(found)) if found.allow_schedules => LocalSchedules::AgentsAllowed,
            Ok(_) | Err(_) => LocalSchedules::PersonOnly,
        },
    }
}

/// A slot that is due.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DueRun {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub artifact: ArtifactId,
    /// What a person calls it.
    pub title: String,
    /// The slot.
    pub run: SlotRun,
    /// The newest refresh of the log that it was worked out from.
    pub newest: Option<RefreshId>,
    /// The connector that it calls; none if it reads project files.
    pub connector: Option<String>,
}

/// The files whose changes start runs of an artifact.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct WatchedFiles {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub artifact: ArtifactId,
    /// The paths of the files in the project.
    pub files: Vec<String>,
}

/// Returns when an artifact last read its files: at its last refresh, or as its schedule was switched on
/// if there was none since. None if its schedule does not run.
pub async fn last_read(app: &App, watched: &WatchedFiles) -> Option<Timestamp> {
    let stored = app.ports.artifacts.load(&watched.project, &watched.artifact).await.ok()?;
    let since = stored.summary.schedule.as_ref()?.active_since()?;
    Some(stored.summary.last_refreshed_at.map_or(since, |refreshed| refreshed.max(since)))
}

/// The schedules that are due, as one look found them.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// The slots that are due, the longest due first.
    pub due: Vec<DueRun>,
    /// When the next slot comes.
    pub next: Option<Timestamp>,
    /// The files whose changes start runs.
    pub watched: Vec<WatchedFiles>,
    /// The artifacts that are older than they should be, or whose last refresh failed.
    pub stale: Vec<(ProjectId, ArtifactId, Freshness)>,
}

/// Why nobody could look.
#[derive(Debug, thiserror::Error)]
pub enum AgendaError {
    /// The registry of projects failed.
    #[error(transparent)]
    Registry(#[from] ProjectError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<AgendaError> for Failure {
    fn from(err: AgendaError) -> Self {
        match err {
            AgendaError::Registry(err) => failure::registry(err),
            AgendaError::Store(err) => failure::store(err),
        }
    }
}

/// Finds every slot that is due now, of one project or of all. Writes nothing.
pub async fn agenda(app: &App, project: Option<&ProjectId>) -> Result<Agenda, AgendaError> {
    let now = app.ports.clock.now();
    let projects: Vec<ProjectId> = match project {
        Some(project) => vec![project.clone()],
        None => app.ports.projects.list().await?.into_iter().map(|found| found.id).collect(),
    };
    let mut agenda = Agenda::default();
    for project in projects {
        // One project that cannot be listed now keeps the others from nothing.
        let Ok(list) = app.ports.artifacts.list(&project).await else { continue };
        for summary in list.iter() {
            agenda.take_in(summary, now);
        }
    }
    leave_to_others(app, &mut agenda).await;
    agenda
        .due
        .sort_by(|a, b| a.run.slot.cmp(&b.run.slot).then_with(|| a.artifact.cmp(&b.artifact)));
    Ok(agenda)
}

/// Leaves out the slots that only another machine of a team can run: of sources that read a project's
/// files, where this machine has none of them.
async fn leave_to_others(app: &App, agenda: &mut Agenda) {
    if app.ports.maintenance.place() == StorePlace::Files {
        return;
    }
    let catalogs = app.ports.connectors.iter().map(|connector| connector.catalog());
    let local: Vec<String> = catalogs
        .filter(|catalog| catalog.access == ConnectorAccess::Local)
        .map(|catalog| catalog.id.to_string())
        .collect();
    let reads_files =
        |due: &DueRun| due.connector.as_ref().is_none_or(|connector| local.contains(connector));
    let bound: HashSet<ProjectId> =
        agenda.due.iter().filter(|due| reads_files(due)).map(|due| due.project.clone()).collect();
    let mut absent = HashSet::new();
    for project in bound {
        if !matches!(app.ports.files.root(&project).await, Ok(Some(_))) {
            absent.insert(project);
        }
    }
    agenda.due.retain(|due| !reads_files(due) || !absent.contains(&due.project));
}

impl Agenda {
    fn take_in(&mut self, summary: &ArtifactSummary, now: Timestamp) {
        let freshness = Freshness::of(summary, now);
        let Some(line) = &summary.schedule else { return };
        if matches!(freshness, Freshness::Stale | Freshness::Failed) {
            self.stale.push((summary.project_id.clone(), summary.id.clone(), freshness));
        }
        let Some(since) = line.active_since() else { return };
        if !line.files.is_empty() {
            let (project, artifact) = (summary.project_id.clone(), summary.id.clone());
            self.watched.push(WatchedFiles { project, artifact, files: line.files.clone() });
        }
        match line.refresh.due(since, &line.runs, &summary.id, now) {
            Due::Now(run) => self.due.push(DueRun {
                project: summary.project_id.clone(),
                artifact: summary.id.clone(),
                title: summary.heading.title.clone(),
                run,
                newest: line.runs.newest.clone(),
                connector: line.connector.clone(),
            }),
            Due::Later(at, _) => self.next = Some(self.next.map_or(at, |next| next.min(at))),
            Due::Open => {}
        }
    }
}

/// Refreshes an artifact whose files have changed, as a schedule that was switched on asks for.
pub async fn run_changed(app: &App, watched: &WatchedFiles) -> SlotOutcome {
    let WatchedFiles { project, artifact, .. } = watched.clone();
    let (caller, cause) = (Caller::Schedule, Cause::FileChanged);
    run_refresh(app, RunRefresh { caller, project, artifact, accept_drift: false, cause }).await
}

/// The outcome of the run of a slot.
#[derive(Debug)]
pub enum SlotOutcome {
    /// The artifact was refreshed.
    Refreshed(Box<Refreshed>),
    /// Somebody else ran the slot, or refreshes the artifact right now.
    Elsewhere,
    /// The refresh began and failed, as its records say.
    Failed(Box<Failure>),
    /// The refresh could not begin, and nothing was recorded: the slot is still due.
    Refused(Box<Failure>),
}

/// Runs one slot that is due, unless somebody else has by now.
pub async fn run_slot(app: &App, due: &DueRun, trigger: Trigger) -> SlotOutcome {
    let DueRun { project, artifact, run, newest, .. } = due.clone();
    let cause = Cause::Slot { run, newest, trigger };
    let caller = Caller::Schedule;
    run_refresh(app, RunRefresh { caller, project, artifact, accept_drift: false, cause }).await
}

async fn run_refresh(app: &App, request: RunRefresh) -> SlotOutcome {
    match refresh::run(app, request, Mode::Commit).await {
        Ok(refreshed) => SlotOutcome::Refreshed(Box::new(refreshed)),
        Err(
            RefreshError::Locked { .. }
            | RefreshError::Begin(
                StoreError::RefreshLocked { .. } | StoreError::RefreshOvertaken { .. },
            ),
        ) => SlotOutcome::Elsewhere,
        Err(err @ RefreshError::Failed { .. }) => SlotOutcome::Failed(Box::new(err.into())),
        Err(err) => SlotOutcome::Refused(Box::new(err.into())),
    }
}
