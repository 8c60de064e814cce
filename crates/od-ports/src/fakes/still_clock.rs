//! Time and randomness that tests decide.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use od_core::ids::Timestamp;

use crate::system::Clock;
use crate::system::{Entropy, EntropyError};

/// A clock that stands still until it is told to move, or until everybody sleeps.
///
/// Whoever sleeps waits for the clock and lets others work meanwhile. Where nobody moves it and nothing
/// else happens, it goes on to the nearest time that somebody sleeps to: deadlines come in their order,
/// and none comes before the work that it is for has had its turns.
#[derive(Debug)]
pub struct StillClock {
    now_ms: AtomicI64,
    /// The times that are slept to.
    sleepers: Mutex<Vec<i64>>,
}

/// The turns that a sleeper gives to others before it takes them to have nothing to do.
const TURNS: usize = 1_000;

impl StillClock {
    /// Makes one that shows a time.
    pub fn at(now: Timestamp) -> Self {
        Self { now_ms: AtomicI64::new(now.unix_ms()), sleepers: Mutex::default() }
    }

    /// Moves it.
    pub fn advance(&self, duration: Duration) {
        self.now_ms.fetch_add(whole_ms(duration), Ordering::Relaxed);
    }

    /// Sets it back.
    pub fn set_back(&self, duration: Duration) {
        self.now_ms.fetch_sub(whole_ms(duration), Ordering::Relaxed);
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<i64>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[async_trait]
impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.now_ms.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.now().unix_ms().saturating_add(whole_ms(duration));
        self.sleepers().push(until);
        let _sleeper = Sleeper { clock: self, until };
        let mut turns = 0;
        while self.now().unix_ms() < until {
            turns += 1;
            if turns % TURNS == 0 {
                let nearest = self.sleepers().iter().copied().min().unwrap_or(until);
                self.now_ms.fetch_max(nearest, Ordering::Relaxed);
            } else {
                give_a_turn().await;
            }
        }
    }
}

/// One who sleeps, until it wakes or gives up.
struct Sleeper<'a> {
    clock: &'a StillClock,
    until: i64,
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        let mut sleepers = self.clock.sleepers();
        if let Some(at) = sleepers.iter().position(|until| *until == self.until) {
            sleepers.swap_remove(at);
        }
    }
}

/// Lets everything else that is ready go first.
async fn give_a_turn() {
    let mut given = false;
    std::future::poll_fn(|context| {
        if given {
            return Poll::Ready(());
        }
        given = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
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
    async fn the_nearest_of_several_sleepers_wakes_first_and_work_comes_before_them() {
        let clock = StillClock::at(Timestamp::from_unix_ms(0));
        let (hour, minute) = (Duration::from_secs(3_600), Duration::from_secs(60));
        tokio::select! {
            () = clock.sleep(hour) => panic!("the later one"),
            () = clock.sleep(minute) => assert_eq!(clock.now().unix_ms(), 60_000),
        }
        assert!(clock.sleepers().is_empty(), "whoever gives up sleeps no longer");
        // A task that never waits uses up what it may do at once; its deadline is not due for that.
        let work = async {
            for _ in 0..500 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = clock.sleep(hour) => panic!("the work had turns left"),
            () = work => assert_eq!(clock.now().unix_ms(), 60_000),
        }
    }

    #[tokio::test]
    async fn they_keep_the_contract() {
        check_clock(&StillClock::at(Timestamp::from_unix_ms(0))).await;
        check_entropy(&CountingEntropy::default());
    }
}
