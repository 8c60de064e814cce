//! The directories of artifacts, opened by project and id.

use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::COMMIT_WAIT;
use od_ports::store::StoreError;

use crate::data_dir::{DataDir, LIVE};
use crate::disk::{Dir, DiskError, is_foreign};

/// Opens the directories of artifacts below one data directory.
///
/// Nothing is held open between two calls: a project or an artifact may be moved away, and a backup
/// moved into its place, while the daemon runs.
#[derive(Clone, Debug)]
pub(crate) struct ArtifactDirs {
    data_dir: DataDir,
}

impl ArtifactDirs {
    pub(crate) const fn new(data_dir: DataDir) -> Self {
        Self { data_dir }
    }

    pub(crate) const fn data_dir(&self) -> &DataDir {
        &self.data_dir
    }

    /// Opens `.live-artifacts` of a project; `None` if the project has none yet.
    pub(crate) fn live(&self, project: &ProjectId) -> Result<Option<Dir>, StoreError> {
        let projects = self.data_dir.projects()?;
        match projects.child(&format!("{project}/{LIVE}")) {
            Ok(live) => Ok(Some(live)),
            Err(err) if err.is_missing() => match projects.child(project.as_str()) {
                Ok(_) => Ok(None),
                Err(err) if err.is_missing() => {
                    Err(StoreError::ProjectNotFound { project: project.clone() })
                }
                Err(err) => Err(err.into()),
            },
            Err(err) => Err(err.into()),
        }
    }

    /// Opens `.live-artifacts` of a project, making it if it is missing.
    pub(crate) fn live_or_make(&self, project: &ProjectId) -> Result<Dir, StoreError> {
        if let Some(live) = self.live(project)? {
            return Ok(live);
        }
        let dir = self.data_dir.projects()?.child(project.as_str())?;
        let live = dir.child_or_make(LIVE)?;
        dir.sync()?;
        Ok(live)
    }

    /// Opens `.live-artifacts` and in it the directory of an artifact that has to be there.
    pub(crate) fn artifact(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(Dir, Dir), StoreError> {
        let live = self.live(project)?.ok_or_else(|| not_found(project, artifact))?;
        let dir = open_artifact(&live, artifact)?.ok_or_else(|| not_found(project, artifact))?;
        Ok((live, dir))
    }
}

/// Opens an artifact's directory; `None` if there is none, or it is no directory of ours.
pub(crate) fn open_artifact(live: &Dir, id: &ArtifactId) -> Result<Option<Dir>, DiskError> {
    match live.child(id.as_str()) {
        Ok(dir) => Ok(Some(dir)),
        // One that may not be entered is there.
        Err(err) if err.source.kind() == std::io::ErrorKind::PermissionDenied => Err(err),
        Err(err) if err.is_missing() || is_foreign(&err) => Ok(None),
        Err(err) => Err(err),
    }
}

pub(crate) fn not_found(project: &ProjectId, artifact: &ArtifactId) -> StoreError {
    StoreError::NotFound { project: project.clone(), artifact: artifact.clone() }
}

/// Returns the refusal for a lock that another process kept for too long.
pub(crate) fn busy(artifact: &ArtifactId) -> StoreError {
    StoreError::Busy { artifact: artifact.clone(), waited_ms: COMMIT_WAIT.allowed }
}

impl From<DiskError> for StoreError {
    fn from(err: DiskError) -> Self {
        Self::Io { action: err.action, source: err.source }
    }
}
