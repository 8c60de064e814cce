//! The calls that schedules may make of one connector in an hour.

use std::collections::{HashMap, VecDeque};

use crate::ids::Timestamp;
use crate::limits::SCHEDULED_CALLS;

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

#[cfg(test)]
mod tests {
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
}
