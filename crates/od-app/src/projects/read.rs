//! Read projects.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::ProjectId;
use od_ports::project_registry::{Project, ProjectError};

use crate::{App, Caller};

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

impl From<&ReadProjectError> for Failure {
    fn from(err: &ReadProjectError) -> Self {
        match err {
            ReadProjectError::NotFound { project } => not_found(project),
            ReadProjectError::Registry(err) => failure(err),
        }
    }
}

/// What helps where a data directory beside a project names a directory elsewhere.
pub(crate) const SUGGEST_OTHER_DATA_DIR: &str =
    "register it in another data directory: OD_DATA_DIR=~/.open-design/data od init DIR";

/// Says what the registry refused.
pub(crate) fn failure(err: &ProjectError) -> Failure {
    match err {
        ProjectError::Exists { project } => Failure::new(ErrorCode::Conflict, err.to_string())
            .suggest("choose another id, or use the project that is there")
            .detail("projectId", project.as_str()),
        ProjectError::NotFound { project } => not_found(project),
        ProjectError::Damaged { .. } => {
            Failure::new(ErrorCode::LiveArtifactStorageFailed, err.to_string())
                .suggest("mend or remove the project's project.json")
        }
        ProjectError::RootOutside { .. } => {
            Failure::new(ErrorCode::BadRequest, err.to_string()).suggest(SUGGEST_OTHER_DATA_DIR)
        }
        ProjectError::Io { .. } => {
            Failure::new(ErrorCode::LiveArtifactStorageFailed, err.to_string())
                .suggest("check free space and permissions of the data directory, then try again")
        }
    }
}

pub(crate) fn not_found(project: &ProjectId) -> Failure {
    Failure::new(ErrorCode::ProjectNotFound, format!("no project `{project}`"))
        .suggest("list the projects, or make one with `od init`")
        .detail("projectId", project.as_str())
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
