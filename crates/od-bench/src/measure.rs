//! Times of two pieces of work, taken in turns so that a noisy machine disturbs both alike, and the
//! growth of a time with a size.

use std::time::{Duration, Instant};

use crate::row::{Row, Target};

/// The median times of a piece of work and of what it is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The work.
    pub(crate) subject: Duration,
    /// The floor or peer.
    pub(crate) peer: Duration,
}

impl Pair {
    /// Returns the time of the work as a multiple of the peer's.
    pub(crate) fn ratio(&self) -> f64 {
        self.subject.as_secs_f64() / self.peer.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// The time of a floor: measured with nothing else going on, and in turns with the work.
///
/// A store tidies up behind each commit, and what it writes then slows the floor down that is measured in
/// turns with it; that would flatter the work. The smaller reading is the divisor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    pub(crate) alone: Duration,
    pub(crate) in_turns: Duration,
}

impl Floor {
    /// Returns the smaller reading.
    pub(crate) fn divisor(self) -> Duration {
        self.alone.min(self.in_turns)
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

/// Runs the work once and returns the time it took.
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

/// Returns the exponent by which the cost follows the size: 0 is flat, 1 is linear.
///
/// Between the two largest sizes: a fixed cost hides growth among small ones.
pub(crate) fn exponent(what: &str, readings: &[(usize, Duration)], limit: f64) -> Row {
    let steps: Vec<String> =
        readings.iter().map(|(size, time)| format!("{size}: {time:.1?}")).collect();
    Row {
        what: format!("growth of {what}"),
        measured: steps.join(", "),
        against: "1 is linear, 0 is flat".to_owned(),
        figure: slope(readings),
        unit: "exponent",
        target: Target::AtMost(limit),
    }
}

/// The slope between the two largest sizes, in logarithms.
fn slope(readings: &[(usize, Duration)]) -> f64 {
    let [.., (small, before), (large, after)] = readings else { return f64::NAN };
    let cost = after.as_secs_f64() / before.as_secs_f64().max(f64::MIN_POSITIVE);
    cost.ln() / (*large as f64 / (*small).max(1) as f64).ln()
}

/// Compares work on what has a long past with the same work on what has a short one, in turns: what
/// the disk does meanwhile disturbs both alike.
pub(crate) fn late_against_early(what: &str, pair: &Pair, limit: f64) -> Row {
    Row::against_peer(what.to_owned(), pair, "", Target::AtMost(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_that_grows_with_the_size_has_exponent_one_and_flat_cost_has_none() {
        let linear = [(10, Duration::from_millis(1)), (100, Duration::from_millis(10))];
        let flat = [(10, Duration::from_millis(5)), (100, Duration::from_millis(5))];
        assert!((slope(&linear) - 1.0).abs() < 1e-9);
        assert!(slope(&flat).abs() < 1e-9);
        assert!(slope(&flat[..1]).is_nan());
    }

    #[test]
    fn a_reading_that_is_missing_is_a_missed_target() {
        let row = exponent("nothing", &[], 1.0);
        assert_eq!(row.verdict(), crate::row::Verdict::Missed);
    }
}
