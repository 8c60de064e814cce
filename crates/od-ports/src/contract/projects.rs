//! The contract suites of projects and their files.

use od_core::ids::{ProjectId, RelPath};

use super::sample;
use crate::project_files::{FilesError, ProjectFiles};
use crate::project_registry::{Project, ProjectError, ProjectRegistry};

/// Puts an empty registry through the contract of [`ProjectRegistry`].
///
/// # Panics
///
/// When the registry breaks the contract.
pub async fn check_project_registry(registry: &dyn ProjectRegistry) {
    assert_eq!(registry.list().await.expect("a list"), [], "a new registry is empty");
    let (web, app) = (project("web"), project("app"));
    registry.create(web.clone()).await.expect("a project is added");
    registry.create(app.clone()).await.expect("a project is added");
    let again = registry.create(Project { name: "Other".to_owned(), ..web.clone() }).await;
    assert!(matches!(again, Err(ProjectError::Exists { .. })), "one id, one project");
    assert_eq!(registry.list().await.expect("a list"), [app, web.clone()], "sorted by id");
    assert_eq!(registry.get(&web.id).await.expect("it can be read"), Some(web.clone()));
    assert_eq!(registry.get(&id("none")).await.expect("it can be read"), None);
    let rooted = Project { root: Some("/somewhere".into()), ..web };
    registry.update(rooted.clone()).await.expect("a project changes");
    assert_eq!(registry.get(&rooted.id).await.expect("it can be read"), Some(rooted));
    let gone = registry.update(project("none")).await;
    assert!(matches!(gone, Err(ProjectError::NotFound { .. })), "only what is there changes");
    removal(registry).await;
}

async fn removal(registry: &dyn ProjectRegistry) {
    let old = project("old");
    registry.create(old.clone()).await.expect("a project is added");
    let before = registry.list().await.expect("a list");
    let unknown = |outcome: Result<(), ProjectError>| {
        assert!(matches!(outcome, Err(ProjectError::NotFound { .. })), "{outcome:?}");
    };
    unknown(registry.remove(&id("none")).await);
    unknown(registry.restore(&old.id).await);
    assert_eq!(registry.removed().await.expect("a list"), []);
    registry.remove(&old.id).await.expect("a project is removed");
    assert_eq!(registry.get(&old.id).await.expect("it can be read"), None);
    assert!(!registry.list().await.expect("a list").contains(&old));
    assert_eq!(registry.removed().await.expect("a list"), std::slice::from_ref(&old));
    unknown(registry.remove(&old.id).await);
    unknown(registry.update(old.clone()).await);
    let taken = registry.create(old.clone()).await;
    assert!(matches!(taken, Err(ProjectError::Exists { .. })), "the id stays taken");
    registry.restore(&old.id).await.expect("it comes back");
    assert_eq!(registry.get(&old.id).await.expect("it can be read"), Some(old));
    assert_eq!(registry.list().await.expect("a list"), before);
    assert_eq!(registry.removed().await.expect("a list"), []);
}

fn project(name: &str) -> Project {
    Project {
        id: id(name),
        name: name.to_owned(),
        root: None,
        created_at: sample::now(),
        allow_schedules: false,
    }
}

fn id(name: &str) -> ProjectId {
    name.parse().expect("the suite's ids are well formed")
}

/// The projects and files there are to read.
#[derive(Clone, Debug)]
pub struct FilesTrial {
    /// A project whose root holds exactly [`FilesTrial::FILES`], and what is no project file.
    pub rooted: ProjectId,
    /// A project without a root.
    pub rootless: ProjectId,
    /// A project that cannot be read.
    pub damaged: ProjectId,
}

impl FilesTrial {
    /// Path and content of every file of the project that has a root.
    pub const FILES: [(&'static str, &'static str); 3] =
        [("a.json", "{}"), ("b/c.json", "[1, 2, 3]"), ("b/d.txt", "text")];
    /// Paths that may be below a root on a disk and are no project files.
    pub const RESERVED: [&'static str; 2] = [".git/config", ".live-artifacts/x"];
}

/// Puts a reader of project files through the contract of [`ProjectFiles`].
///
/// # Panics
///
/// When it breaks the contract.
pub async fn check_project_files(files: &dyn ProjectFiles, trial: &FilesTrial) {
    list(files, trial).await;
    read(files, trial).await;
    for project in [&trial.damaged, &"nobody".parse().expect("a good id")] {
        let is_damaged = *project == trial.damaged;
        for refusal in [
            files.list(project, 10).await.err(),
            files.read(project, &path("a.json"), 10).await.err(),
            files.root(project).await.err(),
        ] {
            let is_right = match &refusal {
                Some(FilesError::Io { .. }) => is_damaged,
                Some(FilesError::ProjectNotFound { .. }) => !is_damaged,
                Some(
                    FilesError::NoRoot { .. }
                    | FilesError::RootOutside { .. }
                    | FilesError::RootMissing { .. }
                    | FilesError::NotFound { .. }
                    | FilesError::Refused { .. }
                    | FilesError::TooLarge { .. },
                )
                | None => false,
            };
            assert!(is_right, "project `{project}`: {refusal:?}");
        }
    }
    assert_eq!(files.list(&trial.rootless, 10).await.expect("a list").files, []);
    assert_eq!(files.root(&trial.rootless).await.expect("it can be asked"), None);
    let refusal = files.read(&trial.rootless, &path("a.json"), 10).await;
    assert!(matches!(refusal, Err(FilesError::NoRoot { .. })), "{refusal:?}");
}

async fn list(files: &dyn ProjectFiles, trial: &FilesTrial) {
    let all = files.list(&trial.rooted, 10).await.expect("a list");
    let found: Vec<(&str, u64)> =
        all.files.iter().map(|entry| (entry.path.as_str(), entry.bytes)).collect();
    let expected = FilesTrial::FILES.map(|(path, text)| (path, text.len() as u64));
    assert_eq!(found, expected, "sorted by path, and nothing reserved");
    assert!(!all.truncated);
    let some = files.list(&trial.rooted, 2).await.expect("a list");
    assert_eq!((some.files.len(), some.truncated), (2, true), "a list is bounded and says so");
}

async fn read(files: &dyn ProjectFiles, trial: &FilesTrial) {
    assert!(files.root(&trial.rooted).await.expect("it can be asked").is_some());
    for (name, text) in FilesTrial::FILES {
        let length = text.len() as u64;
        let bytes = files.read(&trial.rooted, &path(name), length).await.expect("a file");
        assert_eq!(bytes, text.as_bytes());
        let refusal = files.read(&trial.rooted, &path(name), length - 1).await;
        assert!(matches!(refusal, Err(FilesError::TooLarge { .. })), "{refusal:?}");
    }
    let refusal = files.read(&trial.rooted, &path("b/none"), 10).await;
    assert!(matches!(refusal, Err(FilesError::NotFound { .. })), "{refusal:?}");
}

fn path(text: &str) -> RelPath {
    text.parse().expect("the suite's paths are well formed")
}
