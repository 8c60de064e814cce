//! The lock under which an artifact is committed: its row, for as long as a transaction is open.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use od_core::ids::Revision;
use od_ports::store::CommitLock;

use crate::content::Loaded;
use crate::store::Shared;
use crate::write::Transaction;

/// The commit lock of an artifact: its row, locked by a transaction that is open.
pub(crate) struct PgCommitLock {
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: tokio::sync::Mutex<LockState>,
}

pub(crate) enum LockState {
    Open(Transaction, Box<Loaded>),
    /// A commit has used it up; the artifact is at this revision or behind it.
    Used(Revision),
}

impl LockState {
    pub(crate) fn revision(&self) -> Option<Revision> {
        match self {
            Self::Open(_, loaded) => loaded.row.pointer.as_ref().ok().map(|found| found.revision),
            Self::Used(revision) => Some(*revision),
        }
    }
}

impl fmt::Debug for PgCommitLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgCommitLock").finish_non_exhaustive()
    }
}

impl CommitLock for PgCommitLock {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
