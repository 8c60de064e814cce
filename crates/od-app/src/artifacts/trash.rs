//! Removing artifacts to the trash, and bringing them back.

use std::sync::Arc;

use od_core::artifact::ListCursor;
use od_core::error::{ErrorCode, Failure};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::limits;
use od_ports::project_registry::ProjectError;
use od_ports::store::{StoreError, Stored, Trashed};

use super::read::{Address, FindError, ListError, find};
use super::transaction::{Mode, StaleRevision, check_revision};
use crate::{App, Caller, failure};

/// Moves an artifact, healthy or not, to a trash that is kept for 7 days. An agent may remove what its
/// own run created, so that it can take back a mistake and nothing else.
pub async fn delete(
    app: &App,
    caller: &Caller,
    request: DeleteArtifact,
    mode: Mode,
) -> Result<Trashed, DeleteError> {
    let DeleteArtifact { address, if_revision } = request;
    let project = find(app, caller, &address).await?;
    let before = app.ports.artifacts.load(&project, &address.artifact).await?;
    if caller.run().is_some_and(|run| before.summary.created_by_run_id.as_ref() != Some(run)) {
        return Err(DeleteError::AnothersWork { artifact: before.id.clone() });
    }
    match mode {
        Mode::Commit => {}
        Mode::DryRun => {
            if let Some(state) = &before.state {
                check_revision(state, if_revision)?;
            }
            let now = app.ports.clock.now();
            return Ok(Trashed {
                artifact_id: before.id.clone(),
                title: Some(before.summary.heading.title.clone()),
                deleted_at: now,
                expires_at: now.plus_ms(limits::TRASH_RETENTION.allowed),
            });
        }
    }
    let trashed = app.ports.trash.delete(&project, &address.artifact, if_revision).await?;
    app.publish(caller.run(), ArtifactAction::Deleted, &before);
    Ok(trashed)
}

/// Returns what can be brought back, the last deleted first.
pub async fn trash(
    app: &App,
    caller: &Caller,
    request: ListTrash,
) -> Result<Vec<InTrash>, ListError> {
    let mut found = Vec::new();
    // What a removed project held is in its trash, and can be brought back like everything else.
    let mut projects = app.ports.projects.list().await?;
    projects.extend(app.ports.projects.removed().await?);
    for project in projects {
        let project = project.id;
        let asked = request.project.as_ref().is_none_or(|asked| *asked == project);
        if asked && caller.may_see(&project) {
            let lines = app.ports.trash.list(&project).await?;
            found.extend(
                lines.into_iter().map(|trashed| InTrash { project: project.clone(), trashed }),
            );
        }
    }
    found.sort_by_cached_key(InTrash::place);
    Ok(found)
}

/// Returns one page of the trash, the last deleted first.
pub async fn trash_page(
    app: &App,
    caller: &Caller,
    request: ListTrash,
    after: Option<ListCursor>,
    rows: usize,
) -> Result<TrashPage, ListError> {
    let mut lines = trash(app, caller, request).await?;
    let total = lines.len();
    if let Some(after) = after {
        lines.retain(|line| line.place() > after);
    }
    let has_more = lines.len() > rows;
    lines.truncate(rows);
    let next = lines.last().filter(|_| has_more).map(InTrash::place);
    Ok(TrashPage { lines, next, total })
}

/// Returns what [`restore`] would bring back, the last deleted if there are several of its id.
pub async fn find_restorable(
    app: &App,
    caller: &Caller,
    address: &Address,
) -> Result<InTrash, RestoreError> {
    caller.require_person().map_err(|_| RestoreError::PersonOnly)?;
    let Address { project, artifact } = address;
    let trash = trash(app, caller, ListTrash { project: project.clone() }).await?;
    let found = trash.into_iter().find(|line| line.trashed.artifact_id == *artifact);
    let found = found.ok_or_else(|| RestoreError::NotInTrash { artifact: artifact.clone() })?;
    match app.ports.artifacts.load(&found.project, artifact).await {
        Ok(_) => Err(RestoreError::Exists { artifact: artifact.clone() }),
        Err(StoreError::NotFound { .. }) => Ok(found),
        Err(err) => Err(err.into()),
    }
}

