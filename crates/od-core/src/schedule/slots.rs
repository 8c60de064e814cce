//! The instants at which a schedule wants a run.

use jiff::civil::DateTime;

use super::Cron;
use crate::format::Zone;
use crate::ids::Timestamp;
use crate::limits;

/// The slots of a schedule.
///
/// Of a steady pace: whole periods after it was switched on. Of times of the clock: their instants in a
/// zone. Where the clock goes forward over a time, its slot is the instant at which it does; where a
/// time comes twice, its slot is the first. An expression for every hour goes by the time that passes
/// instead: it has no slot for an hour that is left out, and two for one that comes twice.
#[derive(Clone, Copy, Debug)]
pub enum Slots<'s> {
    /// A steady pace.
    Every {
        /// The milliseconds between two slots.
        period_ms: u64,
        /// When it was switched on.
        since: Timestamp,
    },
    /// Times of the clock.
    Cron {
        /// The times.
        cron: &'s Cron,
        /// The zone they are read in; UTC if there is none.
        zone: Option<&'s Zone>,
    },
}

impl Slots<'_> {
    /// Returns the first slot after a time.
    #[must_use]
    pub fn after(&self, time: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every { period_ms, since } => {
                let periods = periods(*period_ms, *since, time)?;
                nth(*period_ms, *since, periods.checked_add(1)?)
            }
            Self::Cron { cron, zone } => ClockSlots::new(cron, *zone).after(time),
        }
    }

    /// Returns the last slot at or before a time.
    #[must_use]
    pub fn at_or_before(&self, time: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every { period_ms, since } => {
                nth(*period_ms, *since, periods(*period_ms, *since, time)?)
            }
            Self::Cron { cron, zone } => ClockSlots::new(cron, *zone).at_or_before(time),
        }
    }

    /// Counts the slots after one time and before another, up to a bound.
    #[must_use]
    pub fn count_between(&self, after: Timestamp, before: Timestamp) -> u64 {
        let most = limits::MISSED_SLOTS.allowed;
        match self {
            Self::Every { period_ms, since } => {
                // Neither end counts: the one was run, the other is the run at hand.
                let until = Timestamp::from_unix_ms(before.unix_ms().saturating_sub(1));
                let passed = periods(*period_ms, *since, until)
                    .zip(periods(*period_ms, *since, after))
                    .map_or(0, |(until, after)| until.saturating_sub(after));
                u64::try_from(passed).unwrap_or(0).min(most)
            }
            Self::Cron { .. } => {
                let mut count = 0;
                let mut time = after;
                while count < most
                    && let Some(slot) = self.after(time)
                    && slot < before
                {
                    count += 1;
                    time = slot;
                }
                count
            }
        }
    }
}

/// Returns how many whole periods lie between two times; negative if the second is the earlier.
fn periods(period_ms: u64, since: Timestamp, time: Timestamp) -> Option<i64> {
    let period = i64::try_from(period_ms).ok().filter(|period| *period > 0)?;
    Some(time.unix_ms().saturating_sub(since.unix_ms()).div_euclid(period))
}

fn nth(period_ms: u64, since: Timestamp, periods: i64) -> Option<Timestamp> {
    let ms = i64::try_from(period_ms).ok()?.checked_mul(periods)?;
    since.unix_ms().checked_add(ms).map(Timestamp::from_unix_ms)
}

/// The instants of a cron expression in a zone, found one stretch of constant offset after another.
struct ClockSlots<'s> {
    cron: &'s Cron,
    zone: std::borrow::Cow<'s, Zone>,
}

/// A change of the zone's offset: when, and the time of the clock just before and just after.
struct Shift {
    at: jiff::Timestamp,
    before: DateTime,
    after: DateTime,
}

/// The stretches of constant offset that are looked through: two a year, for as long as the search for
/// a day.
const SEARCHED_SHIFTS: usize = 32;

impl<'s> ClockSlots<'s> {
    fn new(cron: &'s Cron, zone: Option<&'s Zone>) -> Self {
        let zone =
            zone.map_or_else(|| std::borrow::Cow::Owned(Zone::utc()), std::borrow::Cow::Borrowed);
        Self { cron, zone }
    }

