//! List the artifacts of a project, or of all.

use std::cmp::Reverse;
use std::sync::Arc;

use od_core::artifact::ArtifactSummary;
use od_core::error::Failure;
use od_core::ids::ProjectId;
use od_ports::project_registry::ProjectError;
use od_ports::store::StoreError;

use crate::{App, Caller, failure};

/// Of which project.
#[derive(Clone, Debug, Default)]
pub struct ListArtifacts {
    /// The project; every one that the caller may see if there is none.
    pub project: Option<ProjectId>,
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

/// Returns a line for every artifact, the last updated first, damaged ones included.
pub async fn list(
    app: &App,
    caller: &Caller,
    request: ListArtifacts,
) -> Result<Arc<[Arc<ArtifactSummary>]>, ListError> {
    let store = &app.ports.artifacts;
    if let Some(project) = request.project {
        if !caller.may_see(&project) {
            return Err(ListError::UnknownProject { project });
        }
        return Ok(store.list(&project).await?);
    }
    let mut found: Vec<Arc<ArtifactSummary>> = Vec::new();
    for project in app.ports.projects.list().await? {
        if caller.may_see(&project.id) {
            found.extend(store.list(&project.id).await?.iter().cloned());
        }
    }
    found.sort_by_key(|summary| Reverse(summary.updated_at));
    Ok(found.into())
}
