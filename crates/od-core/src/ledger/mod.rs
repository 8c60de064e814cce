//! The rules of a store, whatever it keeps its bytes in: how revisions and refreshes are numbered, who
//! may still write, what an attempt made before, what is kept for how long, and how the records of
//! refreshes come to a status.
//!
//! Files, a database and the fakes of tests all decide by these functions, so that none of them decides
//! on its own. They take what the store has read and return the decision; reading, locking and making
//! it durable stay with the store.

mod attempt;
mod refreshes;
mod retention;
mod revision;

pub use attempt::{EarlierAttempt, Maker, find_earlier};
pub use refreshes::{RefreshClosed, RefreshLedger, RunningLockState, is_synced_at_once};
pub use retention::{
    excess_aside_files, excess_snapshots, is_trash_expired, needs_rotation, trash_expires_at,
};
pub use revision::{RevisionConflict, check_revision, next_revision};