    fn after(&self, time: Timestamp) -> Option<Timestamp> {
        // Slots are whole seconds: the first instant behind the time is the next millisecond.
        let mut instant = instant(Timestamp::from_unix_ms(time.unix_ms().saturating_add(1)))?;
        let mut from = self.zone.datetime(instant);
        // Inside an hour that comes for the second time, its times have had their slots.
        if let Some(shift) = self.shift_before(instant) {
            from = from.max(self.first_of(&shift));
        }
        for _ in 0..SEARCHED_SHIFTS {
            let shift = self.zone.next_transition(instant).map(|at| self.shift(at));
            let found = self.cron.first_from(from, shift.as_ref().map(|shift| shift.before));
            match (found, shift) {
                (Some(found), _) => return self.instant_near(instant, found),
                (None, None) => return None,
                (None, Some(shift)) => {
                    if self.is_in_gap(&shift) {
                        return timestamp(shift.at);
                    }
                    from = self.first_of(&shift);
                    instant = shift.at;
                }
            }
        }
        None
    }

    fn at_or_before(&self, time: Timestamp) -> Option<Timestamp> {
        let mut instant = instant(time)?;
        let mut until = self.zone.datetime(instant);
        for _ in 0..SEARCHED_SHIFTS {
            let shift = self.shift_before(instant);
            let from = shift.as_ref().map(|shift| self.first_of(shift));
            if from.is_none_or(|from| from <= until)
                && let Some(found) = self.cron.last_until(until, from)
            {
                return self.instant_near(instant, found);
            }
            let shift = shift?;
            if self.is_in_gap(&shift) {
                return timestamp(shift.at);
            }
            // The last moment of the stretch before it.
            instant = shift.at - jiff::SignedDuration::from_millis(1);
            until = self.zone.datetime(instant);
        }
        None
    }

    /// Returns the first time of the clock after a shift that has a slot of its own.
    fn first_of(&self, shift: &Shift) -> DateTime {
        // `*/15 * * * *` goes by elapsed time and runs through both hours. `0 2 * * *` names a time of the
        // clock, which comes twice in that night and is run once.
        if self.cron.has_any_hour() { shift.after } else { shift.after.max(shift.before) }
    }

    /// Returns whether a time that fits is left out by a shift.
    fn is_in_gap(&self, shift: &Shift) -> bool {
        !self.cron.has_any_hour()
            && shift.before < shift.after
            && self.cron.first_from(shift.before, Some(shift.after)).is_some()
    }

    /// Returns the shift at or before an instant.
    fn shift_before(&self, instant: jiff::Timestamp) -> Option<Shift> {
        self.zone.transition_at_or_before(instant).map(|at| self.shift(at))
    }

    fn shift(&self, at: jiff::Timestamp) -> Shift {
        let last = at - jiff::SignedDuration::from_millis(1);
        let before = self.zone.datetime(last) + jiff::SignedDuration::from_millis(1);
        Shift { at, before, after: self.zone.datetime(at) }
    }

    /// Returns the instant of a time of the clock in the same stretch as a known instant.
    fn instant_near(&self, known: jiff::Timestamp, time: DateTime) -> Option<Timestamp> {
        timestamp(known.checked_add(self.zone.datetime(known).duration_until(time)).ok()?)
    }
}

fn instant(time: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(time.unix_ms()).ok()
}

