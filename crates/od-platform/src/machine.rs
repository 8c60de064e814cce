//! The machine, and files as it knows them.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use rustix::io::Errno;

/// A file or directory by what it is: its device and inode, as `std::os::unix::fs::MetadataExt` gives them.
pub type Node = (u64, u64);

/// Returns what an open file or directory is.
///
/// # Errors
///
/// Fails with what the system says.
pub fn node(file: impl AsFd) -> Result<Node, Errno> {
    let stat = rustix::fs::fstat(file)?;
    // The fields have other types on macOS.
    Ok((stat.st_dev as u64, stat.st_ino as u64))
}

/// Returns the name of this boot of the machine; nothing where the system has none.
///
/// Without it a store trusts no copy that it did not sync itself, which costs a little and loses nothing.
#[must_use]
pub fn boot_id() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    BOOT.get_or_init(|| {
        let id = if cfg!(target_os = "linux") {
            std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?
        } else {
            printed("sysctl", &["-n", "kern.bootsessionuuid"])?
        };
        Some(id.trim().to_owned()).filter(|id| !id.is_empty())
    })
    .as_deref()
}

/// Returns the release of the kernel, as a report of a fault names it.
#[must_use]
pub fn kernel_release() -> String {
    printed("uname", &["-r"]).unwrap_or_default().trim().to_owned()
}

/// Returns the folders of `PATH` that programs may be started from: a relative one, or an empty one, is
/// whatever folder the process is in, and a clone may bring a `git` of its own.
#[must_use]
pub fn search_path() -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    std::env::join_paths(std::env::split_paths(&path).filter(|folder| folder.is_absolute())).ok()
}

/// Returns what a program of the system prints; nothing if it is not there.
fn printed(program: &str, words: &[&str]) -> Option<String> {
    let output = std::process::Command::new(program).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The program that starts services when a person logs in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ServiceManager {
    /// systemd, with units of the user.
    Systemd,
    /// launchd, with agents of the user.
    Launchd,
}

/// The service manager of this system.
pub const SERVICE_MANAGER: ServiceManager =
    if cfg!(target_vendor = "apple") { ServiceManager::Launchd } else { ServiceManager::Systemd };

/// The way this system shows notifications.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Desktop {
    /// By the specification that Linux desktops share, with `notify-send`.
    Freedesktop,
    /// By macOS itself, with `osascript`.
    Mac,
}

/// The desktop of this system.
pub const DESKTOP: Desktop =
    if cfg!(target_vendor = "apple") { Desktop::Mac } else { Desktop::Freedesktop };
