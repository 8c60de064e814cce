//! OS advisory locks on open handles: they die with their holder.

use std::fs::{File, TryLockError};
use std::time::{Duration, Instant};

use super::dir::Dir;
use super::error::DiskError;

/// A lock, held until dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    // Closing the handle is what lets go of the lock.
    _file: File,
}

/// The shortest and the longest pause between two tries for a lock that is held.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(5));

/// The outcome of an attempt to lock.
#[derive(Debug)]
pub(crate) enum LockAttempt {
    Held(FileLock),
    TimedOut,
}

impl LockAttempt {
    /// Returns the lock, for those to whom a time-out is no error.
    pub(crate) fn held(self) -> Option<FileLock> {
        match self {
            Self::Held(lock) => Some(lock),
            Self::TimedOut => None,
        }
    }
}

impl FileLock {
    /// Takes the lock, waiting at most `timeout` for another process.
    ///
    /// The wait is a poll: a stopped holder must not stop us, and blocking `flock` has no deadline.
    pub(crate) fn take(dir: &Dir, name: &str, timeout: Duration) -> Result<LockAttempt, DiskError> {
        Self::wait(dir.lock_file(name)?, File::try_lock, timeout)
    }

    /// Takes the lock of a directory itself, alone.
    pub(crate) fn take_dir(dir: &Dir, timeout: Duration) -> Result<LockAttempt, DiskError> {
        Self::wait(dir.lock_self()?, File::try_lock, timeout)
    }

    /// Takes the lock of a directory itself, together with whoever else shares it.
    pub(crate) fn share_dir(dir: &Dir, timeout: Duration) -> Result<LockAttempt, DiskError> {
        Self::wait(dir.lock_self()?, File::try_lock_shared, timeout)
    }

    fn wait(
        file: File,
        try_lock: impl Fn(&File) -> Result<(), TryLockError>,
        timeout: Duration,
    ) -> Result<LockAttempt, DiskError> {
        let began = Instant::now();
        loop {
            match try_lock(&file) {
                Ok(()) => return Ok(LockAttempt::Held(Self { _file: file })),
                Err(TryLockError::WouldBlock) if began.elapsed() >= timeout => {
                    return Ok(LockAttempt::TimedOut);
                }
                // A part of the time waited so far, so that a wait ends soon after it could have,
                // however short it is, and a long one costs little.
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep((began.elapsed() / 8).clamp(PAUSES.0, PAUSES.1));
                }
                Err(TryLockError::Error(err)) => return Err(DiskError::new("take a lock", err)),
            }
        }
    }

    /// Returns whether someone holds the lock, without keeping it.
    ///
    /// A shared lock is taken for an instant, so takers retry before they give up.
    pub(crate) fn is_held(dir: &Dir, name: &str) -> Result<bool, DiskError> {
        let Some(file) = dir.probe_file(name)? else { return Ok(false) };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(err)) => Err(DiskError::new("probe a lock", err)),
        }
    }
}
