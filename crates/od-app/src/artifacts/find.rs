//! From an id to the one artifact the caller may see.

use od_core::error::Failure;
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::StoreError;

use crate::{App, Caller, failure};

/// Which artifact, as a request names it.
#[derive(Clone, Debug)]
pub struct Address {
    /// The project, if the request names one; then the artifact must be in it.
    pub project: Option<ProjectId>,
    /// The artifact.
    pub artifact: ArtifactId,
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

/// Returns the project an artifact is in, if the caller may see it.
pub(crate) async fn find(
    app: &App,
    caller: &Caller,
    address: &Address,
) -> Result<ProjectId, FindError> {
    let not_found = || FindError::NotFound { artifact: address.artifact.clone() };
    let project = match (caller, &address.project) {
        (Caller::Agent { project, .. }, _) => project.clone(),
        (Caller::Person, Some(project)) => project.clone(),
        (Caller::Person, None) => {
            app.ports.artifacts.locate(&address.artifact).await?.ok_or_else(not_found)?
        }
    };
    let named_another = address.project.as_ref().is_some_and(|named| *named != project);
    if named_another { Err(not_found()) } else { Ok(project) }
}
