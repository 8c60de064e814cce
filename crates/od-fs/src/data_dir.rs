//! The layout of a data directory.

use std::io::ErrorKind::NotFound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use od_core::ids::{ArtifactId, ProjectId};
use rustix::io::Errno;

use crate::disk::{Dir, DiskError};
use crate::grants::GrantGuard;
use crate::private_dir::{self, PrivateDir, PrivateError};

/// The name of a data directory beside a project.
const BESIDE_A_PROJECT: &str = ".od";
pub(crate) const PROJECTS: &str = "projects";
pub(crate) const RUNS: &str = "runs";
pub(crate) const LIVE: &str = ".live-artifacts";
pub(crate) const AGENT_SESSIONS: &str = ".agent-sessions";
pub(crate) const LOCKS: &str = ".locks";
pub(crate) const TRASH: &str = ".trash";
pub(crate) const STAGING: &str = ".staging";

/// A data directory: private to the user, and invisible to git.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
    bound: Option<PathBuf>,
    grants: Option<Arc<GrantGuard>>,
}

impl DataDir {
    /// Opens a data directory, making it if it is missing.
    ///
    /// # Errors
    ///
    /// Fails if it is not this user's alone to write to, and for a `.od` that is a link: such a one
    /// may have come with somebody's repository.
    pub fn open(root: &Path) -> Result<Self, PrivateError> {
        let dir = match Self::open_existing(root) {
            Ok(dir) => dir,
            Err(PrivateError::Io { source, .. }) if source.kind() == NotFound => {
                PrivateDir::make(root)?
            }
            Err(error) => return Err(error),
        };
        Self::prepare(&dir.into_dir(), root)
    }

    /// Opens a data directory only if it is there, and checks that it is to be trusted.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and if it is missing.
    pub fn open_existing(root: &Path) -> Result<PrivateDir, PrivateError> {
        if root.file_name().is_some_and(|name| name == BESIDE_A_PROJECT) {
            PrivateDir::open_no_link(root)
        } else {
            PrivateDir::open(root)
        }
    }

    fn prepare(dir: &Dir, root: &Path) -> Result<Self, PrivateError> {
        let failed = |name: &str, err: DiskError| PrivateError::Io {
            action: err.action,
            path: root.join(name),
            source: err.source,
        };
        for name in [PROJECTS, RUNS] {
            dir.make_dir(name).map_err(|err| failed(name, err))?;
            // Through a link everything below would be written elsewhere.
            dir.child(name).map_err(|err| unopened(&root.join(name), err))?;
        }
        let ignore = ".gitignore";
        let is_there = dir.stat(ignore).map_err(|err| failed(ignore, err))?.is_some();
        if !is_there {
            dir.replace_synced(ignore, b"*\n").map_err(|err| failed(ignore, err))?;
            dir.sync().map_err(|err| failed(ignore, err))?;
        }
        // An absolute path: watches and messages must not depend on the working directory.
        let root = root
            .canonicalize()
            .map_err(|err| failed("", DiskError::new("open a directory", err)))?;
        let bound = Self::bound(&root);
        Ok(Self { root, bound, grants: None })
    }

    /// Returns the directory that the roots of a data directory's projects lie in, if it is one beside
    /// a project.
    ///
    /// Such a one may have come with somebody's repository, and its `project.json` may name any
    /// directory of the disk; so it counts for what lies beside it, and for nothing else. A signature
    /// by the keyring would tell the same apart, but not after a rotation, and a data directory could
    /// not be moved with its project.
    #[must_use]
    pub fn bound(data_dir: &Path) -> Option<PathBuf> {
        // One that is still to be made has a parent at least.
        let real = data_dir.canonicalize();
        let path = real.as_deref().unwrap_or(data_dir);
        let is_beside = path.file_name().is_some_and(|name| name == BESIDE_A_PROJECT);
        let parent = path.parent().filter(|_| is_beside)?;
        Some(parent.canonicalize().unwrap_or_else(|_| parent.to_owned()))
    }

