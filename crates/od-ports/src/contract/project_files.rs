//! What everything that reads project files has to do.

use od_core::ids::{ProjectId, RelPath};

use crate::project_files::{FilesError, ProjectFiles};

/// What there is to read.
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
    /// What may be below a root on a disk and is no project file; no path names it.
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
