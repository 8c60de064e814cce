//! Listing the files of a project, and reading one as a source would.

use od_core::connector::DatabaseTable;
use od_core::credential::is_secret_path;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ProjectId, RelPath};
use od_core::json::BoundedJson;
use od_ports::project_files::{FileListing, FilesError};

use crate::connectors::{FileContent, SourceRefused, read_file};
use crate::failure::{SUGGEST_OTHER_DATA_DIR, unknown_project};
use crate::{App, Caller};

/// The most files one answer names.
const FILES_MAX: usize = od_core::limits::FILES_LISTED.max();

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

/// Returns what a source would read of this file: a document, or tables with their columns.
pub async fn read(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    path: &RelPath,
) -> Result<ReadFile, ReadFileError> {
    let mut listing = files(app, caller, project.clone()).await?;
    let FileContent { content, tables } = read_file(app, &project, path).await?;
    listing.files.retain(|file| file.path == *path);
    Ok(ReadFile { listing: FileListing { truncated: false, ..listing }, content, tables })
}

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
            ProjectFilesError::Files(FilesError::RootMissing { project, root }) => {
                let message = format!("the folder `{}` of this project is gone", root.display());
                Self::new(ErrorCode::NotFound, message).suggest(format!(
                    "if it was moved, run `od projects rebind {project} --dir NEW_FOLDER`"
                ))
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

/// A file, and what is in it.
#[derive(Clone, Debug)]
pub struct ReadFile {
    /// The listing of this file alone.
    pub listing: FileListing,
    /// The document that a source would read; of rows their shape and the first ones.
    pub content: Option<BoundedJson>,
    /// The tables of a database, or the rows of a file as one.
    pub tables: Vec<DatabaseTable>,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFileError {
    /// It could not be looked for.
    #[error(transparent)]
    Files(#[from] ProjectFilesError),
    /// A refresh would not get it either.
    #[error(transparent)]
    Refused(#[from] SourceRefused),
}

impl From<ReadFileError> for Failure {
    fn from(err: ReadFileError) -> Self {
        match err {
            ReadFileError::Files(err) => Self::from(err),
            ReadFileError::Refused(err) => Self::from(err),
        }
    }
}
