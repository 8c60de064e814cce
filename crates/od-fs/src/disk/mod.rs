//! The few disk operations everything else is built from.

mod dir;

pub(crate) use dir::{Dir, DiskError, EntryKind, FileStat};
