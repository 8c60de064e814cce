//! Time, randomness and listeners as the use cases see them.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use od_core::event::Event;
use od_core::format::Zone;
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
    /// Returns the zone that the person at this machine lives in, as far as the machine says.
    fn zone(&self) -> Zone {
        Zone::utc()
    }
    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// Gives random bytes fit for keys and ids.
///
/// # Contract
///
/// - `fill` writes every byte of the buffer, from a cryptographic source (a fake may count instead).
/// - It fails rather than hand out bytes that are not random.
pub trait Entropy: fmt::Debug + Send + Sync {
    /// Fills the whole buffer.
    fn fill(&self, buffer: &mut [u8]) -> Result<(), EntropyError>;
}

/// The operating system gave no randomness.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct EntropyError;

/// Takes events.
///
/// # Contract
///
/// - `publish` is called after the change is durable, never before.
/// - It does not block and does not fail: a slow listener loses events, not the writer time.
pub trait EventSink: fmt::Debug + Send + Sync {
    /// Hands one event over.
    fn publish(&self, event: Event);
}
