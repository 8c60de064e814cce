//! Events kept in memory.

use std::sync::{Mutex, PoisonError};

use od_core::event::Event;

use crate::system::EventSink;

/// Keeps every event it was given.
#[derive(Debug, Default)]
pub struct MemoryEvents {
    events: Mutex<Vec<Event>>,
}

impl MemoryEvents {
    /// Takes the events so far.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventSink for MemoryEvents {
    fn publish(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}
