//! A directory that nobody else can change, held open, and the files in it that programs trust.
//!
//! Whoever can write to a data directory can name a daemon in it, and is sent tokens; whoever can put
//! a link there has another file of the person's overwritten. So the owner and the mode are checked on
//! the open handle, and no name in it is followed.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use od_core::ids::Audience;
use od_ports::system::Entropy as _;
use ring::digest::{Context, SHA256};
use rustix::fs::{FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use crate::disk::{Dir, DiskError};
use crate::system::SystemEntropy;

const WRITABLE_BY_OTHERS: RawMode = 0o022;
const OPEN_TO_OTHERS: RawMode = 0o077;

/// The reason not to trust a directory, or a file in it.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    /// It belongs to somebody else, who decides what is in it.
    #[error("`{}` belongs to user {owner}, and this program runs as user {user}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// The user who runs this process.
        user: u32,
    },
    /// Others can write to the directory.
    #[error("other users can write to `{}`", path.display())]
    Writable {
        /// The directory.
        path: PathBuf,
    },
    /// Others can open a file that only its owner should, or write to it.
    #[error("`{}` is open to other users", path.display())]
    TooOpen {
        /// The file.
        path: PathBuf,
    },
    /// It is a symbolic link: what it leads to was chosen by whoever made the link.
    #[error("`{}` is a symbolic link", path.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// Whether it stands for a directory of artifacts or runs, which would seem lost without it.
        holds_data: bool,
    },
    /// Something else has the name of a file or directory of ours.
    #[error("`{}` is not {wanted}", path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// The kind of thing it should be.
        wanted: &'static str,
    },
    /// The system refused.
    #[error("cannot {action}: `{}`", path.display())]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl PrivateError {
    /// Returns what makes it usable: a command where one does.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            // Not chown: what is in it was put there by somebody else.
            Self::Foreign { .. } => {
                "use a directory of your own: set OD_DATA_DIR or OD_HOME, or give --data-dir"
                    .to_owned()
            }
            // Windows' disks under WSL, and others without modes, show every mode as open.
            Self::Writable { path } => format!(
                "run `chmod go-w {}`; if that changes nothing, this file system keeps no permissions: \
                 set OD_DATA_DIR (or OD_HOME) to a directory in your home",
                shell_quoted(path)
            ),
            Self::Link { path, holds_data: true } => {
                format!("put the directory that it leads to at {} itself", shell_quoted(path))
            }
            // Not chmod: whoever has opened it already would keep it open, and locked.
            Self::TooOpen { path } | Self::Link { path, holds_data: false } => {
                format!("rm {}", shell_quoted(path))
            }
            Self::Kind { path, .. } => {
                let mut aside = path.clone().into_os_string();
                aside.push(".old");
                format!("mv {} {}", shell_quoted(path), shell_quoted(Path::new(&aside)))
            }
            // Not a matter of permissions: the mount lacks what od cannot do without.
            Self::Io { source, .. } if is_unsupported(source) => {
                "this file system has no locks or no such call (some NFS, 9p and WSL mounts): set \
                 OD_DATA_DIR (or OD_HOME) to a directory on a local disk"
                    .to_owned()
            }
            Self::Io { .. } => {
                "check the directory's permissions, or choose another with --data-dir".to_owned()
            }
        }
    }
}

/// Returns whether the system says that it cannot do something at all, rather than not here or not now.
fn is_unsupported(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::INVAL))
}

/// Returns a path as one word of a shell's, whatever is in it.
#[must_use]
pub fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// A directory of this user's that nobody else can write to, held open.
#[derive(Debug)]
pub struct PrivateDir {
    dir: Dir,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens a directory that is there.
    ///
    /// # Errors
    ///
    /// Fails if it is somebody else's, or somebody else can write to it.
    pub fn open(path: &Path) -> Result<Self, PrivateError> {
        Dir::open(path).map_err(|err| disk(path, err)).and_then(|dir| Self::checked(dir, path))
    }

