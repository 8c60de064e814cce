//! The files of a project's root directory.

use std::fmt;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use od_core::ids::{ProjectId, RelPath, Timestamp};
use serde::Serialize;

/// One regular file under a project's root.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// The path from the root.
    pub path: RelPath,
    /// The file's length.
    pub bytes: u64,
    /// When it was last written.
    pub modified_at: Timestamp,
}

/// A bounded listing.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileListing {
    /// The files, sorted by path.
    pub files: Vec<FileEntry>,
    /// Whether there were more than the limit.
    pub truncated: bool,
}

/// A regular file of a project, where it lies and which it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LocatedFile {
    /// Absolute; the root's own links are resolved, and there are none below it.
    pub path: PathBuf,
    /// The device it lies on.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
}

/// Reads the files of a project, and no others.
///
/// # Contract
///
/// - No path leaves the root: not by `..`, not by an absolute path, not by a symbolic link, not by
///   swapping a directory for a link while the call runs.
/// - Only regular files are opened. The data directory (wherever it lies below the root, by identity
///   and not by name), `.git` and `.live-artifacts` are refused by `read` and absent from `list`.
/// - A project without a root has no files: `list` is empty, `read` is [`FilesError::NoRoot`]. One whose
///   root is not there is [`FilesError::RootMissing`] to every call.
/// - `read` never returns more than `bytes_max`, and never allocates more than that.
#[async_trait]
pub trait ProjectFiles: fmt::Debug + Send + Sync {
    /// Lists regular files, at most `files_max` of them.
    async fn list(&self, project: &ProjectId, files_max: usize) -> Result<FileListing, FilesError>;
    /// Reads one file whole.
    async fn read(
        &self,
        project: &ProjectId,
        path: &RelPath,
        bytes_max: u64,
    ) -> Result<Vec<u8>, FilesError>;
    /// Checks a path as [`Self::read`] does and returns where the file is, for libraries that take a
    /// path (SQLite). They must open it without following links, and compare its identity.
    async fn locate(&self, project: &ProjectId, path: &RelPath) -> Result<LocatedFile, FilesError>;
    /// Returns the project's root, for programs that take a directory (git).
    async fn root(&self, project: &ProjectId) -> Result<Option<PathBuf>, FilesError>;
}

/// The reason a path was refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RefusedPath {
    /// It would leave the root, or a symbolic link stands in the way.
    Escapes,
    /// It lies in the daemon's own data directory.
    DataDirectory,
    /// It lies in `.git` or `.live-artifacts`.
    Reserved,
    /// It is a directory, device, socket or pipe.
    NotRegular,
}

impl RefusedPath {
    /// Returns the reason in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Escapes => "it leaves the project, or passes a symbolic link",
            Self::DataDirectory => "it lies in the data directory",
            Self::Reserved => "`.git` and `.live-artifacts` are not project files",
            Self::NotRegular => "it is not a regular file",
        }
    }
}

/// The reason a file was not given.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// There is no such project.
    #[error("no project `{project}`")]
    ProjectNotFound {
        /// The id asked for.
        project: ProjectId,
    },
    /// The project has no root directory.
    #[error("project `{project}` has no root directory")]
    NoRoot {
        /// The project.
        project: ProjectId,
    },
    /// The project's root lies where its data directory may not reach.
    #[error("project `{project}` is bound to `{}`, outside `{}`, the only place that a data directory there may name", root.display(), allowed.display())]
    RootOutside {
        /// The project.
        project: ProjectId,
        /// The root that its file names.
        root: PathBuf,
        /// The directory that it has to lie in.
        allowed: PathBuf,
    },
    /// The directory that the project is bound to is not there.
    #[error("the folder `{}` of project `{project}` is gone; if it was moved, run `od projects rebind {project} --dir NEW_FOLDER`", root.display())]
    RootMissing {
        /// The project.
        project: ProjectId,
        /// The root that its file names.
        root: PathBuf,
    },
    /// There is no such file.
    #[error("no file `{path}` in the project")]
    NotFound {
        /// The path asked for.
        path: RelPath,
    },
    /// The path may not be read.
    #[error("`{path}` may not be read: {}", reason.as_str())]
    Refused {
        /// The path asked for.
        path: RelPath,
        /// The reason.
        reason: RefusedPath,
    },
    /// The file is longer than asked for.
    #[error("`{path}` has more than {allowed} bytes")]
    TooLarge {
        /// The path asked for.
        path: RelPath,
        /// The limit given by the caller.
        allowed: u64,
    },
    /// The disk refused.
    #[error("could not {action}")]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}
