//! The places that open connections occupy, bounded, and who gives way when all are taken.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The places of every listener of one daemon.
///
/// When all are taken, the connection that has waited longest for a request gives way to a new
/// one: someone who holds a thousand silent connections then holds up only himself.
#[derive(Debug)]
pub(crate) struct Slots {
    cap: usize,
    open: Mutex<Open>,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: BTreeMap<u64, Arc<Place>>,
}

#[derive(Debug, Default)]
struct Place {
    /// Requests being answered, bodies still being written included.
    answering: AtomicU32,
    evicted: Notify,
}

impl Slots {
    pub(crate) fn new(cap: usize) -> Arc<Self> {
        Arc::new(Self { cap, open: Mutex::default(), emptied: Notify::new() })
    }

    /// Takes a place, or returns `None` when every open connection is being answered.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Slot> {
        let mut open = self.lock();
        if open.connections.len() >= self.cap {
            let oldest_idle = open
                .connections
                .iter()
                .find(|(_, place)| place.answering.load(Ordering::Relaxed) == 0)
                .map(|(id, _)| *id)?;
            if let Some(place) = open.connections.remove(&oldest_idle) {
                place.evicted.notify_one();
            }
        }
        let id = open.next;
        open.next += 1;
        let place = Arc::new(Place::default());
        open.connections.insert(id, Arc::clone(&place));
        Some(Slot { id, place, slots: Arc::clone(self) })
    }

    /// Makes the connection that has waited longest for a request give way.
    pub(crate) fn evict_one(&self) {
        let mut open = self.lock();
        let idle = open
            .connections
            .iter()
            .find(|(_, place)| place.answering.load(Ordering::Relaxed) == 0)
            .map(|(id, _)| *id);
        if let Some(place) = idle.and_then(|id| open.connections.remove(&id)) {
            place.evicted.notify_one();
        }
    }

    /// Returns how many connections are open.
    pub(crate) fn count(&self) -> usize {
        self.lock().connections.len()
    }

    /// Returns when no connection is open.
    pub(crate) async fn wait_until_empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.count() == 0 {
                return;
            }
            emptied.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's place, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    id: u64,
    place: Arc<Place>,
    slots: Arc<Slots>,
}

impl Slot {
    /// Marks a request as being answered until the returned mark is dropped.
    pub(crate) fn answer(&self) -> Answering {
        self.place.answering.fetch_add(1, Ordering::Relaxed);
        Answering(Arc::clone(&self.place))
    }

    /// Returns when this connection has to give way.
    pub(crate) async fn evicted(&self) {
        self.place.evicted.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.slots.lock();
        open.connections.remove(&self.id);
        if open.connections.is_empty() {
            self.slots.emptied.notify_waiters();
        }
    }
}

/// While this lives, its connection does not give way.
#[derive(Debug)]
pub(crate) struct Answering(Arc<Place>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_silent_connection_gives_way() {
        let slots = Slots::new(2);
        let (first, second) = (slots.take().unwrap(), slots.take().unwrap());
        let _busy = first.answer();
        let third = slots.take().unwrap();
        second.evicted().await;
        assert_eq!(slots.count(), 2);
        drop((second, third));
        assert_eq!(slots.count(), 1);
    }

    #[test]
    fn a_connection_being_answered_never_gives_way() {
        let slots = Slots::new(1);
        let first = slots.take().unwrap();
        let _busy = first.answer();
        assert!(slots.take().is_none());
    }
}
