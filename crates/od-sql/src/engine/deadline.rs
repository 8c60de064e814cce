//! The time a statement may take, and the caller who may be gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Stops the thread that watches it when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Deadline(Watch);

/// The thread's side of a deadline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_abandoned: AtomicBool,
    ends: Mutex<Option<Instant>>,
}

impl Deadline {
    /// Returns the side for the thread that works.
    pub(crate) fn watch(&self) -> Watch {
        self.0.clone()
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.0.shared.is_abandoned.store(true, Ordering::Relaxed);
    }
}

impl Watch {
    /// Starts the time of the next statement.
    pub(crate) fn start(&self, allowed: Duration) {
        let ends = Instant::now().checked_add(allowed);
        *self.shared.ends.lock().unwrap_or_else(PoisonError::into_inner) = ends;
    }

    /// Returns whether work should stop now.
    pub(crate) fn is_over(&self) -> bool {
        let ends = *self.shared.ends.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.is_abandoned.load(Ordering::Relaxed)
            || ends.is_some_and(|ends| Instant::now() >= ends)
    }
}
