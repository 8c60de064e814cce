//! The places that open connections occupy, bounded, and who gives way when all are taken.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// The places of every listener of one daemon.
///
/// When all are taken, the connection that has waited longest for a request gives way to a new
/// one: someone who holds a thousand silent connections then holds up only himself. A request whose
/// body has not arrived is still being waited for; that of someone who showed a token gives way later, and
/// last the one that has left its answer unread for longest.
#[derive(Debug)]
pub(crate) struct ConnectionCap {
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
    /// Requests that have arrived whole and are being answered, bodies still being written included.
    answering: AtomicU32,
    /// Requests of someone known whose body is on its way.
    vouched: AtomicU32,
    /// Since when nothing of an answer is read.
    unread_since: Mutex<Option<Instant>>,
    evicted: Notify,
}

impl Place {
    /// Waits for a head, or for the body of somebody unknown: the first to give way.
    fn is_silent(&self) -> bool {
        !self.is_answering() && self.vouched.load(Ordering::Relaxed) == 0
    }

    fn is_answering(&self) -> bool {
        self.answering.load(Ordering::Relaxed) > 0
    }

    fn unread_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.unread_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Removes the connection that has to give way, if one does.
    fn make_room(&mut self) -> Option<()> {
        // Ids grow and the map is sorted by them: the first that fits is the oldest connection.
        let oldest = |gives_way: fn(&Place) -> bool| {
            self.connections.iter().find(|(_, place)| gives_way(place)).map(|(id, _)| *id)
        };
        let unread = || {
            let since = |(id, place): (&u64, &Arc<Place>)| Some((*place.unread_since(), *id));
            let unread = self.connections.iter().filter_map(since);
            unread.filter_map(|(since, id)| Some((since?, id))).min().map(|(_, id)| id)
        };
        let id = oldest(Place::is_silent)
            .or_else(|| oldest(|place| !place.is_answering()))
            .or_else(unread)?;
        self.connections.remove(&id)?.evicted.notify_one();
        Some(())
    }
}

impl ConnectionCap {
    pub(crate) fn new(cap: usize) -> Arc<Self> {
        Arc::new(Self { cap, open: Mutex::default(), emptied: Notify::new() })
    }

