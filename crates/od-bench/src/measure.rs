//! Times two pieces of work in turns, so that a noisy machine disturbs both alike.

use std::time::{Duration, Instant};

/// The median times of a piece of work and of what it is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The work.
    pub(crate) subject: Duration,
    /// The floor or peer.
    pub(crate) peer: Duration,
}

impl Pair {
    /// How many times the peer's time the work took.
    pub(crate) fn ratio(&self) -> f64 {
        self.subject.as_secs_f64() / self.peer.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Runs both `rounds` times, alternating, and returns the medians.
pub(crate) fn in_turns(rounds: usize, mut subject: impl FnMut(), mut peer: impl FnMut()) -> Pair {
    let (mut subjects, mut peers) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    for _ in 0..rounds.max(1) {
        subjects.push(once(&mut subject));
        peers.push(once(&mut peer));
    }
    Pair { subject: median(&mut subjects), peer: median(&mut peers) }
}

/// Runs the work once and returns how long it took.
pub(crate) fn once(work: &mut impl FnMut()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// Returns the middle of the readings.
pub(crate) fn median(readings: &mut [Duration]) -> Duration {
    readings.sort_unstable();
    readings.get(readings.len() / 2).copied().unwrap_or_default()
}
