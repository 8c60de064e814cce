//! Changes of files that come in bursts, and the one refresh that follows them.

use crate::limits::{CHANGE_PAUSE, CHANGE_QUIET};

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
