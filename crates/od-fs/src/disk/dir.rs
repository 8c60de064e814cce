//! A directory held open, and everything done relative to it.
//!
//! No operation opens or changes anything behind a symbolic link or outside the directory: names are
//! resolved by [`od_platform::open_beneath`], or are single components handed to an `*at` call that does
//! not follow links. Only [`Dir::stat`] takes a path of two components, and returns no more than times
//! and sizes.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use od_platform::Exchange;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::error::DiskError;
use super::file_stat::{EntryKind, FileStat};

const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const PRIVATE_DIR: Mode = Mode::RWXU;
/// Without NONBLOCK, opening a pipe would wait for a reader.
const TO_WRITE: OFlags =
    OFlags::WRONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// A directory held open.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
}

impl Dir {
    /// Opens a directory by path. For roots given by configuration; below them use [`Dir::child`].
    pub(crate) fn open(path: &Path) -> Result<Self, DiskError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty())
            .map(|fd| Self { fd })
            .map_err(|err| DiskError::new("open a directory", err))
    }

    /// As [`Dir::open`], but what the path names must be no link.
    pub(crate) fn open_no_link(path: &Path) -> Result<Self, DiskError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty())
            .map(|fd| Self { fd })
            .map_err(|err| DiskError::new("open a directory", err))
    }

    /// Makes a directory with its parents, private to the user, and opens it.
    pub(crate) fn make_all(path: &Path) -> Result<Self, DiskError> {
        use std::os::unix::fs::DirBuilderExt as _;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|err| DiskError::new("make a directory", err))?;
        Self::open(path)
    }

    /// Opens a directory below this one; the name may have several components.
    pub(crate) fn child(&self, name: &str) -> Result<Self, DiskError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.open_beneath(name, flags)
            .map(|fd| Self { fd })
            .map_err(|err| DiskError::new("open a directory", err))
    }

    /// Opens what a path of several components names, none of which may be a link or lead upwards.
    fn open_beneath(&self, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        od_platform::open_beneath(&self.fd, name, flags)
    }

    /// Opens a directory below this one, making it if it is missing.
    pub(crate) fn child_or_make(&self, name: &str) -> Result<Self, DiskError> {
        match self.child(name) {
            Err(err) if err.is_missing() => {
                self.make_dir(name)?;
                self.child(name)
            }
            other => other,
        }
    }

    /// Makes a directory; one that is there already is fine.
    pub(crate) fn make_dir(&self, name: &str) -> Result<(), DiskError> {
        self.make_new_dir(name).map(drop)
    }

    /// Makes a directory; `false` if the name is taken.
    pub(crate) fn make_new_dir(&self, name: &str) -> Result<bool, DiskError> {
        match rustix::fs::mkdirat(&self.fd, name, PRIVATE_DIR) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(err) => Err(DiskError::new("make a directory", err)),
        }
    }

    /// Reads a regular file of at most `bytes_max` bytes.
    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, DiskError> {
        let (mut file, stat) = self.open_regular(name)?;
        if stat.bytes > bytes_max {
            return Err(too_long());
        }
        let failed = |err| DiskError::new("read a file", err);
        let expected = usize::try_from(stat.bytes).map_err(|_| too_long())?;
        let mut bytes = vec![0; expected + 1];
        let mut filled = 0;
        // One byte more than there should be: fewer than asked for means the end of a regular file,
        // and no second call has to find that out.
        while filled < bytes.len() {
            match file.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(failed(err)),
            }
            if filled == expected {
                break;
            }
        }
        bytes.truncate(filled);
        if filled > expected {
            // It grew meanwhile.
            let rest = (bytes_max + 1).saturating_sub(filled as u64);
            (&mut file).take(rest).read_to_end(&mut bytes).map_err(failed)?;
        }
        if bytes.len() as u64 > bytes_max {
            return Err(too_long());
        }
        Ok(bytes)
    }

    /// Reads a regular file, or `None` if it is missing.
    pub(crate) fn read_if_there(
        &self,
        name: &str,
        bytes_max: u64,
    ) -> Result<Option<Vec<u8>>, DiskError> {
        match self.read(name, bytes_max) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(err) if err.is_missing() => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Opens a regular file for reading.
    pub(crate) fn open_regular(&self, name: &str) -> Result<(File, FileStat), DiskError> {
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self
            .open_beneath(name, flags)
            .map(File::from)
            .map_err(|err| DiskError::new("open a file", err))?;
        let stat = FileStat::of_file(&file)?;
        if stat.kind != EntryKind::Regular {
            return Err(not_regular("open a file"));
        }
        Ok((file, stat))
    }

    /// Writes a new file under a name, replacing what a crashed writer may have left there.
    ///
    /// The name must be one that only a lock holder writes.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<File, DiskError> {
        let flags = OFlags::CREATE | OFlags::TRUNC | TO_WRITE;
        let fd = rustix::fs::openat(&self.fd, name, flags, PRIVATE_FILE)
            .map_err(|err| DiskError::new("create a file", err))?;
        let mut file = File::from(fd);
        file.write_all(bytes).map_err(|err| DiskError::new("write a file", err))?;
        Ok(file)
    }

    /// Makes a file that is not there yet: whatever has the name already, a link too, is refused.
    pub(crate) fn create_new(&self, name: &str) -> Result<File, DiskError> {
        let flags = OFlags::CREATE | OFlags::EXCL | TO_WRITE;
        rustix::fs::openat(&self.fd, name, flags, PRIVATE_FILE)
            .map(File::from)
            .map_err(|err| DiskError::new("create a file", err))
    }

    /// Writes a new file and lets its bytes go to the disk without waiting for them: whoever syncs
    /// another file meanwhile pays for both.
    pub(crate) fn write_ahead(&self, name: &str, bytes: &[u8]) -> Result<File, DiskError> {
        let file = self.write(name, bytes)?;
        od_platform::start_writing_back(&file);
        Ok(file)
    }

    /// Writes a file and waits until its bytes are on the disk.
    pub(crate) fn write_synced(&self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        sync_file(&self.write(name, bytes)?)
    }

    /// Replaces a file by writing beside it, syncing and renaming, without syncing the directory.
    pub(crate) fn replace_synced(&self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        let temporary = format!("{name}.tmp");
        self.write_synced(&temporary, bytes)?;
        self.rename(&temporary, self, name)
    }

    /// Opens a file for appending, making it if it is missing.
    pub(crate) fn append(&self, name: &str) -> Result<File, DiskError> {
        let flags = OFlags::CREATE | OFlags::APPEND | TO_WRITE;
        let file = rustix::fs::openat(&self.fd, name, flags, PRIVATE_FILE)
            .map(File::from)
            .map_err(|err| DiskError::new("open a file to append", err))?;
        if FileStat::of_file(&file)?.kind == EntryKind::Regular {
            Ok(file)
        } else {
            Err(not_regular("open a file to append"))
        }
    }

    /// Opens a lock file, making it if it is missing.
    pub(crate) fn lock_file(&self, name: &str) -> Result<File, DiskError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.fd, name, flags, PRIVATE_FILE)
            .map(File::from)
            .map_err(|err| DiskError::new("open a lock file", err))
    }

    /// Opens the directory once more, to lock it by: a lock lives as long as one opening.
    pub(crate) fn lock_self(&self) -> Result<File, DiskError> {
        self.child(".").map(|dir| File::from(dir.fd))
    }

    /// Opens an existing file read-only for probing its lock; `None` if it is missing.
    pub(crate) fn probe_file(&self, name: &str) -> Result<Option<File>, DiskError> {
        match self.open_regular(name) {
            Ok((file, _)) => Ok(Some(file)),
            Err(err) if err.is_missing() => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Cuts a file to a length and syncs it.
    pub(crate) fn cut(&self, name: &str, bytes: u64) -> Result<(), DiskError> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty())
            .map_err(|err| DiskError::new("open a file to cut", err))?;
        let file = File::from(fd);
        file.set_len(bytes).map_err(|err| DiskError::new("cut a file", err))?;
        sync_file(&file)
    }

    /// Renames a file or directory into another directory, replacing a file of that name.
    pub(crate) fn rename(&self, from: &str, into: &Self, to: &str) -> Result<(), DiskError> {
        rustix::fs::renameat(&self.fd, from, &into.fd, to)
            .map_err(|err| DiskError::new("rename", err))
    }

    /// Renames without replacing; fails with `AlreadyExists`.
    pub(crate) fn rename_new(&self, from: &str, into: &Self, to: &str) -> Result<(), DiskError> {
        od_platform::rename_new(&self.fd, from, &into.fd, to)
            .map_err(|err| DiskError::new("rename", err))
    }

    /// Swaps two files of the directory in one step.
    pub(crate) fn swap(&self, one: &str, other: &str) -> Result<Exchange, DiskError> {
        od_platform::exchange(&self.fd, one, other)
            .map_err(|err| DiskError::new("swap two files", err))
    }

    /// Removes a file; a missing one is fine.
    pub(crate) fn remove(&self, name: &str) -> Result<(), DiskError> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(err) => Err(DiskError::new("remove a file", err)),
        }
    }

    /// Removes a directory with everything in it; a missing one is fine. Links are removed, not
    /// followed.
    pub(crate) fn remove_tree(&self, name: &str) -> Result<(), DiskError> {
        let inner = match self.child(name) {
            Ok(inner) => inner,
            Err(err) if err.is_missing() => return Ok(()),
            Err(err) => return Err(err),
        };
        for (entry, kind) in inner.entries()? {
            match kind {
                EntryKind::Directory => inner.remove_tree(&entry)?,
                EntryKind::Regular | EntryKind::Other => inner.remove(&entry)?,
            }
        }
        inner.remove_unnamed()?;
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(err) => Err(DiskError::new("remove a directory", err)),
        }
    }

    /// Removes the files whose names are not UTF-8, which od never writes and never lists: with one of
    /// them left, the directory could never be removed.
    fn remove_unnamed(&self) -> Result<(), DiskError> {
        let failed = |err| DiskError::new("list a directory", err);
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_str().is_err() {
                rustix::fs::unlinkat(&self.fd, entry.file_name(), AtFlags::empty())
                    .map_err(|err| DiskError::new("remove a file", err))?;
            }
        }
        Ok(())
    }

    /// Lists the names in the directory that are valid UTF-8, unsorted.
    pub(crate) fn entries(&self) -> Result<Vec<(String, EntryKind)>, DiskError> {
        let failed = |err| DiskError::new("list a directory", err);
        let listing = rustix::fs::Dir::read_from(&self.fd).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in listing {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            // Some filesystems do not say what an entry is.
            let kind = if entry.file_type() == FileType::Unknown {
                self.stat(name)?.map_or(EntryKind::Other, |stat| stat.kind)
            } else {
                EntryKind::of(entry.file_type())
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    /// Stats a name without following it; `None` if it is missing.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<FileStat>, DiskError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileStat::of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(err) => Err(DiskError::new("look at a file", err)),
        }
    }

    /// Stats the directory itself.
    pub(crate) fn stat_self(&self) -> Result<FileStat, DiskError> {
        rustix::fs::fstat(&self.fd)
            .map(|stat| FileStat::of(&stat))
            .map_err(|err| DiskError::new("look at a directory", err))
    }

    /// Waits until the directory's entries are on the disk.
    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        od_platform::sync_directory(&self.fd).map_err(|err| DiskError::new("sync a directory", err))
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Waits until a file's bytes are on the disk.
pub(crate) fn sync_file(file: &File) -> Result<(), DiskError> {
    file.sync_all().map_err(|err| DiskError::new("sync a file", err))
}

fn not_regular(action: &'static str) -> DiskError {
    DiskError::new(action, io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn too_long() -> DiskError {
    let source = io::Error::new(io::ErrorKind::FileTooLarge, "longer than any file of its kind");
    DiskError { action: "read a file", source }
}
