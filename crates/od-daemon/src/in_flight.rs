//! Work that outlives the connection that asked for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Counts changes being made, so that a shutdown waits for them.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    count: AtomicUsize,
    ended: Notify,
}

impl InFlight {
    /// Counts one more until the returned mark is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Begun {
        self.count.fetch_add(1, Ordering::AcqRel);
        Begun(Arc::clone(self))
    }

    /// Returns when nothing is being changed.
    pub(crate) async fn wait_until_idle(&self) {
        loop {
            // Before the count is read: a change that ends in between still wakes this one.
            let ended = self.ended.notified();
            if self.count.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// One change being made.
#[derive(Debug)]
pub(crate) struct Begun(Arc<InFlight>);

impl Drop for Begun {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_ends_with_the_last_change() {
        let in_flight = Arc::new(InFlight::default());
        in_flight.wait_until_idle().await;
        let (one, two) = (in_flight.begin(), in_flight.begin());
        let waiting = tokio::spawn({
            let in_flight = Arc::clone(&in_flight);
            async move { in_flight.wait_until_idle().await }
        });
        drop(one);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(two);
        waiting.await.unwrap();
    }
}
