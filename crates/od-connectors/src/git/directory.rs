//! Where the repository of a project keeps itself: inside the project, or provably its own.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Bytes of a `.git` file or of a link inside a repository: one path.
const LINK_BYTES_MAX: u64 = 4096;
/// What makes a repository; as a link it would be another repository's.
const PARTS: [&str; 5] = ["HEAD", "config", "objects", "packed-refs", "refs"];

/// Why a directory has no repository of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DirectoryError {
    /// There is no `.git`.
    #[error("the project's directory is not the root of a git repository")]
    Missing,
    /// It leads somewhere that is not the project's.
    #[error(
        "the project's `.git` leads to a repository outside the project that does not name the \
         project as its work tree: {reason}"
    )]
    Elsewhere {
        /// How.
        reason: &'static str,
    },
    /// It belongs to somebody else.
    #[error("the repository belongs to another user")]
    ForeignOwner,
}

/// Finds the git directory of the repository whose work tree is `root` itself.
///
/// A link is never followed. A `.git` file is, as git writes them for work trees and submodules, if it
/// leads to a place inside the root, or to an entry of a repository's `worktrees` that names the root.
pub(crate) fn find(root: &Path) -> Result<PathBuf, DirectoryError> {
    let link = root.join(".git");
    let metadata = fs::symlink_metadata(&link).map_err(|_| DirectoryError::Missing)?;
    let root = root.canonicalize().map_err(|_| DirectoryError::Missing)?;
    let kind = metadata.file_type();
    let found = if kind.is_dir() {
        root.join(".git")
    } else if kind.is_file() {
        follow(&root, &link)?
    } else {
        return Err(elsewhere("it is a symbolic link"));
    };
    check_parts(&root, &found)?;
    // git checks this only where it looks for a repository itself; it is told where this one is.
    let owner = fs::metadata(&found).map_err(|_| DirectoryError::Missing)?.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(DirectoryError::ForeignOwner);
    }
    Ok(found)
}

const fn elsewhere(reason: &'static str) -> DirectoryError {
    DirectoryError::Elsewhere { reason }
}

/// Follows a `gitdir:` file.
fn follow(root: &Path, link: &Path) -> Result<PathBuf, DirectoryError> {
    let text = read_line(link).ok_or(elsewhere("its file cannot be read"))?;
    let target = text.strip_prefix("gitdir:").ok_or(elsewhere("its file names no `gitdir:`"))?;
    let target = resolve(root, target.trim()).ok_or(elsewhere("what it names is not there"))?;
    if target.starts_with(root) {
        return Ok(target);
    }
    let back = read_line(&target.join("gitdir")).and_then(|back| {
        let back = target.join(back);
        let holder = back.parent()?.canonicalize().ok()?;
        (back.file_name()? == ".git").then_some(holder)
    });
    if back.as_deref() == Some(root) && is_work_tree_entry(&target) {
        Ok(target)
    } else {
        Err(elsewhere("no work tree of that repository is the project"))
    }
}

/// Tells an entry of a repository's `worktrees`, which shares what that repository holds.
fn is_work_tree_entry(target: &Path) -> bool {
    let common = read_line(&target.join("commondir")).and_then(|path| resolve(target, &path));
    let entries =
        target.parent().filter(|above| above.file_name().is_some_and(|n| n == "worktrees"));
    common.is_some() && entries.and_then(Path::parent) == common.as_deref()
}

/// Refuses a git directory inside the root whose parts are those of a repository elsewhere.
fn check_parts(root: &Path, found: &Path) -> Result<(), DirectoryError> {
    if !found.starts_with(root) {
        return Ok(());
    }
    let is_link = |part: &str| {
        fs::symlink_metadata(found.join(part)).is_ok_and(|part| part.file_type().is_symlink())
    };
    if PARTS.iter().any(|part| is_link(part)) {
        return Err(elsewhere("parts of it are symbolic links"));
    }
    match fs::symlink_metadata(found.join("commondir")) {
        Err(_) => Ok(()),
        Ok(_) => match read_line(&found.join("commondir")).and_then(|path| resolve(found, &path)) {
            Some(common) if common.starts_with(root) => Ok(()),
            Some(_) | None => Err(elsewhere("its `commondir` leads out of the project")),
        },
    }
}

fn resolve(from: &Path, path: &str) -> Option<PathBuf> {
    from.join(path).canonicalize().ok()
}

/// Reads a file of one line; what is no regular file is none, and is not waited for either.
fn read_line(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(LINK_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\r', '\n']).to_owned())
}
