//! Where everything lies in a data directory.

use std::io;
use std::path::{Path, PathBuf};

use od_core::ids::{ArtifactId, ProjectId};

use crate::disk::{Dir, DiskError};

pub(crate) const PROJECTS: &str = "projects";
pub(crate) const RUNS: &str = "runs";
pub(crate) const LIVE: &str = ".live-artifacts";
pub(crate) const LOCKS: &str = ".locks";
pub(crate) const TRASH: &str = ".trash";
pub(crate) const STAGING: &str = ".staging";

/// A data directory: private to the user, and invisible to git.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// Opens a data directory, making it if it is missing.
    pub fn open(root: &Path) -> io::Result<Self> {
        Self::make(root).map_err(|err| err.source)
    }

    fn make(root: &Path) -> Result<Self, DiskError> {
        let dir = Dir::make_all(root)?;
        dir.make_dir(PROJECTS)?;
        dir.make_dir(RUNS)?;
        if dir.stat(".gitignore")?.is_none() {
            dir.replace_synced(".gitignore", b"*\n")?;
            dir.sync()?;
        }
        // An absolute path: watches and messages must not depend on the working directory.
        let root = root.canonicalize().map_err(|err| DiskError::new("open a directory", err))?;
        Ok(Self { root })
    }

    /// Returns the directory's path.
    pub fn path(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> Result<Dir, DiskError> {
        Dir::open(&self.root)
    }

    pub(crate) fn projects(&self) -> Result<Dir, DiskError> {
        Dir::open(&self.projects_path())
    }

    pub(crate) fn runs(&self) -> Result<Dir, DiskError> {
        Dir::open(&self.root.join(RUNS))
    }

    pub(crate) fn projects_path(&self) -> PathBuf {
        self.root.join(PROJECTS)
    }

    pub(crate) fn project_path(&self, project: &ProjectId) -> PathBuf {
        self.projects_path().join(project.as_str())
    }

    pub(crate) fn live_path(&self, project: &ProjectId) -> PathBuf {
        self.project_path(project).join(LIVE)
    }

    pub(crate) fn artifact_path(&self, project: &ProjectId, artifact: &ArtifactId) -> PathBuf {
        self.live_path(project).join(artifact.as_str())
    }
}
