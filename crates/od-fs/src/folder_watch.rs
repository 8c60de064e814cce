//! Changes of files in folders of projects, told as they happen (inotify).

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

/// Watches folders; waiting for a change takes no processor time.
#[derive(Debug)]
pub struct FolderWatch {
    queue: AsyncFd<OwnedFd>,
    folders: HashMap<i32, PathBuf>,
}

impl FolderWatch {
    /// Makes one that watches nothing.
    ///
    /// # Errors
    ///
    /// Fails where the system gives no queue.
    #[expect(
        deprecated,
        reason = "its successor is unsafe, which is forbidden here; the queue is owned and never replaced"
    )]
    pub fn new() -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self { queue: AsyncFd::new(queue)?, folders: HashMap::new() })
    }

    /// Watches these folders and no others; one that is not there is not watched.
    pub fn watch(&mut self, wanted: &HashSet<PathBuf>) {
        let gone: Vec<i32> = self
            .folders
            .iter()
            .filter(|(_, folder)| !wanted.contains(*folder))
            .map(|(watch, _)| *watch)
            .collect();
        for watch in gone {
            self.folders.remove(&watch);
            // The kernel may have dropped it with its folder.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
        let known: HashSet<PathBuf> = self.folders.values().cloned().collect();
        // Editors write a new file and rename it; programs write in place and close.
        let flags = WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        for folder in wanted.difference(&known) {
            if let Ok(watch) = inotify::add_watch(&self.queue, folder, flags) {
                self.folders.insert(watch, folder.clone());
            }
        }
    }

    /// Waits for changes and returns the paths that changed; every folder if some were lost.
    ///
    /// # Errors
    ///
    /// Fails if the queue cannot be read.
    pub async fn changed(&mut self) -> io::Result<Vec<PathBuf>> {
        loop {
            let mut ready = self.queue.readable().await?;
            let (paths, gone) = drain(&self.queue, &self.folders)?;
            ready.clear_ready();
            for watch in gone {
                self.folders.remove(&watch);
            }
            if !paths.is_empty() {
                return Ok(paths);
            }
        }
    }
}

/// Takes everything that is queued: the paths that changed, and the watches that the kernel dropped.
fn drain(
    queue: &AsyncFd<OwnedFd>,
    folders: &HashMap<i32, PathBuf>,
) -> io::Result<(Vec<PathBuf>, Vec<i32>)> {
    let (mut paths, mut gone) = (Vec::new(), Vec::new());
    let mut buffer = [MaybeUninit::<u8>::uninit(); 8192];
    let mut reader = inotify::Reader::new(queue, &mut buffer);
    loop {
        let event = match reader.next() {
            Ok(event) => event,
            Err(Errno::AGAIN) => return Ok((paths, gone)),
            Err(Errno::INTR) => continue,
            Err(err) => return Err(err.into()),
        };
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            paths.extend(folders.values().cloned());
            continue;
        }
        if event.events().contains(ReadFlags::IGNORED) {
            gone.push(event.wd());
        }
        let folder = folders.get(&event.wd());
        let name = event.file_name().and_then(|name| name.to_str().ok());
        if let (Some(folder), Some(name)) = (folder, name) {
            paths.push(folder.join(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_written_or_replaced_is_told_and_others_are_not() {
        let place = tempfile::tempdir().expect("a directory");
        let other = tempfile::tempdir().expect("a directory");
        let mut watch = FolderWatch::new().expect("a queue");
        let wanted = HashSet::from([place.path().to_owned(), place.path().join("missing")]);
        watch.watch(&wanted);
        std::fs::write(other.path().join("b.json"), "1").expect("a file");
        std::fs::write(place.path().join("a.json"), "1").expect("a file");
        let changed = watch.changed().await.expect("changes");
        assert!(changed.iter().all(|path| *path == place.path().join("a.json")), "{changed:?}");
        std::fs::write(place.path().join("t"), "2").expect("a file");
        std::fs::rename(place.path().join("t"), place.path().join("a.json")).expect("a rename");
        let changed = watch.changed().await.expect("changes");
        assert!(changed.contains(&place.path().join("a.json")), "{changed:?}");
        watch.watch(&HashSet::from([other.path().to_owned()]));
        std::fs::write(place.path().join("a.json"), "3").expect("a file");
        std::fs::write(other.path().join("b.json"), "3").expect("a file");
        let changed = watch.changed().await.expect("changes");
        assert!(changed.iter().all(|path| path.starts_with(other.path())), "{changed:?}");
    }
}