/// Brings an artifact back from the trash, and its project with it if that was removed.
pub async fn restore(
    app: &App,
    caller: &Caller,
    address: Address,
) -> Result<Arc<Stored>, RestoreError> {
    let InTrash { project, .. } = find_restorable(app, caller, &address).await?;
    if app.ports.projects.get(&project).await?.is_none() {
        app.ports.projects.restore(&project).await?;
    }
    let stored = app.ports.trash.restore(&project, &address.artifact).await?;
    app.publish(caller.run(), ArtifactAction::Created, &stored);
    Ok(stored)
}

/// An artifact to remove.
#[derive(Clone, Debug)]
pub struct DeleteArtifact {
    /// The artifact.
    pub address: Address,
    /// The revision that it has to be at, if that matters.
    pub if_revision: Option<Revision>,
}

/// Why it was not removed.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// An agent removes what its own run created, and nothing else.
    #[error("artifact `{artifact}` was not created by this run")]
    AnothersWork {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// It is at another revision than the request names.
    #[error(transparent)]
    Stale(#[from] StaleRevision),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<DeleteError> for Failure {
    fn from(err: DeleteError) -> Self {
        match err {
            DeleteError::Find(err) => err.into(),
            DeleteError::AnothersWork { ref artifact } => {
                Self::new(ErrorCode::Forbidden, err.to_string()).suggest(format!(
                    "ask the person to remove it in the console or with `od artifacts delete {artifact}`; an \
                     update with \"status\": \"archived\" puts it away"
                ))
            }
            DeleteError::Stale(err) => err.into(),
            DeleteError::Store(err) => failure::store(err),
        }
    }
}

/// The trash to list.
#[derive(Clone, Debug, Default)]
pub struct ListTrash {
    /// The project; every one that the caller may see if there is none.
    pub project: Option<ProjectId>,
}

/// An artifact in the trash of a project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InTrash {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub trashed: Trashed,
}

impl InTrash {
    /// Returns its place in the list of the trash.
    fn place(&self) -> ListCursor {
        ListCursor::at(self.trashed.deleted_at, self.trashed.artifact_id.clone())
    }
}

/// A page of the trash, the last deleted first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TrashPage {
    /// The lines.
    pub lines: Vec<InTrash>,
    /// Where the next page begins, if there is one.
    pub next: Option<ListCursor>,
    /// The number of artifacts in the trash.
    pub total: usize,
}

/// Why it was not brought back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// No trash has it.
    #[error("no artifact `{artifact}` in the trash")]
    NotInTrash {
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// An artifact of its id is there.
    #[error("artifact `{artifact}` exists already")]
    Exists {
        /// The id.
        artifact: ArtifactId,
    },
    /// Only a person brings artifacts back.
    #[error("an agent may not restore artifacts")]
    PersonOnly,
    /// The trash could not be read.
    #[error(transparent)]
    Trash(#[from] ListError),
    /// Its project could not be taken into use again.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RestoreError> for Failure {
    fn from(err: RestoreError) -> Self {
        let message = err.to_string();
        match err {
            RestoreError::NotInTrash { artifact } => {
                Self::new(ErrorCode::LiveArtifactNotFound, message)
                    .suggest(
                        "`od artifacts list --trash` shows what can be brought back, for 7 days",
                    )
                    .detail("artifactId", artifact.as_str())
            }
            RestoreError::Exists { artifact } => failure::id_taken(&artifact),
            RestoreError::PersonOnly => {
                Self::new(ErrorCode::Forbidden, message).suggest("ask the person to restore it")
            }
            RestoreError::Trash(err) => err.into(),
            RestoreError::Project(err) => failure::registry(err),
            RestoreError::Store(err) => failure::store(err),
        }
    }
}
