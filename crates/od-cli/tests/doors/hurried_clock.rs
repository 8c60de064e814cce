//! The machine's clock, with one wait that can be cut short: that of a whole refresh.

use std::time::Duration;

use async_trait::async_trait;
use od_core::ids::Timestamp;
use od_core::limits::REFRESH_TIMEOUT;
use od_fs::SystemClock;
use od_ports::clock::Clock;
use tokio::sync::Notify;

/// A clock for refreshes that run out of time while somebody looks.
#[derive(Debug, Default)]
pub(crate) struct HurriedClock {
    over: Notify,
}

impl HurriedClock {
    /// The time of the refresh that runs is over, even if it has not begun to wait for that.
    pub(crate) fn time_is_over(&self) {
        self.over.notify_one();
    }
}

#[async_trait]
impl Clock for HurriedClock {
    fn now(&self) -> Timestamp {
        SystemClock.now()
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
