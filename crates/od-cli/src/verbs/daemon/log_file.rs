//! A log that stays bounded, by rotation.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// The size at which a file is rotated; with the one before it a log takes twice as much.
pub(crate) const FILE_BYTES_MAX: u64 = od_core::limits::LOG_FILE.allowed;

/// A file that becomes `NAME.1` when it is full; what was that before is gone.
#[derive(Clone, Debug)]
pub(crate) struct LogFile {
    shared: Arc<Mutex<OpenLog>>,
}

#[derive(Debug)]
struct OpenLog {
    path: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: u64,
}

impl LogFile {
    /// Opens the log to write at its end.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::bounded(path, FILE_BYTES_MAX)
    }

    fn bounded(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let file = append(path)?;
        let bytes = file.metadata()?.len();
        let open = OpenLog { path: path.to_owned(), file, bytes, bytes_max };
        Ok(Self { shared: Arc::new(Mutex::new(open)) })
    }
}

/// Opens a file of the person's own to write at its end.
///
/// A link is not followed: one that came with a repository would have another file written to. What
/// directory it lies in is not asked: `--log` may name one that others can write to, as `/tmp`.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        // Without NONBLOCK a pipe of that name would hang the start until somebody reads it.
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) => refused("it is a symbolic link"),
            Some(_) | None => error,
        })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("it belongs to another user"));
    }
    Ok(file)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

impl OpenLog {}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut open = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if open.bytes > 0 && open.bytes.saturating_add(bytes.len() as u64) > open.bytes_max {
            // The full file is kept aside, and another begun.
            let mut aside = open.path.clone().into_os_string();
            aside.push(".1");
            std::fs::rename(&open.path, aside)?;
            open.file = append(&open.path)?;
            open.bytes = 0;
        }
        let written = open.file.write(bytes)?;
        open.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_kept_once_and_the_one_before_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        std::fs::write(&path, "before\n").unwrap();
        let mut log = LogFile::bounded(&path, 20).unwrap();
        let mut other = log.clone();
        for line in ["first line\n", "second line\n", "third line\n", "fourth\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        other.write_all(b"x\n").unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("daemon.log.1"), "second line\n");
        assert_eq!(read("daemon.log"), "third line\nfourth\nx\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_log_that_is_a_link_or_no_file_is_refused_and_what_it_leads_to_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, path) = (folder.path().join("kept"), folder.path().join("daemon.log"));
        std::fs::write(&kept, "mine\n").unwrap();
        std::os::unix::fs::symlink(&kept, &path).unwrap();
        assert_eq!(LogFile::open(&path).unwrap_err().to_string(), "it is a symbolic link");
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "mine\n");
        let device = LogFile::open(Path::new("/dev/null")).unwrap_err().to_string();
        assert_eq!(device, "it is not a regular file");
    }

    #[test]
    fn a_log_that_is_too_long_already_is_turned_over_by_the_next_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        std::fs::write(&path, "x".repeat(100)).unwrap();
        LogFile::bounded(&path, 20).unwrap().write_all(b"next\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "next\n");
    }
}
