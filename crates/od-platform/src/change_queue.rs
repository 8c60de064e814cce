//! The kernel's queue of changes in directories (inotify), where there is one.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use rustix::io::Errno;

/// The changes that a watch reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchInterest {
    /// Every change of the directory and of what is in it.
    Everything,
    /// Files that were written and closed, put there, or taken away.
    WholeFiles,
    /// Names that appear.
    NewNames,
}

/// One change from the queue.
#[derive(Debug)]
pub enum QueuedChange<'a> {
    /// Events were lost: everything may have changed.
    Overflow,
    /// The kernel dropped a watch, with its directory or because it was asked to.
    Dropped(i32),
    /// Something in the directory of a watch changed.
    Changed {
        /// The watch.
        watch: i32,
        /// The name that changed; none if the directory itself did.
        name: Option<&'a str>,
        /// Whether the name stands, or stood, for a directory.
        is_directory: bool,
    },
}

/// A queue of changes. The kernel adds an event before the call that caused it returns, so whoever
/// takes everything from the queue after a change sees it.
///
/// macOS has nothing of the kind that promises this: FSEvents reports after a while, and kqueue wants
/// every file open. There [`ChangeQueue::open`] gives nothing, and whoever asked reads the disk.
#[derive(Debug)]
pub struct ChangeQueue {
    fd: OwnedFd,
}

impl ChangeQueue {
    /// Opens a queue that watches nothing; nothing where the system has none.
    #[must_use]
    pub fn open() -> Option<Self> {
        if crate::uses_linux_calls() { system::open().map(|fd| Self { fd }) } else { None }
    }

    /// Begins to watch a directory; nothing if the system does not.
    #[must_use]
    pub fn watch(&self, path: &Path, interest: WatchInterest) -> Option<i32> {
        system::watch(&self.fd, path, interest)
    }

    /// Stops a watch; one that the kernel dropped already is none.
    pub fn forget(&self, watch: i32) {
        system::forget(&self.fd, watch);
    }

    /// Takes everything that is queued.
    ///
    /// # Errors
    ///
    /// Fails if the queue cannot be read.
    pub fn drain(&self, take: impl FnMut(QueuedChange<'_>)) -> Result<(), Errno> {
        system::drain(&self.fd, take)
    }
}

impl AsFd for ChangeQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// For waiting until the queue has something.
impl AsRawFd for ChangeQueue {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;

    use super::{QueuedChange, WatchInterest};

    pub(super) fn open() -> Option<OwnedFd> {
        inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()
    }

    pub(super) fn watch(queue: &OwnedFd, path: &Path, interest: WatchInterest) -> Option<i32> {
        // Editors write a new file and rename it; programs write in place and close. A write through a
        // memory map is reported only when its file is closed.
        let whole_files = WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let flags = match interest {
            WatchInterest::NewNames => {
                WatchFlags::CREATE
                    | WatchFlags::MOVED_TO
                    | WatchFlags::ONLYDIR
                    | WatchFlags::DONT_FOLLOW
            }
            WatchInterest::WholeFiles => whole_files,
            WatchInterest::Everything => {
                whole_files
                    | WatchFlags::MODIFY
                    | WatchFlags::ATTRIB
                    | WatchFlags::MOVED_FROM
                    | WatchFlags::DELETE_SELF
                    | WatchFlags::MOVE_SELF
            }
        };
        inotify::add_watch(queue, path, flags).ok()
    }

    pub(super) fn forget(queue: &OwnedFd, watch: i32) {
        let _ = inotify::remove_watch(queue, watch);
    }

    pub(super) fn drain(
        queue: &OwnedFd,
        mut take: impl FnMut(QueuedChange<'_>),
    ) -> Result<(), Errno> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 8192];
        let mut reader = inotify::Reader::new(queue, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(err) => return Err(err),
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                take(QueuedChange::Overflow);
                continue;
            }
            let name = event.file_name().and_then(|name| name.to_str().ok());
            let is_directory = event.events().contains(ReadFlags::ISDIR);
            take(QueuedChange::Changed { watch: event.wd(), name, is_directory });
            if event.events().contains(ReadFlags::IGNORED) {
                take(QueuedChange::Dropped(event.wd()));
            }
        }
    }
}

/// No queue is ever opened here.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::io::Errno;

    use super::{QueuedChange, WatchInterest};

    pub(super) fn open() -> Option<OwnedFd> {
        None
    }

    pub(super) fn watch(_: &OwnedFd, _: &Path, _: WatchInterest) -> Option<i32> {
        None
    }

    pub(super) fn forget(_: &OwnedFd, _: i32) {}

    pub(super) fn drain(_: &OwnedFd, _: impl FnMut(QueuedChange<'_>)) -> Result<(), Errno> {
        Ok(())
    }
}
