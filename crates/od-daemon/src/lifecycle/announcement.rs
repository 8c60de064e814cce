//! One daemon per data directory: the lock, and the file by which others find the daemon.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use od_core::ids::{Audience, InstanceId};
use od_fs::{DataDir, PrivateDir, PrivateError};
use serde::{Deserialize, Serialize};

const LOCK: &str = "daemon.lock";
const ANNOUNCEMENT: &str = "daemon.json";
const ANNOUNCEMENT_BYTES_MAX: u64 = od_core::limits::ANNOUNCEMENT_FILE.allowed;
/// The time a second start gives the first one to say where it listens.
const ANNOUNCE_WAIT: Duration = Duration::from_secs(3);
const ANNOUNCE_POLL: Duration = Duration::from_millis(20);

/// The content of `daemon.json`: where the running daemon is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    /// The URL of API and console.
    pub url: String,
    /// The URL of the preview port.
    pub preview_url: String,
    /// The daemon's process.
    pub pid: u32,
    /// The daemon's version.
    pub version: String,
    /// This start of it; absent from a daemon of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// The settings that it started with, by name: `od doctor` compares them with today's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configuration: BTreeMap<String, String>,
}

impl Announcement {
    /// Reads the announcement of a data directory, if there is a readable one.
    ///
    /// It may be a dead daemon's: [`Self::of_living`] tells.
    #[must_use]
    pub fn read(data_dir: &Path) -> Option<Self> {
        Self::read_in(&DataDir::open_existing(data_dir).ok()?)
    }

