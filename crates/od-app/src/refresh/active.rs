//! The refreshes that run in this process.
//!
//! The store's lock decides between processes; this map only saves a look at the disk, and is how a
//! cancellation finds the refresh it is for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use od_core::ids::{ArtifactId, ProjectId, RefreshId, RunId};
use tokio::sync::watch;

type Key = (ProjectId, ArtifactId);
type Map = HashMap<Key, Arc<Active>>;

/// One refresh that runs here.
#[derive(Debug)]
pub(super) struct Active {
    id: OnceLock<RefreshId>,
    run: Option<RunId>,
    cancelled: watch::Sender<bool>,
    ended: watch::Sender<bool>,
}

impl Active {
    /// Returns the refresh's id, once it has one.
    pub(super) fn id(&self) -> Option<&RefreshId> {
        self.id.get()
    }

    /// Returns the run whose agent started the refresh, if an agent did.
    pub(super) fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Asks the refresh to stop.
    pub(super) fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// Waits until the refresh is over, its terminal record included.
    pub(super) async fn wait_until_ended(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

/// Every refresh that runs in this process, at most one an artifact.
#[derive(Debug, Default)]
pub(crate) struct ActiveRefreshes {
    running: Mutex<Map>,
}

impl ActiveRefreshes {
    /// Enters a refresh, or returns the one that runs already.
    pub(super) fn enter(&self, key: Key, run: Option<RunId>) -> Result<Entry<'_>, Arc<Active>> {
        let mut running = self.lock();
        if let Some(active) = running.get(&key) {
            return Err(Arc::clone(active));
        }
        // `watch`, not `Notify`: a cancellation that comes before the refresh listens must still reach it.
        let active = Arc::new(Active {
            id: OnceLock::new(),
            run,
            cancelled: watch::Sender::new(false),
            ended: watch::Sender::new(false),
        });
        running.insert(key.clone(), Arc::clone(&active));
        Ok(Entry { all: self, key, active })
    }

    /// Finds a refresh.
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Active>> {
        self.lock().get(key).cloned()
    }

    /// Asks every refresh to stop.
    pub(super) fn cancel_all(&self) {
        self.lock().values().for_each(|active| active.cancel());
    }

    fn lock(&self) -> MutexGuard<'_, Map> {
        // Every change of the map is one insert or one remove: a panic beside it leaves nothing half done.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A refresh's place in the map; it leaves when dropped, also when its caller is gone.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    all: &'a ActiveRefreshes,
    key: Key,
    active: Arc<Active>,
}

impl Entry<'_> {
    /// Says which refresh it is.
    pub(super) fn name(&self, id: &RefreshId) {
        // An entry is named once, by the one who made it.
        let _ = self.active.id.set(id.clone());
    }

    /// Returns whether someone asked to stop.
    pub(super) fn is_cancelled(&self) -> bool {
        *self.active.cancelled.borrow()
    }

    /// Waits until someone asks to stop.
    pub(super) async fn cancelled(&self) {
        let _ = self.active.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        // Out of the map before it is told: whoever waited for the end may begin the next refresh at once, and
        // must not be answered that this one still runs.
        self.all.lock().remove(&self.key);
        self.active.ended.send_replace(true);
    }
}
