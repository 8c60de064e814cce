//! Projects as they were last read.
//!
//! Nearly every request asks for its project, and a way to another thread and back takes longer than
//! most answers. What is known of a project is believed while its file is the same by device, inode,
//! length and times: one look, on the calling thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use od_core::ids::ProjectId;
use od_ports::project_registry::Project;

use crate::disk::FileStat;

/// Projects known at once. They are small; beyond it all are forgotten and read again.
const KNOWN_MAX: usize = 1024;
/// Clocks of filesystems tick this often, or oftener: a file changed twice within one tick looks the
/// same after both, so one that changed just now is not remembered yet.
const TICK_MAX: Duration = Duration::from_millis(50);

/// Projects as they were last read.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownProjects {
    known: Arc<Mutex<HashMap<ProjectId, (FileStat, Project)>>>,
}

impl KnownProjects {
    fn known(&self) -> MutexGuard<'_, HashMap<ProjectId, (FileStat, Project)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a project if its file is as it was.
    pub(crate) fn get(&self, project: &ProjectId, now: FileStat) -> Option<Project> {
        let known = self.known();
        let (then, project) = known.get(project)?;
        (*then == now).then(|| project.clone())
    }

    /// Remembers what was read from a file, which looked like this before.
    pub(crate) fn put(&self, stat: FileStat, project: &Project) {
        if !is_at_rest(stat, SystemTime::now()) {
            return;
        }
        let mut known = self.known();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(project.id.clone(), (stat, project.clone()));
    }
}

fn is_at_rest(stat: FileStat, now: SystemTime) -> bool {
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let limit = since_epoch.saturating_sub(TICK_MAX).as_nanos();
    i128::try_from(limit).is_ok_and(|limit| stat.changed_ns < limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::EntryKind;

    #[test]
    fn a_file_that_changed_just_now_is_not_at_rest() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let changed = |ago: Duration| FileStat {
            device: 1,
            inode: 2,
            bytes: 3,
            modified_ns: 0,
            changed_ns: i128::try_from((Duration::from_secs(1_000) - ago).as_nanos())
                .expect("a time of this century"),
            kind: EntryKind::Regular,
        };
        assert!(!is_at_rest(changed(Duration::ZERO), now));
        assert!(!is_at_rest(changed(TICK_MAX), now));
        assert!(is_at_rest(changed(TICK_MAX + Duration::from_nanos(1)), now));
    }
}
