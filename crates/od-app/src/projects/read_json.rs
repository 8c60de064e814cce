//! Read a JSON file of a project, to see what a live artifact of it would hold.

use od_core::error::Failure;
use od_core::ids::{ProjectId, RelPath};
use od_core::json::BoundedJson;
use od_ports::project_files::FileListing;

use super::files::{ProjectFilesError, files};
use crate::connectors::{SourceRefused, read_file};
use crate::{App, Caller};

/// A file, and what is in it.
#[derive(Clone, Debug)]
pub struct JsonFile {
    /// The listing of this file alone.
    pub listing: FileListing,
    /// What a refresh from it would read.
    pub content: BoundedJson,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadJsonError {
    /// It could not be looked for.
    #[error(transparent)]
    Files(#[from] ProjectFilesError),
    /// A refresh would not get it either.
    #[error(transparent)]
    Refused(#[from] SourceRefused),
}

impl From<ReadJsonError> for Failure {
    fn from(err: ReadJsonError) -> Self {
        match err {
            ReadJsonError::Files(err) => Self::from(err),
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
) -> Result<JsonFile, ReadJsonError> {
    let mut listing = files(app, caller, project.clone()).await?;
    let content = read_file(app, &project, path).await?;
    listing.files.retain(|file| file.path == *path);
    Ok(JsonFile { listing: FileListing { truncated: false, ..listing }, content })
}
