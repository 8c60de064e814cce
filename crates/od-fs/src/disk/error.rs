//! Errors of the disk, and which of them mean what.

use std::io;

use rustix::io::Errno;

/// An error of the system, and what was tried.
#[derive(Debug)]
pub(crate) struct DiskError {
    pub(crate) action: &'static str,
    pub(crate) source: io::Error,
}

impl DiskError {
    pub(crate) fn new(action: &'static str, source: impl Into<io::Error>) -> Self {
        Self { action, source: source.into() }
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    fn errno(&self) -> Option<Errno> {
        errno_of(&self.source)
    }
}

/// Returns whether a rename failed because a directory with something in it has the name already.
///
/// POSIX lets a filesystem choose: ext4, btrfs and tmpfs answer `ENOTEMPTY`, XFS answers `EEXIST`.
pub(crate) fn is_taken_by_directory(err: &DiskError) -> bool {
    matches!(err.errno(), Some(Errno::NOTEMPTY | Errno::EXIST))
}

fn errno_of(err: &io::Error) -> Option<Errno> {
    err.raw_os_error().map(Errno::from_raw_os_error)
}

/// Returns whether a file or a link stands in the place of a directory: it holds nothing of ours.
pub(crate) fn is_no_directory(err: &DiskError) -> bool {
    matches!(err.errno(), Some(Errno::NOTDIR | Errno::LOOP))
}

/// Returns whether an error says "this is not a file of ours" rather than "the disk is failing".
///
/// People and other programs put directories, links, pipes and huge files where ours should be, or take
/// away the right to read them. Such a thing counts as missing or damaged; it fails no request.
pub(crate) fn is_foreign(err: &DiskError) -> bool {
    match err.errno() {
        Some(errno) => matches!(
            errno,
            Errno::LOOP | Errno::XDEV | Errno::NXIO | Errno::ISDIR | Errno::NOTDIR | Errno::ACCESS
        ),
        // Errors of our own making: not a regular file, longer than any file of its kind.
        None => {
            matches!(err.source.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge)
        }
    }
}

/// Returns whether an error says that the bytes of this file are gone, which no retry brings back.
pub(crate) fn is_damage(err: &io::Error) -> bool {
    matches!(errno_of(err), Some(Errno::IO | Errno::BADMSG | Errno::UCLEAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_directory_is_known_by_the_answer_of_xfs_too() {
        for errno in [Errno::NOTEMPTY, Errno::EXIST] {
            assert!(is_taken_by_directory(&DiskError::new("rename", errno)), "{errno}");
        }
        assert!(!is_taken_by_directory(&DiskError::new("rename", Errno::NOSPC)));
    }
}
