//! Verify, repair, and recovery at start-up.

mod inspect;
mod recovery;
mod repair;

pub(crate) use inspect::inspect;
pub(crate) use recovery::recover;
pub(crate) use repair::repair;
