//! List the artifacts of a project.

use std::sync::Arc;

use od_core::artifact::ArtifactSummary;
use od_core::ids::ProjectId;
use od_ports::store_error::StoreError;

use super::find::FindError;
use crate::{App, Caller};

/// Of which project.
#[derive(Clone, Debug)]
pub struct ListArtifacts {
    /// The project.
    pub project: ProjectId,
}

/// Returns a line for every artifact of a project, the last updated first, damaged ones included.
pub async fn list(
    app: &App,
    caller: &Caller,
    request: ListArtifacts,
) -> Result<Arc<[Arc<ArtifactSummary>]>, FindError> {
    let ListArtifacts { project } = request;
    if !caller.may_see(&project) {
        return Err(StoreError::ProjectNotFound { project }.into());
    }
    Ok(app.ports.artifacts.list(&project).await?)
}
