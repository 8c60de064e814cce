//! Logs as they were last read, so that a long one is not read again for every record.
//!
//! A refresh appends three records and each looks at the log first; without this the thousandth
//! refresh would read a thousand times what the first one did. What is known of a file is believed
//! only while device, inode, length, change time and modification time are all as they were then:
//! nobody can set a change time back, and whoever appends here says what the file is afterwards.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::audit_log::AuditLog;
use crate::disk::FileStat;

/// Logs known at once. They are small; beyond it all are forgotten and read again.
const KNOWN_MAX: usize = 8192;

type Known = HashMap<(u64, u64), (FileStat, AuditLog)>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a log if its file is as it was.
pub(super) fn get(stat: &FileStat) -> Option<AuditLog> {
    let known = known();
    let (then, log) = known.get(&(stat.device, stat.inode))?;
    (then == stat).then(|| log.clone())
}

/// Remembers what a file holds.
pub(super) fn put(stat: FileStat, log: &AuditLog) {
    let mut known = known();
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    known.insert((stat.device, stat.inode), (stat, log.clone()));
}
