//! The pace of refreshes that nobody starts by hand: the calls that schedules may make of one connector
//! in an hour, and the one refresh that follows a burst of changed files.

use std::collections::{HashMap, VecDeque};

use crate::ids::Timestamp;
use crate::limits::{CHANGE_PAUSE, CHANGE_QUIET, SCHEDULED_CALLS};

const HOUR_MS: u64 = 3_600_000;

/// Counts the calls of the last hour for each connector. Nothing of it is stored: a daemon that is
/// started again begins anew.
#[derive(Clone, Debug, Default)]
pub struct HourlyBudget {
    calls: HashMap<String, VecDeque<Timestamp>>,
}

impl HourlyBudget {
    /// Takes one call of a connector, if there is one left in this hour.
    pub fn take(&mut self, connector: &str, now: Timestamp) -> bool {
        let calls = self.calls.entry(connector.to_owned()).or_default();
        // A call of the future was made before the clock was set back: it counts for its hour.
        let is_old = |at: &Timestamp| now.ms_since(*at) >= HOUR_MS;
        while calls.front().is_some_and(is_old) {
            calls.pop_front();
        }
        let is_left = calls.len() < SCHEDULED_CALLS.max();
        if is_left {
            calls.push_back(now);
        }
        is_left
    }
}

/// The changes of one artifact's files: a burst becomes one refresh after a moment of quiet, and two
/// refreshes have a pause between them. Times are milliseconds of a clock that only goes forward.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Burst {
    last_change: Option<u64>,
    last_refresh: Option<u64>,
}

impl Burst {
    /// Takes a change in.
    pub const fn changed(&mut self, now: u64) {
        self.last_change = Some(now);
    }

    /// Returns when the refresh is due; none if nothing has changed since the last one.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let quiet = self.last_change? + CHANGE_QUIET.allowed;
        Some(self.last_refresh.map_or(quiet, |last| quiet.max(last + CHANGE_PAUSE.allowed)))
    }

    /// Takes the refresh, if it is due.
    pub fn take(&mut self, now: u64) -> bool {
        let is_due = self.due().is_some_and(|due| due <= now);
        if is_due {
            *self = Self { last_change: None, last_refresh: Some(now) };
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_hour_has_so_many_calls_of_each_connector() {
        let mut budget = HourlyBudget::default();
        let at = |ms: u64| Timestamp::from_unix_ms(ms.cast_signed());
        for n in 0..SCHEDULED_CALLS.allowed {
            assert!(budget.take("github", at(n)));
        }
        assert!(!budget.take("github", at(HOUR_MS - 1)));
        assert!(budget.take("prometheus", at(HOUR_MS - 1)), "each has its own");
        assert!(budget.take("github", at(HOUR_MS)), "the first is an hour ago");
        assert!(!budget.take("github", at(HOUR_MS)));
    }

    #[test]
    fn a_burst_becomes_one_refresh_after_quiet() {
        let mut burst = Burst::default();
        for now in [0, 100, 450, 900] {
            burst.changed(now);
            assert!(!burst.take(now));
        }
        assert_eq!(burst.due(), Some(900 + CHANGE_QUIET.allowed));
        assert!(burst.take(1_400));
        assert!(!burst.take(9_000), "nothing has changed since");
    }

    proptest! {
        #[test]
        fn two_refreshes_have_a_pause_and_no_change_is_lost(
            gaps in prop::collection::vec(0_u64..3_000, 1..200),
        ) {
            let (mut burst, mut now, mut refreshes) = (Burst::default(), 0, Vec::new());
            for gap in gaps {
                // Everything due before the next change is taken when it is due.
                while let Some(due) = burst.due().filter(|due| *due <= now + gap) {
                    prop_assert!(burst.take(due));
                    refreshes.push(due);
                }
                now += gap;
                burst.changed(now);
            }
            let last = burst.due().unwrap();
            prop_assert!(burst.take(last));
            refreshes.push(last);
            prop_assert!(last >= now + CHANGE_QUIET.allowed, "the last change is in it");
            prop_assert!(refreshes.windows(2).all(|two| two[1] - two[0] >= CHANGE_PAUSE.allowed));
        }
    }
}
