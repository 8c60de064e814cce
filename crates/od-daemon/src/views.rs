//! The results of use cases as answers of the wire.
//!
//! Every door that runs the use cases itself says it with these: the daemon over HTTP, and the
//! command line where no daemon runs.

use od_app::artifacts::{InTrash, RollBackTo, RolledBack, TrashPage};
use od_app::projects::RemovedProject;
use od_app::refresh::run::Refreshed;
use od_app::schedule::ChangedSchedule;
use od_core::artifact::{ArtifactSummary, Freshness, ListCursor, ListPage, ListTally};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::ownership::origins;
use od_core::schedule::Outlook;
use od_ports::project_registry::Project;
use od_ports::store::{Drift, Stored, Trashed};
use od_wire::artifact::{
    ArtifactAnswer, ArtifactLine, ArtifactView, ArtifactsAnswer, DriftView, RefreshedAnswer,
    RolledBackAnswer, ToolArtifact, TrashAnswer, TrashLine,
};
use od_wire::project::{ProjectArtifacts, ProjectLine, ProjectView, RemovedProjectAnswer};
use od_wire::refresh::{RefreshView, RollbackView, ScheduleAnswer};

/// The address of the console.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Console {
    url: String,
}

impl Console {
    /// Returns the console of the daemon at this address.
    #[must_use]
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }

    /// Returns the daemon's address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the page of an artifact. Ids need no encoding.
    #[must_use]
    pub fn page(&self, project: &ProjectId, artifact: &ArtifactId) -> String {
        format!("{}{artifact}", self.pages(project))
    }

    /// Returns what stands before the id in the address of the page of each of a project's artifacts.
    #[must_use]
    pub fn pages(&self, project: &ProjectId) -> String {
        format!("{}/#/p/{project}/live/", self.url)
    }
}

/// An artifact with everything that is known about it.
///
/// # Errors
///
/// Fails if the artifact is damaged and has no good state left.
pub fn detail(
    console: &Console,
    stored: &Stored,
    warnings: Vec<Issue>,
    now: Timestamp,
) -> Result<ArtifactAnswer, Failure> {
    let Some(state) = &stored.state else { return Err(nothing_good(stored)) };
    Ok(ArtifactAnswer {
        artifact: artifact(stored)?,
        provenance: state.provenance.clone(),
        origins: origins(state, stored.committed_data.as_deref()),
        health: stored.health,
        drift: stored.drift.iter().map(drift).collect(),
        refreshable: stored.summary.refreshable,
        granted_elsewhere: stored.summary.granted_elsewhere,
        freshness: Freshness::of(&stored.summary, now),
        schedule: stored.summary.schedule.clone(),
        outlook: Outlook::of(&stored.summary, now),
        warnings,
        console_url: console.page(&stored.project, &stored.id),
    })
}

/// A refresh that succeeded, with the artifact it left.
///
/// # Errors
///
/// As [`detail`].
pub fn refreshed(console: &Console, refreshed: &Refreshed) -> Result<RefreshedAnswer, Failure> {
    let stored = &refreshed.stored;
    Ok(RefreshedAnswer {
        artifact: artifact(stored)?,
        refresh: refresh(refreshed),
        console_url: console.page(&stored.project, &stored.id),
    })
}

/// A refresh that succeeded, in few words.
#[must_use]
pub fn refresh(refreshed: &Refreshed) -> RefreshView {
    RefreshView {
        id: refreshed.refresh.clone(),
        status: refreshed.status().as_str().to_owned(),
        refreshed_source_count: refreshed.source_count,
        stale: refreshed.stale.clone(),
        changed: refreshed.changes.is_changed(),
        changes: refreshed.changes.clone(),
        redactions: refreshed.redactions.clone(),
    }
}

/// A state that is the current one again.
///
/// # Errors
///
/// As [`detail`].
pub fn rolled_back(console: &Console, done: RolledBack) -> Result<RolledBackAnswer, Failure> {
    let RolledBack { stored, to, changed, changes, warnings } = done;
    let (refresh_id, revision) = match to {
        RollBackTo::Refresh(refresh) => (Some(refresh), None),
        RollBackTo::Revision(revision) => (None, Some(revision)),
    };
    Ok(RolledBackAnswer {
        artifact: artifact(&stored)?,
        rollback: RollbackView { refresh_id, revision, changed, changes },
        warnings,
        console_url: console.page(&stored.project, &stored.id),
    })
}

