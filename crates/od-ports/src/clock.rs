//! Time as the use cases see it.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use od_core::ids::Timestamp;

/// Tells the time and waits.
///
/// # Contract
///
/// - `now` is wall-clock time and may jump in either direction: nothing orders by it, ids and
///   revisions do.
/// - `sleep` returns after at least the given duration of monotonic time, unless dropped.
#[async_trait]
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the present time.
    fn now(&self) -> Timestamp;
    /// Waits.
    async fn sleep(&self, duration: Duration);
}
