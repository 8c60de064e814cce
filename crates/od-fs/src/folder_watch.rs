//! Changes of files in folders of projects, told as they happen.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use od_platform::{ChangeQueue, QueuedChange, WatchInterest};
use tokio::io::unix::AsyncFd;

/// The pause between two looks at the folders, where the system has no queue of changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Watches folders. Where the system has a queue of changes, waiting takes no processor time; elsewhere
/// the folders are listed every second, and only while there are some.
#[derive(Debug)]
pub struct FolderWatch {
    changes: Changes,
}

#[derive(Debug)]
enum Changes {
    Queued { queue: AsyncFd<ChangeQueue>, folders: HashMap<i32, PathBuf> },
    Listed(HashMap<PathBuf, Listing>),
}

/// The files of a folder, each with what tells that it was written or replaced. Two writes in place of
/// the same length within one tick of the file system's clock (4 ms on ext4) look like one.
type Listing = HashMap<OsString, FileStamp>;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct FileStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl FolderWatch {
    /// Makes one that watches nothing.
    ///
    /// # Errors
    ///
    /// Fails outside of a runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe, which is forbidden here; the queue is owned and never replaced"
    )]
    pub fn new() -> io::Result<Self> {
        let changes = match ChangeQueue::open() {
            Some(queue) => Changes::Queued { queue: AsyncFd::new(queue)?, folders: HashMap::new() },
            None => Changes::Listed(HashMap::new()),
        };
        Ok(Self { changes })
    }

    /// Watches these folders and no others; one that is not there is not watched.
    pub fn watch(&mut self, wanted: &HashSet<PathBuf>) {
        match &mut self.changes {
            Changes::Queued { queue, folders } => {
                folders.retain(|watch, folder| {
                    let stays = wanted.contains(folder);
                    if !stays {
                        queue.get_ref().forget(*watch);
                    }
                    stays
                });
                let known: HashSet<PathBuf> = folders.values().cloned().collect();
                for folder in wanted.difference(&known) {
                    if let Some(watch) = queue.get_ref().watch(folder, WatchInterest::WholeFiles) {
                        folders.insert(watch, folder.clone());
                    }
                }
            }
            Changes::Listed(folders) => {
                folders.retain(|folder, _| wanted.contains(folder));
                for folder in wanted {
                    if !folders.contains_key(folder)
                        && let Some(listing) = list(folder)
                    {
                        folders.insert(folder.clone(), listing);
                    }
                }
            }
        }
    }

    /// Waits for changes and returns the paths that changed; every folder if some were lost.
    ///
    /// # Errors
    ///
    /// Fails if the queue cannot be read.
    pub async fn changed(&mut self) -> io::Result<Vec<PathBuf>> {
        match &mut self.changes {
            Changes::Queued { queue, folders } => next_queued(queue, folders).await,
            Changes::Listed(folders) => Ok(next_listed(folders).await),
        }
    }
}

async fn next_queued(
    queue: &mut AsyncFd<ChangeQueue>,
    folders: &mut HashMap<i32, PathBuf>,
) -> io::Result<Vec<PathBuf>> {
    loop {
        let mut ready = queue.readable().await?;
        let (mut paths, mut gone) = (Vec::new(), Vec::new());
        ready.get_inner().drain(|change| match change {
            QueuedChange::Overflow => paths.extend(folders.values().cloned()),
            QueuedChange::Dropped(watch) => gone.push(watch),
            QueuedChange::Changed { watch, name, .. } => {
                if let (Some(folder), Some(name)) = (folders.get(&watch), name) {
                    paths.push(folder.join(name));
                }
            }
        })?;
        ready.clear_ready();
        for watch in gone {
            folders.remove(&watch);
        }
        if !paths.is_empty() {
            return Ok(paths);
        }
    }
}

async fn next_listed(folders: &mut HashMap<PathBuf, Listing>) -> Vec<PathBuf> {
    if folders.is_empty() {
        // Nothing can change until folders are named, and then this is called again.
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let mut paths = Vec::new();
        for (folder, known) in folders.iter_mut() {
            let now = list(folder).unwrap_or_default();
            let written = now.iter().filter(|(name, stamp)| known.get(*name) != Some(*stamp));
            let removed = known.keys().filter(|name| !now.contains_key(*name));
            let names = written.map(|(name, _)| name).chain(removed);
            paths.extend(names.map(|name| folder.join(name)));
            *known = now;
        }
        if !paths.is_empty() {
            return paths;
        }
    }
}

/// Lists a folder; nothing if it is none.
fn list(folder: &Path) -> Option<Listing> {
    let is_folder = folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let entries = std::fs::read_dir(folder).ok().filter(|_| is_folder)?;
    let stamps = entries.flatten().filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        let stamp = FileStamp { inode: metadata.ino(), bytes: metadata.len(), modified };
        Some((entry.file_name(), stamp))
    });
    Some(stamps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_written_or_replaced_is_told_and_others_are_not() {
        for mut watch in both() {
            let place = tempfile::tempdir().expect("a directory");
            let other = tempfile::tempdir().expect("a directory");
            check(&mut watch, place.path(), other.path()).await;
        }
    }

    /// One with the system's queue, where it has one, and one that lists.
    fn both() -> [FolderWatch; 2] {
        let listed = FolderWatch { changes: Changes::Listed(HashMap::new()) };
        [FolderWatch::new().expect("a queue"), listed]
    }

    async fn check(watch: &mut FolderWatch, place: &Path, other: &Path) {
        let wanted = HashSet::from([place.to_owned(), place.join("missing")]);
        watch.watch(&wanted);
        std::fs::write(other.join("b.json"), "1").expect("a file");
        std::fs::write(place.join("a.json"), "1").expect("a file");
        let changed = watch.changed().await.expect("changes");
        assert!(changed.iter().all(|path| *path == place.join("a.json")), "{changed:?}");
        std::fs::write(place.join("t"), "2").expect("a file");
        std::fs::rename(place.join("t"), place.join("a.json")).expect("a rename");
        let changed = watch.changed().await.expect("changes");
        assert!(changed.contains(&place.join("a.json")), "{changed:?}");
        watch.watch(&HashSet::from([other.to_owned()]));
        std::fs::write(place.join("a.json"), "3").expect("a file");
        std::fs::write(other.join("b.json"), "3").expect("a file");
        let changed = watch.changed().await.expect("changes");
        assert!(changed.iter().all(|path| path.starts_with(other)), "{changed:?}");
    }
}