/// A page of a list of artifacts, as it is at a time.
#[must_use]
pub fn lines(page: &ListPage, now: Timestamp) -> ArtifactsAnswer {
    ArtifactsAnswer {
        artifacts: page.lines.iter().map(|summary| line(summary, now)).collect(),
        total: page.total,
        next_cursor: page.next.as_ref().map(ListCursor::to_string),
    }
}

/// One artifact of a list, as it is at a time.
fn line(summary: &ArtifactSummary, now: Timestamp) -> ArtifactLine {
    ArtifactLine {
        summary: summary.clone(),
        freshness: Freshness::of(summary, now),
        outlook: Outlook::of(summary, now),
    }
}

/// A schedule after a change of it.
#[must_use]
pub fn scheduled(console: &Console, changed: &ChangedSchedule, now: Timestamp) -> ScheduleAnswer {
    let ChangedSchedule { stored, next_runs } = changed;
    ScheduleAnswer {
        artifact: line(&stored.summary, now),
        next_runs: next_runs.clone(),
        console_url: console.page(&stored.project, &stored.id),
    }
}

/// An artifact in the trash.
#[must_use]
pub fn in_trash(line: InTrash) -> TrashLine {
    let InTrash { project: project_id, trashed } = line;
    let Trashed { artifact_id, title, deleted_at, expires_at: restorable_until } = trashed;
    TrashLine { artifact_id, project_id, title, deleted_at, restorable_until }
}

/// A page of the trash.
#[must_use]
pub fn trash(page: TrashPage) -> TrashAnswer {
    let TrashPage { lines, next, total } = page;
    let next_cursor = next.as_ref().map(ListCursor::to_string);
    TrashAnswer { trash: lines.into_iter().map(in_trash).collect(), total, next_cursor }
}

/// A project of a list, with its artifacts counted if they can be read.
#[must_use]
pub fn project_line(found: &Project, tally: Option<ListTally>) -> ProjectLine {
    let count = |count| u64::try_from(count).unwrap_or(u64::MAX);
    let artifacts = tally.map(|tally| ProjectArtifacts {
        total: count(tally.total()),
        archived: count(tally.archived),
        failed: count(tally.failed),
        damaged: count(tally.damaged()),
    });
    ProjectLine { project: project(found), artifacts }
}

/// A project.
#[must_use]
pub fn project(project: &Project) -> ProjectView {
    ProjectView {
        id: project.id.clone(),
        name: project.name.clone(),
        root: project.root.as_ref().map(|root| root.display().to_string()),
        created_at: project.created_at,
    }
}

/// A project that is no longer in use.
#[must_use]
pub fn removed(removed: RemovedProject) -> RemovedProjectAnswer {
    let RemovedProject { project: found, trashed } = removed;
    RemovedProjectAnswer { removed: true, project: project(&found), trashed }
}

/// An artifact in few words.
#[must_use]
pub fn compact(console: &Console, summary: &ArtifactSummary) -> ToolArtifact {
    ToolArtifact {
        id: summary.id.clone(),
        heading: summary.heading.clone(),
        revision: summary.revision,
        refresh_status: summary.refresh_status,
        refreshable: summary.refreshable,
        health: summary.health.state,
        updated_at: summary.updated_at,
        restored: summary.restored,
        console_url: console.page(&summary.project_id, &summary.id),
    }
}

/// An artifact with its data; a damaged one without any good state has none.
fn artifact(stored: &Stored) -> Result<ArtifactView, Failure> {
    match stored.state.as_deref() {
        Some(state) => {
            Ok(ArtifactView { artifact: state.artifact.clone(), data: state.data.clone() })
        }
        None => Err(nothing_good(stored)),
    }
}

fn drift(drift: &Drift) -> DriftView {
    DriftView {
        file: drift.file.file_name().to_owned(),
        committed: drift.committed.clone(),
        found: drift.found.clone(),
    }
}

fn nothing_good(stored: &Stored) -> Failure {
    let message = format!("artifact `{}` is damaged and has no good state left", stored.id);
    Failure::new(ErrorCode::LiveArtifactNotHealthy, message)
        .suggest(format!("run `od artifacts repair {}`", stored.id))
        .detail("health", stored.health.state.as_str())
}
