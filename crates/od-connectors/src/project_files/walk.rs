//! Walking a project's directories by handle.
//!
//! Every directory is opened from the handle of the one above it, without following links, and its
//! ignore files are read through its own handle: whatever is swapped for a link while the walk runs,
//! no call ever leads out of the root.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ignore::overrides::Override;
use od_platform::open_beneath;
use rustix::fs::{Dir, FileType, OFlags};

use super::fence::{FencedNodes, HIDDEN_NAMES};
use super::ignore_rules::{IGNORE_FILES, IgnoreRules};

/// Threads that walk and search.
const THREADS_MAX: usize = 4;
/// Files of one directory that one thread takes at a time.
const FILES_AT_ONCE: usize = 64;
/// Directories inside each other; what is deeper is left out.
const DEPTH_MAX: usize = od_core::limits::SEARCH_DEPTH.max();
/// Bytes of an ignore file; a longer one is no list of patterns.
const IGNORE_BYTES_MAX: u64 = od_core::limits::IGNORE_FILE.allowed;

/// A walk's exclusions, and the flag that stops it.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) fenced: FencedNodes,
    pub(crate) globs: Override,
    pub(crate) stop: Arc<AtomicBool>,
}

/// A file that a walk found: its path from the root, and the file itself.
pub(crate) struct FoundFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) file: &'a File,
}

/// A directory being walked.
#[derive(Debug)]
struct Folder {
    handle: OwnedFd,
    /// From the root, which itself is `/`, so that patterns have something to be anchored at.
    path: PathBuf,
    rules: Arc<IgnoreRules>,
    depth: usize,
}

/// Something to do.
enum Task {
    Enter(Arc<Folder>, String),
    Read(Arc<Folder>, Vec<String>),
}

/// The tasks left, and the number of threads at work.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    tasks: Vec<Task>,
    busy: usize,
}

impl Walk {
    /// Opens every file below the root that is not left out, on several threads. Each thread makes a
    /// visitor of its own.
    pub(crate) fn run<V: FnMut(&FoundFile<'_>)>(
        &self,
        root: OwnedFd,
        visitor: impl Fn() -> V + Sync,
    ) -> std::io::Result<()> {
        let root = Folder {
            rules: IgnoreRules::of_root(Path::new("/"), &|name| self.read_ignore_file(&root, name)),
            handle: root,
            path: PathBuf::from("/"),
            depth: 0,
        };
        let queue = Queue::default();
        queue.add(self.list(&Arc::new(root))?);
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(THREADS_MAX));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut visit = visitor();
                    while let Some(task) = queue.take() {
                        // A task that is left undone is still counted off below, or the other threads
                        // would wait for it.
                        if !self.stop.load(Ordering::Relaxed) {
                            queue.add(self.perform(task, &mut visit));
                        }
                        let mut state = queue.state();
                        state.busy -= 1;
                        if state.busy == 0 {
                            queue.changed.notify_all();
                        }
                    }
                });
            }
        });
        Ok(())
    }

    fn perform(&self, task: Task, visit: &mut impl FnMut(&FoundFile<'_>)) -> Vec<Task> {
        match task {
            // A directory that cannot be read is one without files: the rest is still of use.
            Task::Enter(parent, name) => self
                .enter(&parent, &name)
                .and_then(|folder| self.list(&Arc::new(folder)).ok())
                .unwrap_or_default(),
            Task::Read(folder, names) => {
                for name in names {
                    if self.stop.load(Ordering::Relaxed) {
                        break;
                    }
                    self.read(&folder, &name, visit);
                }
                Vec::new()
            }
        }
    }

    fn enter(&self, parent: &Folder, name: &str) -> Option<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = open_beneath(&parent.handle, name, flags).ok()?;
        let (device, inode) = od_platform::node(&handle).ok()?;
        // By device and inode: under another name, or through a bind mount, it is the same directory.
        if self.fenced.contains(device, inode) || parent.depth >= DEPTH_MAX {
            return None;
        }
        let path = parent.path.join(name);
        let rules = parent.rules.below(&path, &|file| self.read_ignore_file(&handle, file));
        Some(Folder { handle, path, rules, depth: parent.depth + 1 })
    }

    /// Lists a directory and returns what there is to do in it.
    fn list(&self, folder: &Arc<Folder>) -> std::io::Result<Vec<Task>> {
        let (mut tasks, mut files) = (Vec::new(), Vec::new());
        for entry in Dir::read_from(&folder.handle)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." || HIDDEN_NAMES.contains(&name) {
                continue;
            }
            let is_directory = match entry.file_type() {
                FileType::Directory => true,
                FileType::RegularFile => false,
                // Some filesystems do not say; opening it as what it is finds out.
                FileType::Unknown => self.is_directory(folder, name),
                FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => continue,
            };
            if folder.rules.leaves_out(&self.globs, &folder.path.join(name), is_directory) {
                continue;
            }
            if is_directory {
                tasks.push(Task::Enter(Arc::clone(folder), name.to_owned()));
            } else {
                files.push(name.to_owned());
            }
        }
        while !files.is_empty() {
            let rest = files.split_off(files.len().min(FILES_AT_ONCE));
            tasks.push(Task::Read(Arc::clone(folder), std::mem::replace(&mut files, rest)));
        }
        Ok(tasks)
    }

    fn is_directory(&self, folder: &Folder, name: &str) -> bool {
        let look = rustix::fs::statat(&folder.handle, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        look.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    fn read(&self, folder: &Folder, name: &str, visit: &mut impl FnMut(&FoundFile<'_>)) {
        let Some(file) = open_regular(&folder.handle, name) else { return };
        let Ok((device, inode)) = od_platform::node(&file) else { return };
        // A hard link gives a secret file another name; what it is decides.
        if self.fenced.contains(device, inode) {
            return;
        }
        let path = folder.path.join(name);
        if let Ok(path) = path.strip_prefix("/") {
            visit(&FoundFile { path, file: &file });
        }
    }

    /// Reads an ignore file; one that is not ours to read has no patterns.
    fn read_ignore_file(&self, folder: &OwnedFd, name: &str) -> Option<String> {
        debug_assert!(IGNORE_FILES.contains(&name) || name == IgnoreRules::EXCLUDES);
        let mut text = String::new();
        let file = open_regular(folder, name)?;
        file.take(IGNORE_BYTES_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

/// Opens a regular file below a directory without following any link.
fn open_regular(folder: &OwnedFd, name: &str) -> Option<File> {
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(open_beneath(folder, name, flags).ok()?);
    file.metadata().is_ok_and(|metadata| metadata.is_file()).then_some(file)
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.state().tasks.extend(tasks);
            self.changed.notify_all();
        }
    }

    /// Takes the newest task, so that few directories are open at once; `None` when all is done.
    fn take(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some(task);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
