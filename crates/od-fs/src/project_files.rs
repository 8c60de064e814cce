//! The files of a project's root directory, through handles that cannot leave it.

use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use od_core::ids::{ProjectId, RelPath, Timestamp};
use od_ports::project_files::{
    FileEntry, FileListing, FilesError, LocatedFile, ProjectFiles, RefusedPath,
};
use od_ports::project_registry::{ProjectError, ProjectRegistry};

use crate::data_dir::DataDir;
use crate::disk::{Dir, DiskError, EntryKind, FileStat};
use crate::system::Lane;

/// The depth of a listing, and the entries it visits: a root may be a whole disk.
const DEPTH_MAX: usize = od_core::limits::FOLDER_DEPTH.max();
const VISITED_MAX: usize = od_core::limits::FILES_VISITED.max();

/// Reads project files from the disk.
#[derive(Debug)]
pub struct DiskProjectFiles {
    registry: Arc<dyn ProjectRegistry>,
    data_dir: DataDir,
    home: Option<PathBuf>,
    lane: Lane,
}

impl DiskProjectFiles {
    /// Makes one for the projects of a registry, refusing the given data directory.
    pub fn new(registry: Arc<dyn ProjectRegistry>, data_dir: DataDir) -> Self {
        Self { registry, data_dir, home: None, lane: Lane::Pool }
    }

    /// Refuses the home as well: it holds the keyring and the vault.
    #[must_use]
    pub fn closing(mut self, home: &Path) -> Self {
        self.home = Some(home.to_owned());
        self
    }

    /// Returns what no path may lead to or through.
    fn closed(&self) -> Closed {
        Closed { data_dir: self.data_dir.clone(), home: self.home.clone() }
    }

    fn admit(&self, project: &ProjectId, root: PathBuf) -> Result<PathBuf, FilesError> {
        self.data_dir.admit(root.clone()).map_err(|allowed| FilesError::RootOutside {
            project: project.clone(),
            root,
            allowed,
        })
    }

    async fn root_path(&self, project: &ProjectId) -> Result<Option<PathBuf>, FilesError> {
        match self.registry.get(project).await {
            Ok(Some(found)) => {
                let root = found.root.map(|root| self.admit(project, root)).transpose()?;
                // One look on the calling thread, as the registry's own: a folder that was moved is the
                // one fault of a root that a person can mend, and deserves its own words.
                match root {
                    Some(root) if !root.exists() => {
                        Err(FilesError::RootMissing { project: project.clone(), root })
                    }
                    root => Ok(root),
                }
            }
            Ok(None) | Err(ProjectError::NotFound { .. }) => {
                Err(FilesError::ProjectNotFound { project: project.clone() })
            }
            Err(ProjectError::Io { action, source }) => Err(FilesError::Io { action, source }),
            Err(ProjectError::Unavailable { reason }) => Err(FilesError::Io {
                action: "look the project up",
                source: io::Error::other(reason),
            }),
            Err(
                err @ (ProjectError::Damaged { .. }
                | ProjectError::Exists { .. }
                | ProjectError::RootOutside { .. }),
            ) => {
                let source = io::Error::new(io::ErrorKind::InvalidData, err.to_string());
                Err(FilesError::Io { action: "read the project", source })
            }
        }
    }
}

#[async_trait]
impl ProjectFiles for DiskProjectFiles {
    async fn list(&self, project: &ProjectId, files_max: usize) -> Result<FileListing, FilesError> {
        let Some(root) = self.root_path(project).await? else {
            return Ok(FileListing::default());
        };
        let closed = self.closed();
        self.lane.run(move || Root::open(&root, &closed)?.list(files_max)).await?
    }

    async fn read(
        &self,
        project: &ProjectId,
        path: &RelPath,
        bytes_max: u64,
    ) -> Result<Vec<u8>, FilesError> {
        let Some(root) = self.root_path(project).await? else {
            return Err(FilesError::NoRoot { project: project.clone() });
        };
        let closed = self.closed();
        let path = path.clone();
        self.lane.run(move || Root::open(&root, &closed)?.read(&path, bytes_max)).await?
    }

