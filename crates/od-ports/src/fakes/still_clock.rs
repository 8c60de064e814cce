//! Time and randomness that tests decide.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_core::ids::Timestamp;

use crate::system::Clock;
use crate::system::{Entropy, EntropyError};

/// A clock that stands still until it is told to move. Sleeping moves it.
#[derive(Debug)]
pub struct StillClock {
    now_ms: AtomicI64,
}

impl StillClock {
    /// Makes one that shows a time.
    pub fn at(now: Timestamp) -> Self {
        Self { now_ms: AtomicI64::new(now.unix_ms()) }
    }

    /// Moves it.
    pub fn advance(&self, duration: Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Sets it back.
    pub fn set_back(&self, duration: Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.now_ms.fetch_sub(ms, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.now_ms.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

/// Bytes that count up: never the same twice, always the same in the next run.
#[derive(Debug, Default)]
pub struct CountingEntropy {
    next: AtomicU64,
}

impl Entropy for CountingEntropy {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), EntropyError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let from = buffer.len().saturating_sub(number.len());
        buffer.fill(0);
        for (byte, digit) in buffer[from..].iter_mut().rev().zip(number.iter().rev()) {
            *byte = *digit;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{check_clock, check_entropy};

    #[tokio::test]
    async fn they_keep_the_contract() {
        check_clock(&StillClock::at(Timestamp::from_unix_ms(0))).await;
        check_entropy(&CountingEntropy::default());
    }
}
