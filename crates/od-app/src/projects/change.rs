//! Rename a project, bind it to another directory, or remove it.

use std::path::PathBuf;

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::project_registry::{Project, ProjectError};
use od_ports::store::StoreError;

use super::create::{CreateProjectError, checked_name};
use crate::artifacts::{self, Address, DeleteArtifact, DeleteError};
use crate::{App, Caller, Mode, failure};

/// Gives a project another name. Its id stays.
pub async fn rename(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    name: &str,
) -> Result<Project, ChangeProjectError> {
    caller.require_person().map_err(|_| ChangeProjectError::PersonOnly)?;
    let name = checked_name(name)?;
    change(app, project, |found| Project { name, ..found }).await
}

/// Binds a project to the directory that its sources may read from now on. For the command line.
pub async fn rebind(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    root: PathBuf,
) -> Result<Project, ChangeProjectError> {
    caller.require_person().map_err(|_| ChangeProjectError::PersonOnly)?;
    change(app, project, |found| Project { root: Some(root), ..found }).await
}

/// Lets agents of a project switch on schedules of sources that only read this machine, or no longer.
/// For the command line.
pub async fn allow_schedules(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    allow_schedules: bool,
) -> Result<Project, ChangeProjectError> {
    caller.require_person().map_err(|_| ChangeProjectError::PersonOnly)?;
    change(app, project, |found| Project { allow_schedules, ..found }).await
}

/// Moves every artifact of a project to the trash and takes the project out of use. The files of its
/// directory are not touched; bringing an artifact back brings the project back.
pub async fn remove(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
) -> Result<RemovedProject, RemoveProjectError> {
    caller.require_person().map_err(|_| RemoveProjectError::PersonOnly)?;
    let found = app.ports.projects.get(project).await?;
    let found = found.ok_or_else(|| ProjectError::NotFound { project: project.clone() })?;
    let mut trashed = Vec::new();
    // The project goes last: a crash between leaves a project with fewer artifacts, and nothing lost.
    for line in app.ports.artifacts.list(project).await?.iter() {
        let address = Address { project: Some(project.clone()), artifact: line.id.clone() };
        let request = DeleteArtifact { address, if_revision: None };
        artifacts::delete(app, caller, request, Mode::Commit).await?;
        trashed.push(line.id.clone());
    }
    app.ports.projects.remove(project).await?;
    Ok(RemovedProject { project: found, trashed })
}

async fn change(
    app: &App,
    project: &ProjectId,
    edit: impl FnOnce(Project) -> Project,
) -> Result<Project, ChangeProjectError> {
    let found = app.ports.projects.get(project).await?;
    let found = found.ok_or_else(|| ProjectError::NotFound { project: project.clone() })?;
    let changed = edit(found);
    app.ports.projects.update(changed.clone()).await?;
    Ok(changed)
}

/// A project that is no longer in use.
#[derive(Clone, Debug)]
pub struct RemovedProject {
    /// The project, as it was.
    pub project: Project,
    /// Its artifacts, which are in the trash now.
    pub trashed: Vec<ArtifactId>,
}

/// Why a project was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeProjectError {
    /// Only a person changes projects.
    #[error("an agent may not change projects")]
    PersonOnly,
    /// The name is empty or too long.
    #[error(transparent)]
    Name(#[from] CreateProjectError),
    /// The registry refused or failed.
    #[error(transparent)]
    Registry(#[from] ProjectError),
}

impl From<ChangeProjectError> for Failure {
    fn from(err: ChangeProjectError) -> Self {
        match err {
            ChangeProjectError::PersonOnly => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("ask the person to change it"),
            ChangeProjectError::Name(err) => err.into(),
            ChangeProjectError::Registry(err) => failure::registry(err),
        }
    }
}

/// Why a project was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveProjectError {
    /// Only a person removes projects.
    #[error("an agent may not remove projects")]
    PersonOnly,
    /// One of its artifacts could not be moved to the trash; those before it are there.
    #[error(transparent)]
    Artifact(#[from] DeleteError),
    /// Its artifacts could not be listed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The registry refused or failed.
    #[error(transparent)]
    Registry(#[from] ProjectError),
}

impl From<RemoveProjectError> for Failure {
    fn from(err: RemoveProjectError) -> Self {
        match err {
            RemoveProjectError::PersonOnly => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("ask the person to remove it"),
            RemoveProjectError::Artifact(err) => err.into(),
            RemoveProjectError::Store(err) => failure::store(err),
            RemoveProjectError::Registry(err) => failure::registry(err),
        }
    }
}
