//! Tells listeners what happened.

use std::fmt;

use od_core::event::Event;

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