    /// Returns how a project's root is stored: beside a project as a path from there, so that a clone at
    /// another place works.
    pub(crate) fn stored_root(&self, root: PathBuf) -> PathBuf {
        match self.bound.as_deref().and_then(|bound| root.strip_prefix(bound).ok()) {
            Some(rest) if rest == Path::new("") => PathBuf::from("."),
            Some(rest) => rest.to_owned(),
            None => root,
        }
    }

    /// Returns the root that a stored one stands for; none if it is a path from nowhere, or one that
    /// leads out.
    pub(crate) fn real_root(&self, stored: PathBuf) -> Option<PathBuf> {
        if stored.is_absolute() {
            return Some(stored);
        }
        let is_below =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let bound = self.bound.as_deref().filter(|_| stored.components().all(is_below))?;
        // Without the dot, so that it is equal to the path that a person's shell is in.
        Some(bound.join(stored).components().collect())
    }

    /// Returns the directory that a project's root stands for, or as an error the one it has to lie
    /// in.
    pub(crate) fn admit(&self, root: PathBuf) -> Result<PathBuf, PathBuf> {
        let Some(bound) = &self.bound else { return Ok(root) };
        match root.canonicalize() {
            // Where its links lead is what is opened, and not looked up again.
            Ok(found) if found.starts_with(bound) => Ok(found),
            Ok(_) => Err(bound.clone()),
            // Whoever opens it reports that it is missing.
            Err(_) => Ok(root),
        }
    }

    /// Believes from now on only grants that were given here, and seals those that are.
    ///
    /// Without a guard everything that is read is believed: for tests, and tools that run nothing by
    /// themselves. The daemon and the command line always have one.
    #[must_use]
    pub fn guarded(mut self, grants: GrantGuard) -> Self {
        self.grants = Some(Arc::new(grants));
        self
    }

    pub(crate) fn grants(&self) -> Option<&GrantGuard> {
        self.grants.as_deref()
    }

    /// Returns the directory's path.
    pub fn path(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> Result<Dir, DiskError> {
        Dir::open(&self.root)
    }

    pub(crate) fn projects(&self) -> Result<Dir, DiskError> {
        Dir::open_no_link(&self.projects_path())
    }

    pub(crate) fn runs(&self) -> Result<Dir, DiskError> {
        Dir::open_no_link(&self.root.join(RUNS))
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

/// Returns why a directory of artifacts or runs does not open. What the system refuses for now, the lack
/// of a permission say, is no reason to move it away.
fn unopened(path: &Path, err: DiskError) -> PrivateError {
    if Errno::from_io_error(&err.source) == Some(Errno::LOOP) {
        return PrivateError::Link { path: path.to_owned(), holds_data: true };
    }
    private_dir::disk(path, err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_beside_its_data_is_stored_as_a_path_from_there_and_none_leads_out() {
        let of = |bound: Option<&str>| DataDir {
            root: PathBuf::from("/w/.od"),
            bound: bound.map(PathBuf::from),
            grants: None,
        };
        let (beside, alone) = (of(Some("/w")), of(None));
        for (root, stored) in [("/w", "."), ("/w/site/a", "site/a"), ("/x", "/x"), ("/wx", "/wx")] {
            let (root, stored) = (PathBuf::from(root), PathBuf::from(stored));
            assert_eq!(beside.stored_root(root.clone()), stored);
            assert_eq!(beside.real_root(stored), Some(root.clone()));
            assert_eq!(alone.stored_root(root.clone()), root);
        }
        for stored in ["..", "../x", "site/../../x", ""] {
            let real = beside.real_root(PathBuf::from(stored));
            assert!(real.is_none_or(|real| real == Path::new("/w")), "{stored}");
        }
        assert_eq!(alone.real_root(PathBuf::from(".")), None);
    }

    #[test]
    fn a_directory_that_may_not_be_entered_is_not_called_a_file_nor_to_be_moved_away() {
        for errno in [Errno::ACCESS, Errno::MFILE, Errno::IO] {
            let err = DiskError::new("open a directory", errno);
            let said = unopened(Path::new("/d/projects"), err);
            let PrivateError::Io { source, .. } = &said else { panic!("{said}") };
            assert_eq!(Errno::from_io_error(source), Some(errno));
            assert!(!said.fix().contains("mv "), "{}", said.fix());
        }
    }
}
