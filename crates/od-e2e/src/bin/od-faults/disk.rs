//! The file systems that the suite runs on, each in an image or a layer of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A file system that od has to hold on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FileSystem {
    Tmpfs,
    Ext4,
    Xfs,
    Btrfs,
    Overlay,
}

impl FileSystem {
    pub(crate) const ALL: [Self; 5] =
        [Self::Tmpfs, Self::Ext4, Self::Xfs, Self::Btrfs, Self::Overlay];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tmpfs => "tmpfs",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Overlay => "overlay",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether it lies in an image that can lose its power.
    pub(crate) const fn has_image(self) -> bool {
        match self {
            Self::Ext4 | Self::Xfs | Self::Btrfs => true,
            Self::Tmpfs | Self::Overlay => false,
        }
    }

    /// Makes an empty one in an image file.
    pub(crate) fn format(self, image: &Path) -> Result<(), String> {
        let (bytes, program, options): (u64, &str, &[&str]) = match self {
            Self::Ext4 => (128 << 20, "mkfs.ext4", &["-q", "-F"]),
            // The least that its makers allow. The images are sparse, and copied so.
            Self::Xfs => (320 << 20, "mkfs.xfs", &["-q", "-f"]),
            Self::Btrfs => (256 << 20, "mkfs.btrfs", &["-q", "-f"]),
            Self::Tmpfs | Self::Overlay => return Err(format!("{} has no image", self.name())),
        };
        let file = fs::File::create(image).map_err(|err| err.to_string())?;
        file.set_len(bytes).map_err(|err| err.to_string())?;
        succeed(Command::new(program).args(options).arg(image))
    }

    /// Returns the options of a mount: nothing goes to the disk unless somebody asks for it.
    const fn mount_options(self) -> &'static str {
        match self {
            Self::Ext4 => "loop,commit=600",
            // A copy of an image has the same UUID, which xfs would refuse while the other is mounted.
            Self::Xfs => "loop,nouuid",
            Self::Btrfs => "loop,commit=300",
            Self::Tmpfs | Self::Overlay => "",
        }
    }
}

/// A mounted file system; unmounted when dropped.
pub(crate) struct Mount {
    pub(crate) at: PathBuf,
}

impl Mount {
    /// Mounts an image.
    pub(crate) fn image(kind: FileSystem, image: &Path, at: &Path) -> Result<Self, String> {
        fs::create_dir_all(at).map_err(|err| err.to_string())?;
        let mut command = Command::new("mount");
        command.args(["-t", kind.name(), "-o", kind.mount_options()]).arg(image).arg(at);
        succeed(&mut command)?;
        Ok(Self { at: at.to_path_buf() })
    }

    /// Mounts an overlay over empty layers.
    fn overlay(layers: &Path, at: &Path) -> Result<Self, String> {
        for name in ["lower", "upper", "work"] {
            fs::create_dir_all(layers.join(name)).map_err(|err| err.to_string())?;
        }
        fs::create_dir_all(at).map_err(|err| err.to_string())?;
        let layer = |name: &str| layers.join(name).display().to_string();
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            layer("lower"),
            layer("upper"),
            layer("work")
        );
        let mut command = Command::new("mount");
        command.args(["-t", "overlay", "overlay", "-o", &options]).arg(at);
        succeed(&mut command)?;
        Ok(Self { at: at.to_path_buf() })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Threads of a store that was looked at hold files open for a moment, a long one on a busy machine.
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if succeed(Command::new("umount").arg(&self.at)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        eprintln!("od-faults: {} is in use and stays mounted for now", self.at.display());
        let _ = succeed(Command::new("umount").arg("-l").arg(&self.at));
    }
}

/// A directory on a file system of some kind, to run trials in.
pub(crate) struct Disk {
    pub(crate) root: PathBuf,
    // Dropped before the directory that the image lies in.
    _mount: Option<Mount>,
    _scratch: tempfile::TempDir,
}

impl Disk {
    /// Makes one; the error says why this machine cannot.
    pub(crate) fn make(kind: FileSystem) -> Result<Self, String> {
        let scratch = memory();
        let at = scratch.path().join("mounted");
        let (root, mount) = match kind {
            FileSystem::Tmpfs => (scratch.path().to_path_buf(), None),
            FileSystem::Overlay => {
                (at.clone(), Some(Mount::overlay(&scratch.path().join("layers"), &at)?))
            }
            FileSystem::Ext4 | FileSystem::Xfs | FileSystem::Btrfs => {
                let image = scratch.path().join("disk.img");
                kind.format(&image)?;
                (at.clone(), Some(Mount::image(kind, &image, &at)?))
            }
        };
        Ok(Self { root, _mount: mount, _scratch: scratch })
    }
}

/// Returns a directory in memory if there is one: the images lie there, and a sync costs little.
pub(crate) fn memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("od-faults-").tempdir_in(parent).expect("a scratch directory")
}

/// Copies an image without filling its holes.
///
/// The copy is a new file: written over, an image that is still mounted somewhere would be mounted once more
/// with what the kernel remembers of it, and the trial before would be seen instead of this one.
pub(crate) fn copy_image(from: &Path, to: &Path) {
    let options = ["--sparse=always", "--no-preserve=all", "--remove-destination"];
    succeed(Command::new("cp").args(options).arg(from).arg(to)).expect("an image can be copied");
}

pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|err| err.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
