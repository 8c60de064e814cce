//! Reading artifacts: one, its checks, a list, the history, earlier states.

use std::sync::Arc;

use od_core::artifact::{
    ArtifactSummary, DataView, ListCursor, ListPage, ListQuery, NoValue, Shown,
};
use od_core::checks::{CheckResult, work_out};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ArtifactId, MappingPath, ProjectId, RefreshId};
use od_ports::project_registry::ProjectError;
use od_ports::store::{History, PageRequest, Snapshot, SnapshotSummary, StoreError, Stored};
use serde::Serialize;

use crate::{App, Caller, failure};

/// About the bytes that a search goes through for each artifact.
const SEARCHED_LINE: usize = 256;

/// Returns one artifact, damaged or not.
pub async fn get(app: &App, caller: &Caller, address: Address) -> Result<Arc<Stored>, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.artifacts.load(&project, &address.artifact).await?)
}

/// Works out the checks of an artifact on the data it has, at this time. Writes nothing.
pub async fn check(app: &App, caller: &Caller, address: Address) -> Result<CheckReport, FindError> {
    let stored = get(app, caller, address).await?;
    let checks = stored.state.as_ref().map_or_else(Vec::new, |state| {
        let document = state.artifact.document.as_ref();
        let checks = document.map(|document| document.checks.as_slice()).unwrap_or_default();
        let before = &state.artifact.check_results;
        work_out(checks, state.data.value(), before, app.ports.clock.now())
    });
    Ok(CheckReport {
        project_id: stored.project.clone(),
        artifact_id: stored.id.clone(),
        title: stored.summary.heading.title.clone(),
        checks,
    })
}

/// Returns a line for every artifact, the last updated first, damaged ones included.
pub async fn list(
    app: &App,
    caller: &Caller,
    request: ListArtifacts,
) -> Result<Arc<[Arc<ArtifactSummary>]>, ListError> {
    let store = &app.ports.artifacts;
    let projects = projects_to_list(app, caller, request.project).await?;
    if let [project] = projects.as_slice() {
        return Ok(store.list(project).await?);
    }
    let mut found: Vec<Arc<ArtifactSummary>> = Vec::new();
    for project in projects {
        found.extend(store.list(&project).await?.iter().cloned());
    }
    found.sort_by_cached_key(|summary| ListCursor::of(summary));
    Ok(found.into())
}

/// Returns one page of the artifacts of a project, or of all, the last updated first.
///
/// A page that is not searched costs what its rows cost. A search goes through all of them, in turn with
/// other large work.
pub async fn page(app: &App, caller: &Caller, request: PageOfList) -> Result<ListPage, ListError> {
    let PageOfList { project, query, rows } = request;
    let only_active = match (query.show, &query.query) {
        (Shown::All, None) => false,
        (Shown::Active, None) => true,
        (Shown::Archived | Shown::Pinned | Shown::Attention, _) | (_, Some(_)) => {
            let listed = list(app, caller, ListArtifacts { project }).await?;
            let now = app.ports.clock.now();
            let search = || ListPage::cut(&listed, &query, rows, now);
            return Ok(app.cpu.run(listed.len() * SEARCHED_LINE, search).await);
        }
    };
    let after = query.cursor;
    let (mut lines, mut total, mut has_more) = (Vec::new(), 0, false);
    for project in projects_to_list(app, caller, project).await? {
        let request = PageRequest { after: after.clone(), rows, only_active };
        let page = app.ports.artifacts.page(&project, request).await?;
        total += page.tally.total() - if only_active { page.tally.archived } else { 0 };
        has_more |= page.has_more;
        lines.extend(page.lines);
    }
    // Each project gave its first ones: the first of all are among them.
    lines.sort_by_cached_key(|line| ListCursor::of(line));
    has_more |= lines.len() > rows;
    lines.truncate(rows);
    Ok(ListPage::of(lines, total, has_more))
}

async fn projects_to_list(
    app: &App,
    caller: &Caller,
    asked: Option<ProjectId>,
) -> Result<Vec<ProjectId>, ListError> {
    match asked {
        Some(project) if caller.may_see(&project) => Ok(vec![project]),
        Some(project) => Err(ListError::UnknownProject { project }),
        None => {
            let all = app.ports.projects.list().await?.into_iter().map(|project| project.id);
            Ok(all.filter(|project| caller.may_see(project)).collect())
        }
    }
}

/// Returns one artifact with the outline of its data, or of a part of it.
pub async fn outline(
    app: &App,
    caller: &Caller,
    address: Address,
    path: Option<&MappingPath>,
) -> Result<(Arc<Stored>, DataView), OutlineError> {
    let stored = get(app, caller, address).await?;
    let Some(state) = &stored.state else {
        return Err(OutlineError::NothingGood { artifact: stored.id.clone() });
    };
    let view = DataView::of(state.data.value(), path)?;
    Ok((stored, view))
}