    fn read_in(data_dir: &PrivateDir) -> Option<Self> {
        let bytes = data_dir.read(ANNOUNCEMENT, ANNOUNCEMENT_BYTES_MAX).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Reads the announcement of a daemon that lives, which is one that holds the directory's lock.
    ///
    /// What a killed daemon announced stays behind, and anybody on the machine may listen at its port
    /// and call himself `od`: whoever sends a token or a secret there has to ask this first. Only the
    /// person's own directory and files count, because others could hold the lock of any other.
    #[must_use]
    pub fn of_living(data_dir: &Path) -> Option<Self> {
        Self::living_in(&DataDir::open_existing(data_dir).ok()?)
    }

    /// As [`Self::of_living`], with whom a token for that very start has to name.
    #[must_use]
    pub fn of_living_with_audience(data_dir: &Path) -> Option<(Self, Option<Audience>)> {
        let data_dir = DataDir::open_existing(data_dir).ok()?;
        let living = Self::living_in(&data_dir)?;
        let place = data_dir.audience().ok()?;
        let audience = living.instance.as_ref().map(|instance| place.started(instance));
        Some((living, audience))
    }

    fn living_in(data_dir: &PrivateDir) -> Option<Self> {
        let lock = data_dir.existing_lock_file(LOCK).ok()??;
        // Shared: two that ask at once must not take each other for the daemon.
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Self::read_in(data_dir),
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
    /// The directory, its lock or its announcement is not the person's alone, or cannot be written.
    #[error(transparent)]
    Untrusted(#[from] PrivateError),
    /// The lock cannot be taken.
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
    data_dir: PrivateDir,
    announced: bool,
    _lock: File,
}

impl Instance {
    /// Becomes the data directory's daemon, or says who is.
    pub(crate) async fn claim(data_dir: &Path, version: &str) -> Result<Self, ClaimError> {
        let path = data_dir.join(LOCK);
        let data_dir = DataDir::open_existing(data_dir)?;
        let lock = data_dir.lock_file(LOCK)?;
        let deadline = tokio::time::Instant::now() + ANNOUNCE_WAIT;
        let mut was_held = false;
        loop {
            match lock.try_lock() {
                Ok(()) => {
                    let instance = Self { data_dir, announced: false, _lock: lock };
                    // What a killed daemon left behind names nobody any more.
                    instance.withdraw();
                    return Ok(instance);
                }
                Err(TryLockError::Error(source)) => {
                    return Err(ClaimError::Io { action: "lock", path, source });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            match Announcement::read_in(&data_dir) {
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

    /// Returns whom tokens for this data directory name.
    pub(crate) fn audience(&self) -> Result<Audience, ClaimError> {
        Ok(self.data_dir.audience()?)
    }

    /// Tells others where this daemon listens.
    pub(crate) fn announce(&mut self, announcement: &Announcement) -> Result<(), ClaimError> {
        let mut text = serde_json::to_vec_pretty(announcement).map_err(|error| ClaimError::Io {
            action: "write",
            path: PathBuf::from(ANNOUNCEMENT),
            source: error.into(),
        })?;
        text.push(b'\n');
        self.data_dir.replace(ANNOUNCEMENT, &text)?;
        self.announced = true;
        Ok(())
    }

    fn withdraw(&self) {
        // Nothing to withdraw is the usual case, and a leftover is harmless: nobody listens there.
        let _ = self.data_dir.remove(ANNOUNCEMENT);
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
    use std::fs;

    use super::*;

    fn announcement(version: &str) -> Announcement {
        Announcement {
            url: "http://127.0.0.1:7456".to_owned(),
            preview_url: "http://127.0.0.1:7457".to_owned(),
            pid: 1,
            version: version.to_owned(),
            instance: Some(InstanceId::generate([1; 16])),
            configuration: BTreeMap::new(),
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

    #[tokio::test]
    async fn a_daemon_lives_only_where_nobody_else_could_have_said_so() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let mode = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode));
        let dir = tempfile::tempdir().unwrap();
        let mut living = Instance::claim(dir.path(), "1").await.unwrap();
        living.announce(&announcement("1")).unwrap();
        let lives = || Announcement::of_living(dir.path()).is_some();
        let (lock, said) = (dir.path().join(LOCK), dir.path().join(ANNOUNCEMENT));
        assert!(lives());
        for (path, open, closed) in [
            (dir.path(), 0o770, 0o700),
            // Whoever can read a lock file can hold its lock.
            (lock.as_path(), 0o604, 0o600),
            (said.as_path(), 0o602, 0o600),
        ] {
            mode(path, open).unwrap();
            assert!(!lives(), "{} {open:o}", path.display());
            mode(path, closed).unwrap();
            assert!(lives());
        }
        for path in [&lock, &said] {
            let aside = dir.path().join("aside");
            fs::rename(path, &aside).unwrap();
            symlink(&aside, path).unwrap();
            assert!(!lives(), "{} is a link", path.display());
            fs::rename(&aside, path).unwrap();
            assert!(lives());
        }
        if std::os::unix::fs::chown(&lock, Some(12_345), None).is_ok() {
            assert!(!lives(), "a lock of somebody else's");
        }
    }

    #[tokio::test]
    async fn links_that_came_with_a_repository_are_not_written_through() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let (kept, made) = (place.path().join("kept"), place.path().join("made"));
        let dir = place.path().join(".od");
        fs::create_dir(&dir).unwrap();
        fs::write(&kept, "mine").unwrap();
        symlink(&kept, dir.join("daemon.json")).unwrap();
        symlink(&kept, dir.join("daemon.json.new")).unwrap();
        symlink(&made, dir.join("daemon.lock")).unwrap();
        let refused = Instance::claim(&dir, "1").await.unwrap_err();
        assert!(matches!(&refused, ClaimError::Untrusted(PrivateError::Link { .. })), "{refused}");
        assert!(!made.exists());
        fs::remove_file(dir.join("daemon.lock")).unwrap();
        let mut instance = Instance::claim(&dir, "1").await.unwrap();
        symlink(&kept, dir.join("daemon.json")).unwrap();
        instance.announce(&announcement("1")).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "mine");
        assert_eq!(Announcement::of_living(&dir), Some(announcement("1")));
    }
}