fn timestamp(instant: jiff::Timestamp) -> Option<Timestamp> {
    Some(Timestamp::from_unix_ms(instant.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The slots of an expression in a zone between two times.
    fn slots(cron: &str, zone: &str, from: &str, until: &str) -> Vec<String> {
        let (cron, zone): (Cron, Zone) = (cron.parse().unwrap(), zone.parse().unwrap());
        let slots = Slots::Cron { cron: &cron, zone: Some(&zone) };
        let mut found = Vec::new();
        let mut at = time(from);
        while let Some(slot) = slots.after(at).filter(|slot| *slot < time(until)) {
            assert!(slot > at, "slots rise");
            assert_eq!(slots.at_or_before(slot), Some(slot), "both ways find it");
            found.push(slot.to_string()[5..16].to_owned());
            at = slot;
        }
        found
    }

    /// Five zones with the instants at which their clocks go forward and back, and a time of the clock
    /// that is left out and one that comes twice.
    const EDGES: [(&str, &str, &str, &str, &str); 5] = [
        (
            "Europe/Berlin",
            "2026-03-29T01:00:00Z",
            "30 2 * * *",
            "2026-10-25T01:00:00Z",
            "30 2 * * *",
        ),
        (
            "America/New_York",
            "2026-03-08T07:00:00Z",
            "30 2 * * *",
            "2026-11-01T06:00:00Z",
            "30 1 * * *",
        ),
        (
            "Australia/Lord_Howe",
            "2026-10-03T15:30:00Z",
            "15 2 * * *",
            "2026-04-04T15:00:00Z",
            "45 1 * * *",
        ),
        (
            "America/Santiago",
            "2026-09-06T04:00:00Z",
            "30 0 * * *",
            "2026-04-05T03:00:00Z",
            "30 23 * * *",
        ),
        (
            "Asia/Beirut",
            "2026-03-28T22:00:00Z",
            "30 0 * * *",
            "2026-10-24T21:00:00Z",
            "30 23 * * *",
        ),
    ];
    const DAY_MS: i64 = 86_400_000;

    /// Checks that slots are a day apart, give or take what a clock is set by.
    #[track_caller]
    fn assert_daily(found: &[String]) {
        let at = |slot: &String| time(&format!("2026-{slot}:00Z"));
        assert!(found.len() >= 3, "{found:?}");
        for two in found.windows(2) {
            let hours = at(&two[1]).ms_since(at(&two[0])) / 3_600_000;
            assert!((22..=25).contains(&hours), "{found:?}");
        }
    }

    fn around(at: &str) -> (String, String) {
        let at = time(at).unix_ms();
        let day = |ms: i64| Timestamp::from_unix_ms(at + ms).to_string();
        (day(-2 * DAY_MS), day(2 * DAY_MS))
    }

    #[test]
    fn a_time_that_is_left_out_has_one_slot_at_the_instant_the_clock_goes_forward() {
        for (zone, forward, cron, _, _) in EDGES {
            let (from, until) = around(forward);
            let found = slots(cron, zone, &from, &until);
            assert_daily(&found);
            assert!(found.contains(&forward[5..16].to_owned()), "{zone}: {found:?}");
        }
    }

    #[test]
    fn a_time_that_comes_twice_has_one_slot() {
        for (zone, _, _, back, cron) in EDGES {
            let (from, until) = around(back);
            let found = slots(cron, zone, &from, &until);
            assert_daily(&found);
            // The first of both lies before the clock goes back, and no slot in the hour after it.
            let hour_after = Timestamp::from_unix_ms(time(back).unix_ms() + 3_600_000).to_string();
            let again = found
                .iter()
                .filter(|slot| slot.as_str() >= &back[5..16] && slot.as_str() < &hour_after[5..16]);
            assert_eq!(again.count(), 0, "{zone}: {found:?}");
        }
    }

    #[test]
    fn every_quarter_of_an_hour_goes_by_the_time_that_passes() {
        for (zone, forward, _, back, _) in EDGES {
            for edge in [forward, back] {
                let (from, until) = around(edge);
                assert_eq!(slots("*/15 * * * *", zone, &from, &until).len(), 4 * 96 - 1, "{zone}");
            }
        }
    }

    #[test]
    fn a_day_that_a_zone_leaves_out_moves_its_slot_to_the_next_moment() {
        // Samoa went over the date line: there was no 30 December 2011.
        let found =
            slots("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z");
        assert_eq!(found, ["12-29T19:00", "12-30T10:00", "12-30T19:00", "12-31T19:00"]);
    }

    proptest! {
        #[test]
        fn before_and_after_meet_at_every_instant(
            zone in prop::sample::select(EDGES.map(|edge| edge.0).to_vec()),
            cron in prop::sample::select(vec![
                "30 2 * * *", "30 0 * * *", "*/20 1-3 * * *", "0 * * * *", "15 2 * * 0", "0 9 1 * *",
            ]),
            second in 0_i64..63_072_000,
        ) {
            let (cron, zone): (Cron, Zone) = (cron.parse().unwrap(), zone.parse().unwrap());
            let slots = Slots::Cron { cron: &cron, zone: Some(&zone) };
            let at = Timestamp::from_unix_ms(time("2026-01-01T00:00:00Z").unix_ms() + second * 1000);
            let (before, after) = (slots.at_or_before(at).unwrap(), slots.after(at).unwrap());
            prop_assert!(before <= at && at < after);
            prop_assert_eq!(slots.after(before), Some(after));
            prop_assert_eq!(
                slots.at_or_before(Timestamp::from_unix_ms(after.unix_ms() - 1)), Some(before)
            );
        }

        #[test]
        fn a_steady_pace_counts_from_when_it_was_switched_on(
            minutes in 1_u64..10_000, since in -1_000_000_000_i64..1_000_000_000,
            ms in -1_000_000_000_i64..1_000_000_000,
        ) {
            let since = Timestamp::from_unix_ms(since);
            let slots = Slots::Every { period_ms: minutes * 60_000, since };
            let at = Timestamp::from_unix_ms(ms);
            let (before, after) = (slots.at_or_before(at).unwrap(), slots.after(at).unwrap());
            prop_assert!(before <= at && at < after);
            prop_assert_eq!(after.ms_since(before), minutes * 60_000);
            prop_assert_eq!(slots.count_between(before, after), 0);
        }
    }
}
