//! A clock that moves by one millisecond each time it is read, whatever the machine's clock does.
//!
//! The doors are asked one after the other, and an answer may hold seconds: with the machine's clock
//! the first door was told "wait 59 s" and the second "wait 58 s" where a second ended between them.
//! It does not stand still because lists are ordered by time, and equal times by random ids.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_core::ids::Timestamp;
use od_core::limits::REFRESH_TIMEOUT;
use od_fs::SystemClock;
use od_ports::system::Clock;
use tokio::sync::Notify;

/// Counts its readings; waits as long as it is told to, but for the timeout of a refresh, which a
/// test can bring about.
#[derive(Debug)]
pub(crate) struct CountedClock {
    now_ms: AtomicI64,
    over: Notify,
}

impl CountedClock {
    pub(crate) fn start() -> Self {
        Self { now_ms: AtomicI64::new(SystemClock.now().unix_ms()), over: Notify::new() }
    }

    /// Moves the clock forward.
    pub(crate) fn pass(&self, duration: Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap();
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Ends the time of the refresh that runs, even if it has not begun to wait for that.
    pub(crate) fn time_refresh_out(&self) {
        self.over.notify_one();
    }
}

#[async_trait]
impl Clock for CountedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.now_ms.fetch_add(1, Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        if duration == Duration::from_millis(REFRESH_TIMEOUT.allowed) {
            tokio::select! {
                () = self.over.notified() => {}
                () = SystemClock.sleep(duration) => {}
            }
        } else {
            SystemClock.sleep(duration).await;
        }
    }
}
