//! List the files of a project.

use od_core::credential::is_secret_path;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::ProjectId;
use od_ports::project_files::{FileListing, FilesError};

use crate::failure::{SUGGEST_OTHER_DATA_DIR, unknown_project};
use crate::{App, Caller};

/// The most files one answer names.
const FILES_MAX: usize = 2_000;

/// Why the files could not be listed.
#[derive(Debug, thiserror::Error)]
pub enum ProjectFilesError {
    /// There is no such project that the caller may see.
    #[error("no project `{project}`")]
    NotFound {
        /// The id asked for.
        project: ProjectId,
    },
    /// The files could not be read.
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl From<ProjectFilesError> for Failure {
    fn from(err: ProjectFilesError) -> Self {
        let message = err.to_string();
        match err {
            ProjectFilesError::NotFound { project }
            | ProjectFilesError::Files(FilesError::ProjectNotFound { project }) => {
                unknown_project(&project)
            }
            ProjectFilesError::Files(FilesError::NoRoot { .. }) => {
                Self::new(ErrorCode::NotFound, message)
                    .suggest("use a project that `od init` registered in its directory")
            }
            ProjectFilesError::Files(FilesError::RootOutside { .. }) => {
                Self::new(ErrorCode::Forbidden, message).suggest(SUGGEST_OTHER_DATA_DIR)
            }
            ProjectFilesError::Files(
                FilesError::NotFound { .. }
                | FilesError::Refused { .. }
                | FilesError::TooLarge { .. },
            ) => Self::new(ErrorCode::NotFound, message)
                .suggest("list the project's files and name one of them"),
            ProjectFilesError::Files(FilesError::Io { .. }) => {
                Self::new(ErrorCode::LiveArtifactStorageFailed, message)
                    .suggest("check that the project's root directory is there and readable")
            }
        }
    }
}

/// Returns the regular files below a project's root, without the daemon's own and without files that
/// hold secrets by what they are.
pub async fn files(
    app: &App,
    caller: &Caller,
    project: ProjectId,
) -> Result<FileListing, ProjectFilesError> {
    if !caller.may_see(&project) {
        return Err(ProjectFilesError::NotFound { project });
    }
    let mut listing = app.ports.files.list(&project, FILES_MAX).await?;
    listing.files.retain(|file| !is_secret_path(file.path.as_str()));
    Ok(listing)
}