    async fn locate(&self, project: &ProjectId, path: &RelPath) -> Result<LocatedFile, FilesError> {
        let Some(root) = self.root_path(project).await? else {
            return Err(FilesError::NoRoot { project: project.clone() });
        };
        let closed = self.closed();
        let path = path.clone();
        self.lane
            .run(move || {
                let (_, stat) = Root::open(&root, &closed)?.open_file(&path)?;
                let root = root.canonicalize().map_err(canonicalize_failed)?;
                let (device, inode) = identity(&stat);
                Ok(LocatedFile { path: root.join(path.as_str()), device, inode })
            })
            .await?
    }

    async fn root(&self, project: &ProjectId) -> Result<Option<PathBuf>, FilesError> {
        self.root_path(project).await
    }
}

/// The directories that are never project files, wherever they lie.
struct Closed {
    data_dir: DataDir,
    home: Option<PathBuf>,
}

impl Closed {
    /// Looks up who they are now, with the secret files in the home: a hard link gives those another
    /// name, which no check of directories would notice.
    fn identities(&self) -> Result<Vec<(u64, u64)>, FilesError> {
        let mut identities = vec![identity(&self.data_dir.dir()?.stat_self()?)];
        let Some(home) = &self.home else { return Ok(identities) };
        let Ok(dir) = Dir::open(home) else { return Ok(identities) };
        identities.push(identity(&dir.stat_self()?));
        for place in ["keys", "connectors"] {
            let Ok(child) = dir.child(place) else { continue };
            for (name, _) in child.entries()? {
                identities.extend(child.stat(&name)?.as_ref().map(identity));
            }
        }
        Ok(identities)
    }
}

/// A project's root, held open, with the identities of what must never be entered or read.
struct Root {
    dir: Dir,
    forbidden: Vec<(u64, u64)>,
}

impl Root {
    fn open(root: &Path, closed: &Closed) -> Result<Self, FilesError> {
        let opened = Self { dir: Dir::open(root)?, forbidden: closed.identities()? };
        // A root inside the data directory would lay it open from within.
        let mut above = Some(root.canonicalize().map_err(canonicalize_failed)?);
        while let Some(path) = above {
            // Looked at, not opened: what lies above the root is nobody's business here.
            let metadata = std::fs::metadata(&path).map_err(canonicalize_failed)?;
            if opened.forbidden.contains(&(metadata.dev(), metadata.ino())) {
                let reason = RefusedPath::DataDirectory.as_str();
                let source = io::Error::new(io::ErrorKind::PermissionDenied, reason);
                return Err(FilesError::Io { action: "open the project's root", source });
            }
            above = path.parent().map(PathBuf::from);
        }
        Ok(opened)
    }

    fn forbids(&self, stat: &FileStat) -> bool {
        self.forbidden.contains(&identity(stat))
    }

    /// Opens a file of the project, and no other.
    fn open_file(&self, path: &RelPath) -> Result<(std::fs::File, FileStat), FilesError> {
        let refuse = |reason| FilesError::Refused { path: path.clone(), reason };
        let mut components: Vec<&str> = path.as_str().split('/').collect();
        if components.iter().any(|name| is_reserved(name)) {
            return Err(refuse(RefusedPath::Reserved));
        }
        let Some(file_name) = components.pop() else {
            return Err(refuse(RefusedPath::NotRegular));
        };
        // Each directory is opened from the one above and looked at by the handle we go on with,
        // so swapping a name between the check and the use gains nothing.
        let mut holder: Option<Dir> = None;
        for name in components {
            let next = holder
                .as_ref()
                .unwrap_or(&self.dir)
                .child(name)
                .map_err(|err| path_error(path, err))?;
            if self.forbids(&next.stat_self()?) {
                return Err(refuse(RefusedPath::DataDirectory));
            }
            holder = Some(next);
        }
        let parent = holder.as_ref().unwrap_or(&self.dir);
        let (file, stat) = parent.open_regular(file_name).map_err(|err| path_error(path, err))?;
        if self.forbids(&stat) {
            return Err(refuse(RefusedPath::DataDirectory));
        }
        Ok((file, stat))
    }

