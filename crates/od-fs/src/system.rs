//! The machine's clock, its randomness and its threads.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use od_core::format::Zone;
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

    fn zone(&self) -> Zone {
        let named = std::env::var("TZ").ok();
        let linked = std::fs::read_link("/etc/localtime").ok();
        zone_of(named.as_deref(), linked.as_deref().and_then(Path::to_str))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Returns the zone that the variable `TZ` names, else the one that the system's link leads to, else UTC.
fn zone_of(named: Option<&str>, linked: Option<&str>) -> Zone {
    // A leading colon says that a file is meant, which both forms are.
    let name = |text: &str| {
        let text = text.strip_prefix(':').unwrap_or(text);
        text.rsplit_once("zoneinfo/").map_or(text, |(_, name)| name).parse().ok()
    };
    named.and_then(name).or_else(|| linked.and_then(name)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_that_of_the_variable_else_of_the_link_else_utc() {
        let link = Some("../usr/share/zoneinfo/Europe/Berlin");
        for (named, linked, zone) in [
            (Some("Asia/Tokyo"), link, "Asia/Tokyo"),
            (Some(":/usr/share/zoneinfo/America/New_York"), link, "America/New_York"),
            (Some("CET-1CEST,M3.5.0,M10.5.0"), link, "Europe/Berlin"),
            (Some(""), link, "Europe/Berlin"),
            (None, link, "Europe/Berlin"),
            (None, Some("/etc/zone"), "UTC"),
            (None, None, "UTC"),
        ] {
            assert_eq!(zone_of(named, linked).name(), zone, "{named:?} {linked:?}");
        }
    }
}