    /// As [`Self::open`], for a directory whose own name must be no link.
    pub(crate) fn open_no_link(path: &Path) -> Result<Self, PrivateError> {
        // Without a slash or a dot at its end, with which the system follows a link all the same.
        let path = &path.components().collect::<PathBuf>();
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => {
                Err(PrivateError::Link { path: path.clone(), holds_data: false })
            }
            Ok(_) | Err(_) => {
                // Should it become a link in between, the system refuses.
                let dir = Dir::open_no_link(path).map_err(|err| disk(path, err))?;
                Self::checked(dir, path)
            }
        }
    }

    /// Opens a directory, making it and its parents if they are missing.
    pub(crate) fn make(path: &Path) -> Result<Self, PrivateError> {
        Dir::make_all(path).map_err(|err| disk(path, err)).and_then(|dir| Self::checked(dir, path))
    }

    fn checked(dir: Dir, path: &Path) -> Result<Self, PrivateError> {
        let stat = stat(&dir, path)?;
        is_ours(&stat, path)?;
        if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
            return Err(PrivateError::Writable { path: path.to_owned() });
        }
        Ok(Self { dir, path: path.to_owned() })
    }

    pub(crate) fn into_dir(self) -> Dir {
        self.dir
    }

    /// Returns whom a token for this directory's daemon names: this directory and no other, whatever
    /// is in it, and the same one after a restart.
    ///
    /// # Errors
    ///
    /// Fails if the directory is gone.
    pub fn audience(&self) -> Result<Audience, PrivateError> {
        let path = self.path.canonicalize().map_err(|source| self.io("find", ".", source))?;
        let (device, inode) = od_platform::node(self.dir.as_fd())
            .map_err(|err| self.io("look at", ".", err.into()))?;
        let mut context = Context::new(&SHA256);
        context.update(&device.to_le_bytes());
        context.update(&inode.to_le_bytes());
        context.update(path.as_os_str().as_encoded_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&context.finish().as_ref()[..16]);
        Ok(Audience::of_data_dir(half))
    }

    /// Reads a file of at most `bytes_max` bytes; `None` if it is missing.
    ///
    /// # Errors
    ///
    /// Fails if it is a link, no regular file, somebody else's, writable by others, or too long.
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, PrivateError> {
        use std::io::Read as _;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let Some(mut file) = self.open_file(name, flags, WRITABLE_BY_OTHERS)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        (&mut file)
            .take(bytes_max + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| self.io("read", name, source))?;
        if bytes.len() as u64 > bytes_max {
            return Err(self.io("read", name, io::ErrorKind::FileTooLarge.into()));
        }
        Ok(Some(bytes))
    }

    /// Opens a lock file, making it if it is missing: only its owner can open it, because whoever can
    /// holds the lock if he likes.
    ///
    /// # Errors
    ///
    /// Fails if it is a link, no regular file, somebody else's or open to others.
    pub fn lock_file(&self, name: &str) -> Result<File, PrivateError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK;
        self.open_file(name, flags, OPEN_TO_OTHERS)?
            .ok_or_else(|| self.io("make", name, io::ErrorKind::NotFound.into()))
    }

    /// Opens a lock file that is there; `None` if it is missing.
    ///
    /// # Errors
    ///
    /// As [`Self::lock_file`].
    pub fn existing_lock_file(&self, name: &str) -> Result<Option<File>, PrivateError> {
        self.open_file(name, OFlags::RDONLY | OFlags::NONBLOCK, OPEN_TO_OTHERS)
    }

    /// Replaces whatever has the name by a file with these bytes, in one step.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses; a link of that name is replaced and not followed.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), PrivateError> {
        use std::io::Write as _;
        let mut chance = [0; 8];
        SystemEntropy::new()
            .fill(&mut chance)
            .map_err(|err| self.io("name", name, io::Error::other(err.to_string())))?;
        let draft = format!("{name}.{:016x}", u64::from_le_bytes(chance));
        let mut file = self.dir.create_new(&draft).map_err(|err| self.disk(&draft, err))?;
        let written =
            file.write_all(bytes).map_err(|source| self.io("write", name, source)).and_then(|()| {
                self.dir.rename(&draft, &self.dir, name).map_err(|err| self.disk(name, err))
            });
        if written.is_err() {
            // The first failure is the one to tell.
            let _left = self.dir.remove(&draft);
        }
        written
    }

    /// Removes a file; a missing one is fine, a link is removed and not followed.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses.
    pub fn remove(&self, name: &str) -> Result<(), PrivateError> {
        self.dir.remove(name).map_err(|err| self.disk(name, err))
    }

    fn open_file(
        &self,
        name: &str,
        flags: OFlags,
        forbidden: RawMode,
    ) -> Result<Option<File>, PrivateError> {
        let path = self.path.join(name);
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::openat(self.dir.as_fd(), name, flags, Mode::RUSR | Mode::WUSR);
        let file = match opened {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(PrivateError::Link { path, holds_data: false }),
            Err(Errno::ISDIR | Errno::NXIO) => return Err(not_regular(path)),
            Err(err) => return Err(self.io("open", name, err.into())),
        };
        let stat = stat(&file, &path)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(not_regular(path));
        }
        is_ours(&stat, &path)?;
        if stat.st_mode & forbidden != 0 {
            return Err(PrivateError::TooOpen { path });
        }
        Ok(Some(file))
    }

    fn io(&self, action: &'static str, name: &str, source: io::Error) -> PrivateError {
        PrivateError::Io { action, path: self.path.join(name), source }
    }

    fn disk(&self, name: &str, err: DiskError) -> PrivateError {
        disk(&self.path.join(name), err)
    }
}

fn stat(handle: &impl AsFd, path: &Path) -> Result<Stat, PrivateError> {
    rustix::fs::fstat(handle).map_err(|err| PrivateError::Io {
        action: "look at it",
        path: path.to_owned(),
        source: err.into(),
    })
}

fn is_ours(stat: &Stat, path: &Path) -> Result<(), PrivateError> {
    let (owner, user) = (stat.st_uid, rustix::process::geteuid().as_raw());
    if owner == user {
        Ok(())
    } else {
        Err(PrivateError::Foreign { path: path.to_owned(), owner, user })
    }
}

pub(crate) fn disk(path: &Path, err: DiskError) -> PrivateError {
    let DiskError { action, source } = err;
    if source.kind() == io::ErrorKind::NotADirectory {
        return PrivateError::Kind { path: path.to_owned(), wanted: "a directory" };
    }
    PrivateError::Io { action, path: path.to_owned(), source }
}

fn not_regular(path: PathBuf) -> PrivateError {
    PrivateError::Kind { path, wanted: "a regular file" }
}
