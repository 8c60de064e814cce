//! A git repository for the demo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether the git program is there.
pub(crate) fn has_git() -> bool {
    let mut command = Command::new("git");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the work tree that a directory is in.
pub(crate) fn work_tree(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|parent| parent.join(".git").exists()).map(Path::to_owned)
}

/// Marks a repository as one that the demo made.
const MARK: &str = ".git/od-demo";

/// Makes a repository of the directory if it is none, and commits everything in it.
///
/// A repository that somebody else made is left alone: nobody wants the demo's commits in it.
pub(crate) fn init_repository(directory: &Path, subject: &str) -> bool {
    let made = if directory.join(".git").exists() {
        directory.join(MARK).exists()
    } else {
        git(directory, &["init", "--quiet", "--initial-branch=main"])
            && std::fs::write(directory.join(MARK), "").is_ok()
    };
    made && git(directory, &["add", "--all"])
        && git(directory, &["commit", "--quiet", "--message", subject])
}

/// Runs git with nothing of the person's own configuration: no hooks, no signing, a name of our own.
fn git(directory: &Path, arguments: &[&str]) -> bool {
    Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=od demo", "-c", "user.email=demo@localhost.invalid"])
        .args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
