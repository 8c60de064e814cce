//! The few disk operations everything else is built from.

mod dir;
mod file_lock;
mod frame;

pub(crate) use dir::{Dir, DiskError, EntryKind, FileStat};
pub(crate) use file_lock::{FileLock, LockAttempt};
pub(crate) use frame::{Frame, FrameError};
