//! Projects and their files, kept in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::ids::{ProjectId, RelPath, Timestamp};

use crate::project_files::{FileEntry, FileListing, FilesError, LocatedFile, ProjectFiles};
use crate::project_registry::{Project, ProjectError, ProjectRegistry};

/// Keeps projects in memory. A project can be broken, as a damaged file on a disk is.
#[derive(Debug, Default)]
pub struct MemoryProjectRegistry {
    projects: Mutex<BTreeMap<ProjectId, Kept>>,
    removed: Mutex<BTreeMap<ProjectId, Kept>>,
}

#[derive(Clone, Debug)]
struct Kept {
    project: Project,
    is_damaged: bool,
}

impl MemoryProjectRegistry {
    /// Breaks a project: it can no longer be read.
    pub fn damage(&self, project: &ProjectId) {
        if let Some(kept) = self.projects().get_mut(project) {
            kept.is_damaged = true;
        }
    }

    fn projects(&self) -> MutexGuard<'_, BTreeMap<ProjectId, Kept>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn removed(&self) -> MutexGuard<'_, BTreeMap<ProjectId, Kept>> {
        self.removed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ProjectRegistry for MemoryProjectRegistry {
    async fn list(&self) -> Result<Vec<Project>, ProjectError> {
        let projects = self.projects();
        let whole = projects.values().filter(|kept| !kept.is_damaged);
        Ok(whole.map(|kept| kept.project.clone()).collect())
    }

    async fn get(&self, project: &ProjectId) -> Result<Option<Project>, ProjectError> {
        match self.projects().get(project) {
            Some(Kept { is_damaged: true, .. }) => Err(ProjectError::Damaged {
                project: project.clone(),
                reason: "a test broke it".to_owned(),
            }),
            Some(kept) => Ok(Some(kept.project.clone())),
            None => Ok(None),
        }
    }

    async fn create(&self, project: Project) -> Result<(), ProjectError> {
        let mut projects = self.projects();
        if projects.contains_key(&project.id) || self.removed().contains_key(&project.id) {
            return Err(ProjectError::Exists { project: project.id });
        }
        projects.insert(project.id.clone(), Kept { project, is_damaged: false });
        Ok(())
    }

    async fn update(&self, project: Project) -> Result<(), ProjectError> {
        match self.projects().get_mut(&project.id) {
            Some(kept) => {
                kept.project = project;
                Ok(())
            }
            None => Err(ProjectError::NotFound { project: project.id }),
        }
    }

    async fn remove(&self, project: &ProjectId) -> Result<(), ProjectError> {
        let kept = self.projects().remove(project);
        let kept = kept.ok_or_else(|| ProjectError::NotFound { project: project.clone() })?;
        self.removed().insert(project.clone(), kept);
        Ok(())
    }

    async fn removed(&self) -> Result<Vec<Project>, ProjectError> {
        Ok(self.removed().values().map(|kept| kept.project.clone()).collect())
    }

    async fn restore(&self, project: &ProjectId) -> Result<(), ProjectError> {
        let kept = self.removed().remove(project);
        let kept = kept.ok_or_else(|| ProjectError::NotFound { project: project.clone() })?;
        self.projects().insert(project.clone(), kept);
        Ok(())
    }
}

/// Gives files that were put into it, to projects that have a root.
#[derive(Debug)]
pub struct MemoryProjectFiles {
    projects: Arc<dyn ProjectRegistry>,
    files: Mutex<BTreeMap<(ProjectId, RelPath), Vec<u8>>>,
}

impl MemoryProjectFiles {
    /// Makes an empty one for the projects of a registry.
    pub fn new(projects: Arc<dyn ProjectRegistry>) -> Self {
        Self { projects, files: Mutex::default() }
    }

    /// Puts a file in.
    pub fn put(&self, project: &ProjectId, path: RelPath, bytes: impl Into<Vec<u8>>) {
        self.files().insert((project.clone(), path), bytes.into());
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<(ProjectId, RelPath), Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ProjectFiles for MemoryProjectFiles {
    async fn list(&self, project: &ProjectId, files_max: usize) -> Result<FileListing, FilesError> {
        if self.root(project).await?.is_none() {
            return Ok(FileListing::default());
        }
        let files = self.files();
        let of_project = files.iter().filter(|((owner, _), _)| owner == project);
        let mut found: Vec<FileEntry> = of_project
            .map(|((_, path), bytes)| FileEntry {
                path: path.clone(),
                bytes: bytes.len() as u64,
                modified_at: Timestamp::from_unix_ms(0),
            })
            .collect();
        let truncated = found.len() > files_max;
        found.truncate(files_max);
        Ok(FileListing { files: found, truncated })
    }

    async fn read(
        &self,
        project: &ProjectId,
        path: &RelPath,
        bytes_max: u64,
    ) -> Result<Vec<u8>, FilesError> {
        if self.root(project).await?.is_none() {
            return Err(FilesError::NoRoot { project: project.clone() });
        }
        let files = self.files();
        let bytes = files.get(&(project.clone(), path.clone()));
        let bytes = bytes.ok_or_else(|| FilesError::NotFound { path: path.clone() })?;
        if bytes.len() as u64 > bytes_max {
            return Err(FilesError::TooLarge { path: path.clone(), allowed: bytes_max });
        }
        Ok(bytes.clone())
    }

    /// Nothing lies anywhere.
    async fn locate(&self, project: &ProjectId, path: &RelPath) -> Result<LocatedFile, FilesError> {
        self.read(project, path, u64::MAX).await?;
        Err(FilesError::NotFound { path: path.clone() })
    }

    async fn root(&self, project: &ProjectId) -> Result<Option<PathBuf>, FilesError> {
        match self.projects.get(project).await {
            Ok(Some(found)) => Ok(found.root),
            Ok(None) => Err(FilesError::ProjectNotFound { project: project.clone() }),
            Err(err) => Err(FilesError::Io {
                action: "read the project",
                source: io::Error::other(err.to_string()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{FilesTrial, check_project_files, check_project_registry, sample};

    #[tokio::test]
    async fn it_keeps_the_contract() {
        check_project_registry(&MemoryProjectRegistry::default()).await;
    }

    #[tokio::test]
    async fn its_files_keep_the_contract() {
        let registry = Arc::new(MemoryProjectRegistry::default());
        let id = |name: &str| name.parse::<ProjectId>().expect("an id");
        for (name, root) in [("rooted", Some("/root".into())), ("rootless", None), ("bad", None)] {
            let (name, created_at) = (name.to_owned(), sample::now());
            let project = Project { id: id(&name), name, root, created_at, allow_schedules: false };
            registry.create(project).await.expect("a project");
        }
        registry.damage(&id("bad"));
        let files = MemoryProjectFiles::new(registry);
        for (path, text) in FilesTrial::FILES {
            files.put(&id("rooted"), path.parse().expect("a path"), text);
        }
        let trial =
            FilesTrial { rooted: id("rooted"), rootless: id("rootless"), damaged: id("bad") };
        check_project_files(&files, &trial).await;
    }
}
