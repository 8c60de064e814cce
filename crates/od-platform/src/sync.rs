//! Getting bytes to the disk.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::io::Errno;

/// Waits until a directory's entries are on the disk.
///
/// A file's own bytes need no twin: `File::sync_all` is `fsync` on Linux and `F_FULLFSYNC` on macOS.
///
/// # Errors
///
/// Fails with what the system says.
pub fn sync_directory(folder: impl AsFd) -> Result<(), Errno> {
    // On macOS `fsync` hands the bytes to the drive and does not wait until the drive has written them.
    #[cfg(target_vendor = "apple")]
    match rustix::fs::fcntl_fullfsync(&folder) {
        // Network mounts do not take it; `fsync` is what they have.
        Err(Errno::NOTSUP | Errno::INVAL | Errno::NOTTY) => {}
        other => return other,
    }
    rustix::fs::fsync(folder)
}

/// Lets a file's bytes go to the disk without waiting for them: whoever syncs another file meanwhile
/// pays for both.
pub fn start_writing_back(file: &File) {
    // Only advice: where it is not taken, the bytes are written when they are synced.
    #[cfg(target_os = "linux")]
    if crate::uses_linux_calls() {
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}
