//! Read a JSON file of a project, to see what a live artifact of it would hold.

use od_core::error::Failure;
use od_core::ids::{ProjectId, RelPath};
use od_core::json::BoundedJson;

use super::read::{ReadProjectError, get};
use crate::connectors::{SourceRefused, read_file};
use crate::{App, Caller};

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadJsonError {
    /// There is no such project that the caller may see.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// A refresh would not get it either.
    #[error(transparent)]
    Refused(#[from] SourceRefused),
}

impl From<&ReadJsonError> for Failure {
    fn from(err: &ReadJsonError) -> Self {
        match err {
            ReadJsonError::Project(err) => Self::from(err),
            ReadJsonError::Refused(err) => Self::from(err),
        }
    }
}

/// Returns what a refresh from this file would read.
pub async fn read_json(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    path: &RelPath,
) -> Result<BoundedJson, ReadJsonError> {
    let project = get(app, caller, project).await?;
    Ok(read_file(app, &project.id, path).await?)
}
