//! Read projects.

use od_core::artifact::ListTally;
use od_core::error::Failure;
use od_core::ids::ProjectId;
use od_ports::project_registry::{Project, ProjectError};
use od_ports::store::PageRequest;

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

/// Returns the projects the caller may see with their artifacts counted, where those can be read.
pub async fn counted(
    app: &App,
    caller: &Caller,
) -> Result<Vec<(Project, Option<ListTally>)>, ReadProjectError> {
    let mut found = Vec::new();
    for project in list(app, caller).await? {
        let page = app.ports.artifacts.page(&project.id, PageRequest::default()).await;
        found.push((project, page.ok().map(|page| page.tally)));
    }
    Ok(found)
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
