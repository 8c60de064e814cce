//! One daemon per data directory: the lock, and the file by which others find the daemon.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long a second start waits for the first one to say where it listens.
const ANNOUNCE_WAIT: Duration = Duration::from_secs(3);
const ANNOUNCE_POLL: Duration = Duration::from_millis(20);

/// What `daemon.json` says: where the running daemon is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    /// The URL of API and console.
    pub url: String,
    /// The URL of the preview port.
    pub preview_url: String,
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
}

impl Announcement {
    /// Reads the announcement of a data directory, if there is a readable one.
    ///
    /// It may be a dead daemon's: [`Self::of_living`] tells.
    #[must_use]
    pub fn read(data_dir: &Path) -> Option<Self> {
        let bytes = fs::read(data_dir.join("daemon.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Reads the announcement of a daemon that lives, which is one that holds the directory's lock.
    ///
    /// What a killed daemon announced stays behind, and anybody on the machine may listen at its port
    /// and call himself `od`: whoever sends a token or a secret there has to ask this first.
    #[must_use]
    pub fn of_living(data_dir: &Path) -> Option<Self> {
        let lock = File::open(data_dir.join("daemon.lock")).ok()?;
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Self::read(data_dir),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Why this process did not become the data directory's daemon.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// A daemon of this version runs already.
    #[error("a daemon already serves this data directory at {}", running.url)]
    Running {
        /// Where it is.
        running: Announcement,
    },
    /// A daemon of another version runs.
    #[error(
        "a daemon of version {} (process {}) serves this data directory; this is version {own}",
        running.version, running.pid
    )]
    OtherVersion {
        /// Where it is.
        running: Announcement,
        /// The version of this program.
        own: String,
    },
    /// Somebody holds the lock and says nothing about it.
    #[error("`{}` is held by a process that has not announced itself", lock.display())]
    ForeignLock {
        /// The lock.
        lock: PathBuf,
    },
    /// The lock or the announcement could not be written.
    #[error("could not {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The claim of this process on a data directory, given up when dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    data_dir: PathBuf,
    announced: bool,
    _lock: File,
}

impl Instance {
    /// Becomes the data directory's daemon, or says who is.
    pub(crate) async fn claim(data_dir: &Path, version: &str) -> Result<Self, ClaimError> {
        let path = data_dir.join("daemon.lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|source| ClaimError::Io { action: "open", path: path.clone(), source })?;
        let deadline = tokio::time::Instant::now() + ANNOUNCE_WAIT;
        let mut was_held = false;
        loop {
            match lock.try_lock() {
                Ok(()) => {
                    let instance =
                        Self { data_dir: data_dir.to_owned(), announced: false, _lock: lock };
                    // What a killed daemon left behind names nobody any more.
                    instance.withdraw();
                    return Ok(instance);
                }
                Err(TryLockError::Error(source)) => {
                    return Err(ClaimError::Io { action: "lock", path, source });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            match Announcement::read(data_dir) {
                // Whoever asks whether a daemon lives has the lock for an instant.
                Some(_) if !was_held => {
                    was_held = true;
                    tokio::time::sleep(ANNOUNCE_POLL).await;
                }
                Some(running) if running.version == version => {
                    return Err(ClaimError::Running { running });
                }
                Some(running) => {
                    return Err(ClaimError::OtherVersion { running, own: version.to_owned() });
                }
                None if tokio::time::Instant::now() >= deadline => {
                    return Err(ClaimError::ForeignLock { lock: path });
                }
                // The other one is between its lock and its first listener.
                None => tokio::time::sleep(ANNOUNCE_POLL).await,
            }
        }
    }

    /// Tells others where this daemon listens.
    pub(crate) fn announce(&mut self, announcement: &Announcement) -> Result<(), ClaimError> {
        let path = self.announcement_path();
        let draft = self.data_dir.join("daemon.json.new");
        let write = || {
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(true)
                .write(true)
                .mode(0o600)
                .open(&draft)?;
            let mut text = serde_json::to_vec_pretty(announcement)?;
            text.push(b'\n');
            file.write_all(&text)?;
            fs::rename(&draft, &path)
        };
        write().map_err(|source| ClaimError::Io { action: "write", path: path.clone(), source })?;
        self.announced = true;
        Ok(())
    }

    fn announcement_path(&self) -> PathBuf {
        self.data_dir.join("daemon.json")
    }

    fn withdraw(&self) {
        // Nothing to withdraw is the usual case, and a leftover is harmless: nobody listens there.
        let _ = fs::remove_file(self.announcement_path());
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.announced {
            self.withdraw();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announcement(version: &str) -> Announcement {
        Announcement {
            url: "http://127.0.0.1:7456".to_owned(),
            preview_url: "http://127.0.0.1:7457".to_owned(),
            pid: 1,
            version: version.to_owned(),
        }
    }

    #[tokio::test]
    async fn the_second_start_learns_where_the_first_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Instance::claim(dir.path(), "1").await.unwrap();
        first.announce(&announcement("1")).unwrap();
        let same = Instance::claim(dir.path(), "1").await.unwrap_err();
        assert!(matches!(same, ClaimError::Running { running } if running == announcement("1")));
        let other = Instance::claim(dir.path(), "2").await.unwrap_err();
        assert!(matches!(other, ClaimError::OtherVersion { own, .. } if own == "2"));
        drop(first);
        assert_eq!(Announcement::read(dir.path()), None);
        Instance::claim(dir.path(), "2").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_lock_without_an_announcement_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Instance::claim(dir.path(), "1").await.unwrap();
        let error = Instance::claim(dir.path(), "1").await.unwrap_err();
        assert!(matches!(error, ClaimError::ForeignLock { .. }), "{error}");
    }

    #[tokio::test]
    async fn what_a_killed_daemon_announced_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("daemon.json"), serde_json::to_vec(&announcement("0")).unwrap())
            .unwrap();
        let _instance = Instance::claim(dir.path(), "1").await.unwrap();
        assert_eq!(Announcement::read(dir.path()), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_announcement_counts_only_while_its_daemon_lives() {
        let dir = tempfile::tempdir().unwrap();
        let mut living = Instance::claim(dir.path(), "1").await.unwrap();
        living.announce(&announcement("1")).unwrap();
        assert_eq!(Announcement::of_living(dir.path()), Some(announcement("1")));
        // Killed: the kernel takes the lock, the file stays.
        living.announced = false;
        drop(living);
        assert_eq!(Announcement::read(dir.path()), Some(announcement("1")));
        assert_eq!(Announcement::of_living(dir.path()), None);
        // Somebody asks at the very moment of the next start.
        let asking = File::open(dir.path().join("daemon.lock")).unwrap();
        asking.lock_shared().unwrap();
        let (next, ()) = tokio::join!(Instance::claim(dir.path(), "2"), async { drop(asking) });
        next.unwrap();
    }
}
