//! Project files as they were last read.
//!
//! Nearly every request asks for its project, and a way to another thread and back takes longer than
//! most answers. What is known of a project is believed while its file is the same by device, inode,
//! length and times: one `stat`, on the calling thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use od_core::ids::ProjectId;
use od_ports::project_registry::Project;

use crate::disk::FileStat;

/// Projects known at once. They are small; beyond it all are forgotten and read again.
const KNOWN_MAX: usize = 1024;
/// A file changed twice within one tick of its filesystem's clock looks the same after both, so one
/// that changed just now is not remembered yet. The kernel's clock ticks oftener than this.
const TICK_MAX: Duration = Duration::from_millis(50);
/// Filesystems that keep whole seconds, or every other one.
const SECONDS_TICK_MAX: Duration = Duration::from_secs(2);

/// Caches project files by what `stat` says of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectFileCache {
    known: Arc<Mutex<HashMap<ProjectId, (FileStat, Project)>>>,
}

impl ProjectFileCache {
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
    let in_seconds = stat.changed_ns % 1_000_000_000 == 0;
    let tick = if in_seconds { SECONDS_TICK_MAX } else { TICK_MAX };
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let limit = since_epoch.saturating_sub(tick).as_nanos();
    i128::try_from(limit).is_ok_and(|limit| stat.changed_ns < limit)
}

#[cfg(test)]
mod tests {
    use od_core::ids::Timestamp;

    use super::*;
    use crate::disk::EntryKind;

    fn changed(at: Duration) -> FileStat {
        FileStat {
            device: 1,
            inode: 2,
            bytes: 3,
            modified_ns: 0,
            changed_ns: i128::try_from(at.as_nanos()).expect("a time of this century"),
            kind: EntryKind::Regular,
        }
    }

    #[test]
    fn a_file_that_changed_just_now_is_not_at_rest() {
        let now = Duration::from_nanos(1_000_000_000_001);
        let at_rest = |at: Duration| is_at_rest(changed(at), UNIX_EPOCH + now);
        assert!(!at_rest(now));
        assert!(!at_rest(now - TICK_MAX));
        assert!(at_rest(now - TICK_MAX - Duration::from_nanos(1)));
        assert!(!at_rest(Duration::from_secs(999)), "a clock of whole seconds ticks slowly");
        assert!(at_rest(Duration::from_secs(997)));
    }

    #[test]
    fn a_project_is_known_while_its_file_is_the_same() {
        let known = ProjectFileCache::default();
        let project = Project {
            id: "web".parse().expect("an id"),
            name: "Web".to_owned(),
            root: None,
            created_at: Timestamp::from_unix_ms(0),
            allow_schedules: false,
        };
        let then = changed(Duration::from_millis(1));
        known.put(then, &project);
        assert_eq!(known.get(&project.id, then), Some(project.clone()));
        for now in [
            FileStat { inode: 9, ..then },
            FileStat { bytes: 9, ..then },
            FileStat { modified_ns: 9, ..then },
            FileStat { changed_ns: 9, ..then },
        ] {
            assert_eq!(known.get(&project.id, now), None, "{now:?}");
        }
    }
}