    fn read(&self, path: &RelPath, bytes_max: u64) -> Result<Vec<u8>, FilesError> {
        let (file, stat) = self.open_file(path)?;
        let too_large = || FilesError::TooLarge { path: path.clone(), allowed: bytes_max };
        if stat.bytes > bytes_max {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        file.take(bytes_max + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| FilesError::Io { action: "read a project file", source })?;
        if bytes.len() as u64 > bytes_max { Err(too_large()) } else { Ok(bytes) }
    }

    fn list(&self, files_max: usize) -> Result<FileListing, FilesError> {
        let mut walk = Walk { root: self, listing: FileListing::default(), files_max, visited: 0 };
        walk.enter(&self.dir, "", 0)?;
        let Walk { mut listing, .. } = walk;
        listing.files.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        Ok(listing)
    }
}

struct Walk<'a> {
    root: &'a Root,
    listing: FileListing,
    files_max: usize,
    visited: usize,
}

impl Walk<'_> {
    fn enter(&mut self, dir: &Dir, prefix: &str, depth: usize) -> Result<(), FilesError> {
        let mut entries = dir.entries()?;
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in entries {
            self.visited += 1;
            if self.listing.files.len() >= self.files_max || self.visited > VISITED_MAX {
                self.listing.truncated = true;
                return Ok(());
            }
            if is_reserved(&name) {
                continue;
            }
            match kind {
                EntryKind::Regular => self.add(dir, prefix, &name)?,
                EntryKind::Directory if depth >= DEPTH_MAX => self.listing.truncated = true,
                EntryKind::Directory => {
                    // One that cannot be entered (gone, forbidden, a mount that fails) hides itself.
                    let Ok(child) = dir.child(&name) else { continue };
                    if self.root.forbids(&child.stat_self()?) {
                        continue;
                    }
                    self.enter(&child, &format!("{prefix}{name}/"), depth + 1)?;
                }
                EntryKind::Other => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, dir: &Dir, prefix: &str, name: &str) -> Result<(), FilesError> {
        // A name that is no RelPath could not be read either.
        let Ok(path) = format!("{prefix}{name}").parse::<RelPath>() else { return Ok(()) };
        let Some(stat) = dir.stat(name)? else { return Ok(()) };
        if self.root.forbids(&stat) {
            return Ok(());
        }
        let modified_ms = i64::try_from(stat.modified_ns / 1_000_000).unwrap_or(0);
        let modified_at = Timestamp::from_unix_ms(modified_ms);
        self.listing.files.push(FileEntry { path, bytes: stat.bytes, modified_at });
        Ok(())
    }
}

fn identity(stat: &FileStat) -> (u64, u64) {
    (stat.device, stat.inode)
}

/// Returns whether a name is never a project file, in any spelling a case-folding disk would accept.
fn is_reserved(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".live-artifacts")
}

fn path_error(path: &RelPath, err: DiskError) -> FilesError {
    use rustix::io::Errno;
    let refuse = |reason| FilesError::Refused { path: path.clone(), reason };
    let errno = err.source.raw_os_error().map(Errno::from_raw_os_error);
    match errno {
        Some(Errno::NOENT | Errno::NOTDIR) => FilesError::NotFound { path: path.clone() },
        Some(Errno::LOOP | Errno::XDEV) => refuse(RefusedPath::Escapes),
        Some(Errno::NXIO | Errno::ISDIR) => refuse(RefusedPath::NotRegular),
        _ if err.source.kind() == io::ErrorKind::InvalidInput => refuse(RefusedPath::NotRegular),
        _ => err.into(),
    }
}

fn canonicalize_failed(source: io::Error) -> FilesError {
    FilesError::Io { action: "find the project's root", source }
}

impl From<DiskError> for FilesError {
    fn from(err: DiskError) -> Self {
        Self::Io { action: err.action, source: err.source }
    }
}