/// Returns the records of an artifact's refreshes, newest first.
pub async fn history(app: &App, caller: &Caller, address: Address) -> Result<History, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.refresh_log.history(&project, &address.artifact).await?)
}

/// Returns the snapshots of an artifact, newest first.
pub async fn snapshots(
    app: &App,
    caller: &Caller,
    address: Address,
) -> Result<Vec<SnapshotSummary>, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.revisions.snapshots(&project, &address.artifact).await?)
}

/// Returns one snapshot of an artifact.
pub async fn snapshot(
    app: &App,
    caller: &Caller,
    address: Address,
    refresh: RefreshId,
) -> Result<Snapshot, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.revisions.snapshot(&project, &address.artifact, &refresh).await?)
}

/// Returns the project an artifact is in, if the caller may see it.
pub(crate) async fn find(
    app: &App,
    caller: &Caller,
    address: &Address,
) -> Result<ProjectId, FindError> {
    let not_found = || FindError::NotFound { artifact: address.artifact.clone() };
    let project = match (caller, &address.project) {
        (Caller::Agent { project, .. }, _) => project.clone(),
        (Caller::Person | Caller::PersonVia(_) | Caller::Schedule, Some(project)) => {
            project.clone()
        }
        (Caller::Person | Caller::PersonVia(_) | Caller::Schedule, None) => {
            app.ports.artifacts.locate(&address.artifact).await?.ok_or_else(not_found)?
        }
    };
    let named_another = address.project.as_ref().is_some_and(|named| *named != project);
    if named_another { Err(not_found()) } else { Ok(project) }
}

/// An artifact, as a request names it.
#[derive(Clone, Debug)]
pub struct Address {
    /// The project, if the request names one; then the artifact must be in it.
    pub project: Option<ProjectId>,
    /// The artifact.
    pub artifact: ArtifactId,
}

/// The checks of one artifact.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The project.
    pub project_id: ProjectId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its title.
    pub title: String,
    /// What each check came to. Ages go on between two commits, so this may differ from what is stored.
    pub checks: Vec<CheckResult>,
}

/// Why an artifact could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There is none that the caller may see. Another project's artifact is not there either.
    #[error("no artifact `{artifact}` here")]
    NotFound {
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<FindError> for Failure {
    fn from(err: FindError) -> Self {
        match err {
            FindError::NotFound { artifact } => failure::unknown_artifact(&artifact),
            FindError::Store(err) => failure::store(err),
        }
    }
}

/// Why an artifact's data could not be outlined.
#[derive(Debug, thiserror::Error)]
pub enum OutlineError {
    /// The artifact could not be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It is damaged, and nothing good is left.
    #[error("artifact `{artifact}` is damaged and has no good state left")]
    NothingGood {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// The data has nothing at the path.
    #[error(transparent)]
    NoValue(#[from] NoValue),
}

impl From<OutlineError> for Failure {
    fn from(err: OutlineError) -> Self {
        let message = err.to_string();
        match err {
            OutlineError::Find(err) => err.into(),
            OutlineError::NothingGood { artifact } => {
                Self::new(ErrorCode::LiveArtifactNotHealthy, message)
                    .suggest(format!("ask the person to run `od artifacts repair {artifact}`"))
            }
            OutlineError::NoValue(NoValue { path, near, beside }) => {
                let issue = Issue::new("/path", "unknown_path", message).got(path.as_str());
                let issue = match near {
                    Some(near) => issue.fix(near),
                    None => issue.fix("leave `path` out to see every path"),
                };
                let wanted = issue.want(format!("one of {}", beside.join(", ")));
                let issue =
                    if beside.is_empty() { wanted.want("a path of the outline") } else { wanted };
                Self::validation(ErrorCode::BadRequest, &[issue])
            }
        }
    }
}

/// The artifacts to list.
#[derive(Clone, Debug, Default)]
pub struct ListArtifacts {
    /// The project; every one that the caller may see if there is none.
    pub project: Option<ProjectId>,
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct PageOfList {
    /// The project; every one that the caller may see if there is none.
    pub project: Option<ProjectId>,
    /// The part of its list.
    pub query: ListQuery,
    /// At most so many lines.
    pub rows: usize,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The caller may not see the project.
    #[error("no project `{project}`")]
    UnknownProject {
        /// The id asked for.
        project: ProjectId,
    },
    /// The projects could not be read.
    #[error(transparent)]
    Projects(#[from] ProjectError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ListError> for Failure {
    fn from(err: ListError) -> Self {
        match err {
            ListError::UnknownProject { project } => failure::unknown_project(&project),
            ListError::Projects(err) => failure::registry(err),
            ListError::Store(err) => failure::store(err),
        }
    }
}
