//! Finds a project's git directory: inside the project, or provably its own.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Bytes of a `.git` file or of a link inside a repository: one path.
const LINK_BYTES_MAX: u64 = 4096;
/// Bytes of a submodule's configuration, which git writes in a few lines.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// Entries of refs and objects that are looked at; git packs its own long before.
const ENTRIES_MAX: usize = od_core::limits::GIT_REFERENCES.max();
/// The parts of a repository; as a link, one would be another repository's.
const PARTS: [&str; 7] = ["HEAD", "config", "index", "objects", "packed-refs", "refs", "reftable"];
/// Files below `objects` that name where else objects are.
const ALTERNATES: [&str; 2] = ["alternates", "http-alternates"];

/// A directory without a repository of its own.
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
        /// The reason, in words.
        reason: &'static str,
    },
    /// It has objects of a repository that is not the project's.
    #[error(
        "the repository takes objects from outside the project: `git clone --shared` or \
         `--reference` wrote its `objects/info/{file}`; \
         `git repack -a -d && rm .git/objects/info/{file}` ends it"
    )]
    Borrows {
        /// The file that says where from.
        file: &'static str,
    },
    /// It has too many parts to look for links among them.
    #[error("the repository has too many loose refs and objects; `git gc` packs them")]
    TooManyParts,
    /// It belongs to somebody else.
    #[error("the repository belongs to another user")]
    ForeignOwner,
}

/// Finds the git directory of the repository whose work tree is `root` itself.
///
/// A link is never followed. A `.git` file is, as git writes them for work trees and submodules, if it
/// leads to a place inside the root, to an entry of a repository's `worktrees` that names the root, or
/// to one below a `.git/modules` whose `core.worktree` is the root.
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

const LINKED: DirectoryError = elsewhere("parts of it are symbolic links");

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
    let is_work_tree = back.as_deref() == Some(root) && is_work_tree_entry(&target);
    if is_work_tree || is_submodule_of(root, &target) {
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

/// Tells the repository of a submodule, which its superproject keeps, and whose work tree is the root.
fn is_submodule_of(root: &Path, target: &Path) -> bool {
    let names: Vec<_> = target.components().map(Component::as_os_str).collect();
    let is_kept = names.windows(3).any(|names| names[0] == ".git" && names[1] == "modules");
    let tree = || core_worktree(&read_text(&target.join("config"), CONFIG_BYTES_MAX)?);
    is_kept && tree().and_then(|tree| resolve(target, &tree)).as_deref() == Some(root)
}

/// Reads `core.worktree` as git writes it. A value with escapes or comments is taken for none.
fn core_worktree(config: &str) -> Option<String> {
    let mut is_core = false;
    let mut tree = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((key, value)) = line.split_once('=')
            && is_core
            && key.trim_end().eq_ignore_ascii_case("worktree")
        {
            let value = value.trim_start();
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let is_plain = |text: &&str| {
                !text.contains(['"', '\\']) && (quoted.is_some() || !text.contains(['#', ';']))
            };
            tree = Some(quoted.unwrap_or(value)).filter(is_plain).map(str::to_owned);
        }
    }
    tree
}

/// Refuses a git directory inside the root whose parts are those of a repository elsewhere.
fn check_parts(root: &Path, found: &Path) -> Result<(), DirectoryError> {
    // One outside was taken because it names the root; its parts are its own.
    if !found.starts_with(root) {
        return Ok(());
    }
    check_own_parts(root, found)?;
    match fs::symlink_metadata(found.join("commondir")) {
        Err(_) => Ok(()),
        Ok(_) => match read_line(&found.join("commondir")).and_then(|path| resolve(found, &path)) {
            Some(common) if common.starts_with(root) => check_own_parts(root, &common),
            Some(_) | None => Err(elsewhere("its `commondir` leads out of the project")),
        },
    }
}

fn check_own_parts(root: &Path, directory: &Path) -> Result<(), DirectoryError> {
    let is_link = |part: &str| {
        fs::symlink_metadata(directory.join(part)).is_ok_and(|part| part.file_type().is_symlink())
    };
    if PARTS.iter().any(|part| is_link(part)) {
        return Err(LINKED);
    }
    let mut entries_left = ENTRIES_MAX;
    for part in ["refs", "reftable"] {
        check_links(directory.join(part), &mut entries_left)?;
    }
    check_objects(root, directory.join("objects"), &mut entries_left)
}

/// Refuses links at any depth below a directory.
fn check_links(directory: PathBuf, entries_left: &mut usize) -> Result<(), DirectoryError> {
    let mut directories = vec![directory];
    while let Some(directory) = directories.pop() {
        // What cannot be listed cannot be read by git either, which runs as the same user.
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            *entries_left = entries_left.checked_sub(1).ok_or(DirectoryError::TooManyParts)?;
            let kind = entry.file_type().map_err(|_| LINKED)?;
            if kind.is_symlink() {
                return Err(LINKED);
            }
            if kind.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Refuses objects from outside the root. What is borrowed inside it may borrow in turn.
fn check_objects(
    root: &Path,
    objects: PathBuf,
    entries_left: &mut usize,
) -> Result<(), DirectoryError> {
    let mut seen = BTreeSet::new();
    let mut stores = vec![objects];
    while let Some(store) = stores.pop() {
        // Alternates may name each other in a circle.
        if !seen.insert(store.clone()) {
            continue;
        }
        for file in ALTERNATES {
            let path = store.join("info").join(file);
            if fs::symlink_metadata(&path).is_ok() {
                let borrowed = borrowed(root, &store, &path);
                stores.extend(borrowed.ok_or(DirectoryError::Borrows { file })?);
            }
        }
        check_links(store, entries_left)?;
    }
    Ok(())
}

/// Returns the directories that a file of alternates names, if all are known to be inside the root.
fn borrowed(root: &Path, objects: &Path, file: &Path) -> Option<Vec<PathBuf>> {
    let text = read_text(file, LINK_BYTES_MAX)?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| resolve(objects, line).filter(|place| place.starts_with(root))).collect()
}

fn resolve(from: &Path, path: &str) -> Option<PathBuf> {
    from.join(path).canonicalize().ok()
}

/// Reads a file of one line.
fn read_line(path: &Path) -> Option<String> {
    let text = read_text(path, LINK_BYTES_MAX)?;
    Some(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Reads a whole file. What is longer would hide its end, and is none; so is what is no regular file,
/// which is not waited for either.
fn read_text(path: &Path, bytes_max: u64) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = file.take(bytes_max + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= bytes_max).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_is_read_from_the_core_section_only() {
        let check = |config: &str, want: Option<&str>| {
            assert_eq!(core_worktree(config).as_deref(), want, "{config}");
        };
        check("[core]\n\tbare = false\n\tworktree = ../../../a b\n", Some("../../../a b"));
        check("[core]\nworktree = \"../a;b\"\n[x]\nworktree = /x\n", Some("../a;b"));
        check("[core]\nworktree = /a\nworktree = /b\n", Some("/b"));
        check("[core \"x\"]\nworktree = /a\n", None);
        check("[core]\nworktree = /a # /b\n", None);
        check("[core]\nworktree = \"/a\\tb\"\n", None);
    }

    #[test]
    fn more_parts_than_are_looked_at_are_refused_unseen() {
        let root = tempfile::TempDir::new().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(root.path().join(name), "").unwrap();
        }
        let check = |mut most| check_links(root.path().to_path_buf(), &mut most);
        assert!(check(3).is_ok());
        assert!(matches!(check(2), Err(DirectoryError::TooManyParts)));
    }
}
