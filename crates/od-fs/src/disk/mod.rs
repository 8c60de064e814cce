//! The few disk operations everything else is built from.

mod dir;
mod error;
mod file_lock;
mod file_stat;
mod frame;

pub(crate) use dir::{Dir, sync_file};
pub(crate) use error::{DiskError, is_damage, is_foreign, is_no_directory};
pub(crate) use file_lock::{FileLock, LockAttempt};
pub(crate) use file_stat::{EntryKind, FileStat};
pub(crate) use frame::{Frame, FrameError};
