//! The machine's clock, its randomness and its threads.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use od_core::ids::Timestamp;
use od_ports::system::Clock;
use od_ports::system::{Entropy, EntropyError};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::disk::DiskError;

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is set wrong; the epoch is the nearest time we can write down.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The machine's randomness.
#[derive(Clone, Debug)]
pub struct SystemEntropy {
    random: SystemRandom,
}

impl SystemEntropy {
    /// Returns the machine's randomness.
    pub fn new() -> Self {
        Self { random: SystemRandom::new() }
    }
}

impl Default for SystemEntropy {
    fn default() -> Self {
        Self::new()
    }
}

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), EntropyError> {
        self.random.fill(buffer).map_err(|_| EntropyError)
    }
}

/// The threads that blocking calls run on: the runtime's workers, or the calling one.
///
/// `Inline` keeps every system call of a process in one order, which is what a test that interrupts
/// the n-th of them needs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Lane {
    /// On the runtime's blocking threads.
    #[default]
    Pool,
    /// On the calling thread.
    Inline,
}

/// Returns the error for a runtime that is shutting down, or a call that panicked.
pub(crate) fn ended_early() -> DiskError {
    DiskError::new("run on a worker thread", io::Error::other("the worker thread ended early"))
}

impl Lane {
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, DiskError> {
        match self {
            Self::Pool => tokio::task::spawn_blocking(work).await.map_err(|_| ended_early()),
            Self::Inline => Ok(work()),
        }
    }
}
