//! Opening what lies below a directory, through no link and never outside it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Opens what a path of several components names below a directory. No component may be a link or lead
/// upwards.
///
/// # Errors
///
/// Fails with what the system says; a path that leads upwards is `XDEV`.
pub fn open_beneath(folder: impl AsFd, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    if crate::uses_linux_calls() {
        use rustix::fs::ResolveFlags;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&folder, path, flags, Mode::empty(), beneath) {
            // Kernels before 5.6 and some sandboxes do not know the call; others forbid what they do not know.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other,
        }
    }
    open_by_component(folder.as_fd(), path, flags)
}

/// Opens one component after another, each relative to the one before, which is held open: renaming
/// or replacing a folder meanwhile cannot lead the walk anywhere else.
fn open_by_component(folder: impl AsFd, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let components: Vec<&str> = path.split('/').collect();
    let (last, folders) = components.split_last().ok_or(Errno::INVAL)?;
    if components.iter().any(|component| ["", ".."].contains(component)) {
        return Err(Errno::XDEV);
    }
    let inner = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    for component in folders {
        let at = held.as_ref().map_or(folder.as_fd(), AsFd::as_fd);
        held = Some(open_component(at, component, inner)?);
    }
    let at = held.as_ref().map_or(folder.as_fd(), AsFd::as_fd);
    open_component(at, last, flags | OFlags::NOFOLLOW)
}

fn open_component(folder: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        // Asked for a directory, the system calls a link no directory; whoever is told of the refusal
        // should hear that it is a link, as from `openat2`.
        Err(Errno::NOTDIR) if is_link(folder, name) => Err(Errno::LOOP),
        other => other,
    }
}

fn is_link(folder: BorrowedFd<'_>, name: &str) -> bool {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    type Opener = fn(&File, &str, OFlags) -> Result<OwnedFd, Errno>;

    /// Both ways to open: the kernel's and the walk.
    const OPENERS: [(&str, Opener); 2] = [
        ("whole path", |folder, path, flags| open_beneath(folder, path, flags)),
        ("by component", |folder, path, flags| open_by_component(folder, path, flags)),
    ];

    const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

    #[test]
    fn no_link_is_followed_and_nothing_outside_is_opened() {
        let place = tempfile::tempdir().expect("a directory");
        let (inside, outside) = (place.path().join("in"), place.path().join("out"));
        fs::create_dir_all(inside.join("a/b")).expect("folders");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(inside.join("a/b/file"), "inner").expect("a file");
        fs::write(outside.join("file"), "secret").expect("a file");
        symlink(&outside, inside.join("link")).expect("a link");
        symlink(outside.join("file"), inside.join("a/linked")).expect("a link");
        symlink("b", inside.join("a/sibling")).expect("a link");
        let folder = File::open(&inside).expect("the folder");
        for (name, open) in OPENERS {
            let mut text = String::new();
            let file = open(&folder, "a/b/file", READ).expect("the file");
            File::from(file).read_to_string(&mut text).expect("its text");
            assert_eq!(text, "inner", "{name}");
            let refused = [
                "../out/file",
                "a/../../out/file",
                "/etc/passwd",
                "link/file",
                "a/linked",
                "a/sibling/file",
                "",
                "a//b/file",
                "..",
            ];
            for path in refused {
                let opened = open(&folder, path, READ).map(drop);
                // The kernel takes an empty component for none; it leads nowhere else.
                if path == "a//b/file" && name == "whole path" {
                    continue;
                }
                assert!(opened.is_err(), "{name}: {path}");
                if path.starts_with("link/") || path.starts_with("a/sibling/") {
                    assert_eq!(opened, Err(Errno::LOOP), "{name}: {path}");
                }
            }
        }
    }

    #[test]
    fn a_folder_that_becomes_a_link_again_and_again_leads_nowhere() {
        let place = tempfile::tempdir().expect("a directory");
        let (inside, outside) = (place.path().join("in"), place.path().join("out"));
        fs::create_dir_all(inside.join("real")).expect("folders");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(inside.join("real/file"), "inner").expect("a file");
        fs::write(outside.join("file"), "secret").expect("a file");
        let folder = File::open(&inside).expect("the folder");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _ = fs::rename(inside.join("real"), inside.join("folder"));
                    let _ = fs::rename(inside.join("folder"), inside.join("real"));
                    let _ = symlink(&outside, inside.join("folder"));
                    let _ = fs::remove_file(inside.join("folder"));
                }
            });
            for (name, open) in OPENERS {
                for _ in 0..2_000 {
                    let Ok(file) = open(&folder, "folder/file", READ) else { continue };
                    let mut text = String::new();
                    File::from(file).read_to_string(&mut text).expect("its text");
                    assert_eq!(text, "inner", "{name}");
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}
