//! Request ids: a name for one exchange that a person can quote and find in the log.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RequestId {
    start: u32,
    number: u64,
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req-{:08x}-{}", self.start, self.number)
    }
}

/// Counts requests since this start of the daemon.
#[derive(Debug)]
pub(crate) struct RequestIds {
    start: u32,
    next: AtomicU64,
}

impl RequestIds {
    /// `start` tells two starts apart.
    pub(crate) const fn new(start: u32) -> Self {
        Self { start, next: AtomicU64::new(1) }
    }

    pub(crate) fn next(&self) -> RequestId {
        RequestId { start: self.start, number: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}
