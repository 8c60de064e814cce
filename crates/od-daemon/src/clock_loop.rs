//! The daemon's clock: finds what is due, and runs it.
//!
//! It goes by the wall clock and looks at least every 30 seconds, so that a clock that is set, a
//! machine that slept, and a schedule that another process switched on are noticed at the next look.
//! Nothing of what is due is remembered between two looks: each works it out from the records.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use od_app::schedule::{self, Agenda, DueRun, SlotOutcome, WatchedFiles};
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::limits::{REFUSED_PAUSE, SCHEDULE_TICK, SCHEDULED_RUNS};
use od_core::schedule::{HourlyBudget, Trigger};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use crate::change_loop::stopped;
use crate::daemon::Daemon;

type Key = (ProjectId, ArtifactId);

/// Runs until the daemon stops; refreshes that run then are waited for as all changes are.
///
/// Each look also tells which files are to be watched.
pub(crate) async fn run(
    daemon: Arc<Daemon>,
    watched: watch::Sender<Arc<[WatchedFiles]>>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut clock = ClockLoop {
        daemon,
        budget: HourlyBudget::default(),
        queue: VecDeque::new(),
        running: HashSet::new(),
        refused: HashMap::new(),
        watched,
    };
    let mut runs = JoinSet::new();
    let mut next = clock.look().await;
    loop {
        clock.start(&mut runs);
        let daemon = Arc::clone(&clock.daemon);
        let pause = pause_until(next, daemon.app.ports.clock.now());
        tokio::select! {
            () = stopped(&mut stopping) => break,
            // A run that has ended makes room for the next one of the same look.
            Some(ended) = runs.join_next(), if !runs.is_empty() => {
                clock.take_end(ended);
                if !clock.queue.is_empty() {
                    continue;
                }
            }
            // A schedule was changed here: its files are watched, and its slots counted, from now on.
            () = daemon.schedule_changed.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
        next = clock.look().await;
    }
    // They are in flight, which a shutdown waits for and then cancels; they are not cut off here.
    runs.detach_all();
}

struct ClockLoop {
    daemon: Arc<Daemon>,
    budget: HourlyBudget,
    /// The slots that the last look found and that wait for room.
    queue: VecDeque<DueRun>,
    running: HashSet<Key>,
    /// The artifacts whose refresh could not begin, and when that is tried again: no record says it.
    refused: HashMap<Key, Timestamp>,
    watched: watch::Sender<Arc<[WatchedFiles]>>,
}

/// A run that has ended, and for how long its slot is left alone if it is still due.
struct Ended {
    key: Key,
    held_ms: Option<u64>,
}

impl ClockLoop {
    /// Works out what is due; returns when the next slot comes.
    async fn look(&mut self) -> Option<Timestamp> {
        let app = &self.daemon.app;
        let Agenda { due, next, watched, .. } = match schedule::agenda(app, None).await {
            Ok(agenda) => agenda,
            Err(error) => {
                tracing::warn!(%error, "what is due could not be worked out");
                return None;
            }
        };
        // Only what is new is told: the other side answers each message by watching every folder anew.
        self.watched.send_if_modified(|known| {
            let is_new = **known != watched[..];
            if is_new {
                *known = watched.into();
            }
            is_new
        });
        let now = app.ports.clock.now();
        self.refused.retain(|_, until| *until > now);
        let is_free = |due: &DueRun| {
            let key = (due.project.clone(), due.artifact.clone());
            !self.running.contains(&key) && !self.refused.contains_key(&key)
        };
        // In place of the old queue, not behind it: what still waits there is due still and is found
        // again, and what somebody else has run is not.
        self.queue = due.into_iter().filter(is_free).collect();
        next
    }

    /// Starts what waits, as far as there is room.
    fn start(&mut self, runs: &mut JoinSet<Ended>) {
        let now = self.daemon.app.ports.clock.now();
        while runs.len() < SCHEDULED_RUNS.max()
            && let Some(due) = self.queue.pop_front()
        {
            let may = |connector: &String| self.budget.take(connector, now);
            if !due.connector.as_ref().is_none_or(may) {
                // It is found again at the next look.
                continue;
            }
            let key = (due.project.clone(), due.artifact.clone());
            self.running.insert(key.clone());
            // Counted from here and not from inside the task: a shutdown between the two would not wait
            // for it.
            let (daemon, in_flight) = (Arc::clone(&self.daemon), self.daemon.in_flight.begin());
            runs.spawn(async move {
                let held_ms = run_slot(&daemon, &due).await;
                drop(in_flight);
                Ended { key, held_ms }
            });
        }
    }

    fn take_end(&mut self, ended: Result<Ended, JoinError>) {
        match ended {
            Ok(Ended { key, held_ms }) => {
                self.running.remove(&key);
                if let Some(held_ms) = held_ms {
                    let until = self.daemon.app.ports.clock.now().plus_ms(held_ms);
                    self.refused.insert(key, until);
                }
            }
            // Which one it was is not known: the store's lock still keeps two runs apart.
            Err(_) => self.running.clear(),
        }
    }
}

/// Runs one slot; returns for how long it is left alone if it is still due, because no record says that
/// it was tried.
async fn run_slot(daemon: &Daemon, due: &DueRun) -> Option<u64> {
    let DueRun { project, artifact, run, .. } = due;
    let slot = run.slot;
    match schedule::run_slot(&daemon.app, due, Trigger::Schedule).await {
        SlotOutcome::Refreshed(_) => None,
        // A refresh by hand that began before the slot does not cover it, and holds the lock.
        SlotOutcome::Elsewhere => Some(SCHEDULE_TICK.allowed),
        SlotOutcome::Failed(failure) => {
            let code = failure.code;
            tracing::warn!(%project, %artifact, %slot, %code, "a scheduled refresh failed");
            None
        }
        SlotOutcome::Refused(failure) => {
            let code = failure.code;
            tracing::warn!(%project, %artifact, %slot, %code, "a scheduled refresh could not begin");
            Some(REFUSED_PAUSE.allowed)
        }
    }
}

/// Returns how long to wait for the next slot: never longer than a tick, never shorter than a second.
fn pause_until(next: Option<Timestamp>, now: Timestamp) -> Duration {
    let wait = next.map_or(SCHEDULE_TICK.allowed, |next| next.ms_since(now));
    Duration::from_millis(wait.clamp(1_000, SCHEDULE_TICK.allowed))
}
