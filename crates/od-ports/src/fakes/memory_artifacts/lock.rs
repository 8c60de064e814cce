//! Locks that live in memory.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use super::shelf::{Key, Shelf};
use crate::store::{CommitLock, RunningLock};

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum LockKind {
    Commit,
    Running,
}

#[derive(Debug)]
pub(super) struct MemoryLock {
    pub(super) shelf: Arc<Mutex<Shelf>>,
    pub(super) lock: (Key, LockKind),
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).locked.remove(&self.lock);
    }
}

impl CommitLock for MemoryLock {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl RunningLock for MemoryLock {}
