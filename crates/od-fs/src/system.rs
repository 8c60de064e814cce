//! The machine's own clock and randomness.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use od_core::ids::Timestamp;
use od_ports::clock::Clock;
use od_ports::entropy::{Entropy, EntropyError};
use ring::rand::{SecureRandom as _, SystemRandom};

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
