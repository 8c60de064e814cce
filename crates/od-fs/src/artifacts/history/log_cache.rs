//! Logs as they were last read, so that a long one is not read again for every record.
//!
//! A refresh appends three records and each looks at the log first; without this the thousandth
//! refresh would read a thousand times what the first one did. What is known of a file is believed
//! only while device, inode, length, change time and modification time are all as they were then:
//! nobody can set a change time back, and whoever appends here says what the file is afterwards.
//!
//! One for the process, not for the store: an entry is named by device and inode, so two stores of one
//! process that open the same data directory share it and still agree with the disk.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::audit_log::AuditLog;
use crate::disk::FileStat;

/// Logs known at once. They are small; beyond it all are forgotten and read again.
const LOGS_MAX: usize = 8192;

type Logs = HashMap<(u64, u64), (FileStat, AuditLog)>;

static LOGS: LazyLock<Mutex<Logs>> = LazyLock::new(Mutex::default);

fn logs() -> MutexGuard<'static, Logs> {
    LOGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a log if its file is as it was.
pub(super) fn get(stat: &FileStat) -> Option<AuditLog> {
    let logs = logs();
    let (then, log) = logs.get(&(stat.device, stat.inode))?;
    (then == stat).then(|| log.clone())
}

/// Remembers what a file holds.
pub(super) fn put(stat: FileStat, log: &AuditLog) {
    let mut logs = logs();
    if logs.len() >= LOGS_MAX {
        logs.clear();
    }
    logs.insert((stat.device, stat.inode), (stat, log.clone()));
}
