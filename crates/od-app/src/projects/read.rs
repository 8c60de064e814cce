//! Read projects.

use od_core::error::Failure;
use od_core::ids::ProjectId;
use od_ports::project_registry::{Project, ProjectError};

use crate::{App, Caller, failure};

/// Why a project could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadProjectError {
    /// There is none that the caller may see.
    #[error("no project `{project}`")]
    NotFound {
        /// The id asked for.
        project: ProjectId,
    },
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] ProjectError),
}

impl From<ReadProjectError> for Failure {
    fn from(err: ReadProjectError) -> Self {
        match err {
            ReadProjectError::NotFound { project } => failure::unknown_project(&project),
            ReadProjectError::Registry(err) => failure::registry(err),
        }
    }
}

/// Returns the projects the caller may see, sorted by id.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Project>, ReadProjectError> {
    let mut projects = app.ports.projects.list().await?;
    projects.retain(|project| caller.may_see(&project.id));
    Ok(projects)
}

/// Returns one project.
pub async fn get(
    app: &App,
    caller: &Caller,
    project: ProjectId,
) -> Result<Project, ReadProjectError> {
    if !caller.may_see(&project) {
        return Err(ReadProjectError::NotFound { project });
    }
    match app.ports.projects.get(&project).await? {
        Some(found) => Ok(found),
        None => Err(ReadProjectError::NotFound { project }),
    }
}
