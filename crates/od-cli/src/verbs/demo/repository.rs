//! The git repository that the demo shows: the person's own, or one that it makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Marks a repository as one that the demo made.
const MARK: &str = ".git/od-demo";
/// The author of the demo's commits.
const AUTHOR: &str = "demo@localhost.invalid";

/// Returns whether the git program is there.
pub(super) fn has_git() -> bool {
    Command::new("git")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns the root of the work tree that a directory is in.
///
/// git decides: a `.git` alone makes no repository, and an empty one, which build tools and
/// containers leave behind, once ended the demo with a refresh that could read nothing.
pub(super) fn work_tree(directory: &Path) -> Option<PathBuf> {
    let output = git(directory).args(["rev-parse", "--show-toplevel"]).output().ok()?;
    let root = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let root = root.strip_suffix('\n').filter(|root| !root.is_empty())?;
    Path::new(root).canonicalize().ok()
}

/// Makes a repository of the directory if it is none, and commits everything in it.
///
/// Returns whether the directory is a repository of the demo's afterwards. One that somebody else
/// made is left alone: nobody wants the demo's commits in it.
pub(super) fn commit_all(directory: &Path, subject: &str) -> bool {
    let is_ours = if has_repository_files(directory) {
        directory.join(MARK).exists()
    } else {
        succeeds(directory, &["init", "--quiet", "--initial-branch=main"])
            && fs::write(directory.join(MARK), "").is_ok()
    };
    is_ours
        && succeeds(directory, &["add", "--all"])
        // A second demo over the same folder finds everything committed.
        && (succeeds(directory, &["diff", "--cached", "--quiet"])
            || succeeds(directory, &["commit", "--quiet", "--message", subject]))
}

/// Returns whether the demo made the repository of a directory and nobody else committed to it.
pub(super) fn is_the_demos(directory: &Path) -> bool {
    let authors = || {
        let output = git(directory).args(["log", "--all", "--format=%ae"]).output().ok()?;
        String::from_utf8(output.stdout).ok().filter(|_| output.status.success())
    };
    directory.join(MARK).exists()
        && authors().is_some_and(|authors| authors.lines().all(|author| author == AUTHOR))
}

/// Returns whether the directory has a `.git` with anything in it; an empty one is free to use.
fn has_repository_files(directory: &Path) -> bool {
    let at = directory.join(".git");
    match fs::read_dir(&at) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => at.symlink_metadata().is_ok(),
    }
}

fn succeeds(directory: &Path, arguments: &[&str]) -> bool {
    git(directory)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns git with nothing of the person's own configuration: no hooks, no signing, a name of ours.
fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=od demo", "-c", &format!("user.email={AUTHOR}")])
        .args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"])
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_git_directory_is_no_repository_and_can_become_one() {
        let folder = tempfile::tempdir().unwrap();
        let outer = folder.path().canonicalize().unwrap();
        let inner = outer.join("inner");
        fs::create_dir_all(inner.join(".git")).unwrap();
        fs::write(inner.join("a"), "a").unwrap();
        assert!(commit_all(&outer, "outer"));
        assert_eq!(work_tree(&inner), Some(outer));
        assert!(commit_all(&inner, "inner"));
        assert_eq!(work_tree(&inner), Some(inner));
    }

    #[test]
    fn a_git_directory_that_is_broken_is_neither_used_nor_written_to() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), "nothing").unwrap();
        assert!(!commit_all(folder.path(), "a"));
        let left: Vec<_> = fs::read_dir(folder.path().join(".git")).unwrap().collect();
        assert_eq!(left.len(), 1);
    }
}
