//! `stat`: what the disk says of a name without reading what it stands for.

use std::fs::File;
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::error::DiskError;

/// The kind of thing a name stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EntryKind {
    Directory,
    Regular,
    Other,
}

impl EntryKind {
    pub(super) fn of(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Self::Directory,
            FileType::RegularFile => Self::Regular,
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Other,
        }
    }
}

/// The stat fields that identify content cheaply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FileStat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) bytes: u64,
    pub(crate) modified_ns: i128,
    pub(crate) changed_ns: i128,
    pub(crate) kind: EntryKind,
}

impl FileStat {
    /// Stats an open file.
    pub(crate) fn of_file(file: &File) -> Result<Self, DiskError> {
        let stat = rustix::fs::fstat(file).map_err(|err| DiskError::new("look at a file", err))?;
        Ok(Self::of(&stat))
    }

    /// Stats a path without following its last name; `None` if nothing is there.
    pub(crate) fn of_path(path: &Path) -> Result<Option<Self>, DiskError> {
        match rustix::fs::lstat(path) {
            Ok(stat) => Ok(Some(Self::of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(err) => Err(DiskError::new("look at a file", err)),
        }
    }

    #[expect(clippy::unnecessary_cast, reason = "the field types differ between architectures")]
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified_ns: i128::from(stat.st_mtime) * 1_000_000_000 + stat.st_mtime_nsec as i128,
            changed_ns: i128::from(stat.st_ctime) * 1_000_000_000 + stat.st_ctime_nsec as i128,
            kind: EntryKind::of(FileType::from_raw_mode(stat.st_mode)),
        }
    }
}
