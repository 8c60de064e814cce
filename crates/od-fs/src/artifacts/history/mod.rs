//! An artifact's past: the log of its refreshes, and the snapshots they left.

pub(crate) mod audit_log;
mod log_cache;
mod refresh_log;
pub(crate) mod snapshots;

pub(crate) use audit_log::{AuditLog, LOG, ROTATED, Tail};
pub(crate) use refresh_log::RefreshRecords;
pub(crate) use snapshots::SNAPSHOTS;