    /// Takes a place, or returns `None` when every open connection is being answered and reads.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Slot> {
        let mut open = self.lock();
        if open.connections.len() >= self.cap {
            open.make_room()?;
        }
        let id = open.next;
        open.next += 1;
        let place = Arc::new(Place::default());
        open.connections.insert(id, Arc::clone(&place));
        Some(Slot { id, place, connections: Arc::clone(self) })
    }

    /// Makes the connection that has waited longest for a request give way.
    pub(crate) fn evict_one(&self) {
        // Without one there is nothing to be done: everybody is being answered.
        let _ = self.lock().make_room();
    }

    /// Returns how many connections are open.
    pub(crate) fn count(&self) -> usize {
        self.lock().connections.len()
    }

    /// Returns when no connection is open.
    pub(crate) async fn wait_until_empty(&self) {
        loop {
            // Before the count is read: a last connection that ends in between still wakes this one.
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
    connections: Arc<ConnectionCap>,
}

impl Slot {
    /// Marks a request whose head has arrived, until every copy of the mark is dropped.
    pub(crate) fn request(&self) -> Presence {
        let place = Arc::clone(&self.place);
        Presence(Arc::new(Mark { place, stage: Mutex::new(Stage::Unknown) }))
    }

    /// Returns the mark of whether the answers are read.
    pub(crate) fn reading(&self) -> Reading {
        Reading(Arc::clone(&self.place))
    }

    /// Returns when this connection has to give way.
    pub(crate) async fn evicted(&self) {
        self.place.evicted.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.connections.remove(&self.id);
        if open.connections.is_empty() {
            self.connections.emptied.notify_waiters();
        }
    }
}

/// A mark of whether the peer of a connection reads what is written to it.
#[derive(Debug)]
pub(crate) struct Reading(Arc<Place>);

impl Reading {
    /// Says that a write waits for the peer, from now on if it did not before.
    pub(crate) fn stop(&self) {
        self.0.unread_since().get_or_insert_with(Instant::now);
    }

    /// Says that the peer has read something.
    pub(crate) fn go_on(&self) {
        *self.0.unread_since() = None;
    }
}

/// A mark of how far a request has come, and with it whether its connection gives way.
#[derive(Clone, Debug)]
pub(crate) struct Presence(Arc<Mark>);

#[derive(Debug)]
struct Mark {
    place: Arc<Place>,
    stage: Mutex<Stage>,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The body of somebody unknown is awaited.
    Unknown,
    /// The body of someone who showed a token is awaited.
    Vouched,
    /// It is being answered.
    Answering,
}

impl Presence {
    /// Says that the sender showed a token: its body is worth waiting for.
    pub(crate) fn vouch(&self) {
        self.0.enter(Stage::Vouched);
    }

    /// Says that nothing more of the request is awaited: its connection no longer gives way.
    pub(crate) fn answer(&self) {
        self.0.enter(Stage::Answering);
    }
}

impl Mark {
    fn enter(&self, next: Stage) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        // The new count first: between the two the connection must not look silent.
        if let Some(count) = self.count(next) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(count) = self.count(*stage) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        *stage = next;
    }

    fn count(&self, stage: Stage) -> Option<&AtomicU32> {
        match stage {
            Stage::Unknown => None,
            Stage::Vouched => Some(&self.place.vouched),
            Stage::Answering => Some(&self.place.answering),
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.enter(Stage::Unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(slot: &Slot) -> Presence {
        let presence = slot.request();
        presence.answer();
        presence
    }

    #[tokio::test(start_paused = true)]
    async fn among_those_being_answered_the_one_that_read_nothing_for_longest_gives_way() {
        let connections = ConnectionCap::new(3);
        let slots: Vec<Slot> = (0..3).map(|_| connections.take().unwrap()).collect();
        let _presences: Vec<Presence> = slots.iter().map(answered).collect();
        assert!(connections.take().is_none(), "everybody reads");
        slots[0].reading().stop();
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        slots[2].reading().stop();
        slots[1].reading().stop();
        // It reads again, and stops again: it is the last of them now.
        slots[0].reading().go_on();
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        slots[0].reading().stop();
        let new = connections.take().unwrap();
        let _new_presence = answered(&new);
        slots[1].evicted().await;
        let next = connections.take().unwrap();
        slots[2].evicted().await;
        drop((new, next));
    }

    #[tokio::test]
    async fn the_oldest_silent_connection_gives_way() {
        let connections = ConnectionCap::new(2);
        let (first, second) = (connections.take().unwrap(), connections.take().unwrap());
        let _busy = answered(&first);
        let third = connections.take().unwrap();
        second.evicted().await;
        assert_eq!(connections.count(), 2);
        drop((second, third));
        assert_eq!(connections.count(), 1);
    }

    #[test]
    fn a_connection_being_answered_never_gives_way() {
        let connections = ConnectionCap::new(1);
        let first = connections.take().unwrap();
        let busy = answered(&first);
        assert!(connections.take().is_none());
        drop(busy);
        assert!(connections.take().is_some());
    }

    #[tokio::test]
    async fn who_awaits_a_body_gives_way_and_who_showed_a_token_last() {
        let connections = ConnectionCap::new(2);
        let (known, unknown) = (connections.take().unwrap(), connections.take().unwrap());
        let sending = known.request();
        sending.vouch();
        let _half = unknown.request();
        let third = connections.take().unwrap();
        unknown.evicted().await;
        let _busy = answered(&third);
        let _fourth = connections.take().unwrap();
        known.evicted().await;
    }
}
