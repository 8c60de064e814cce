use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::input::Input as _;
use crate::json::Value;
use crate::refresh::RecordStatus;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// 2026-03-02T00:00:00Z, a Monday.
const START: i64 = 1_772_409_600_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(START + ms)
}

fn id() -> ArtifactId {
    "la-x-0123456789ab".parse().unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the value down")]
fn schedule(value: Value) -> RefreshSchedule {
    RefreshSchedule::read_whole(&value).unwrap().0
}

/// A machine with a clock that moves as it is told, whose runs take no time.
struct Machine {
    schedule: RefreshSchedule,
    since: Timestamp,
    runs: RunsSoFar,
    slots: Vec<SlotRun>,
}

impl Machine {
    fn new(value: Value) -> Self {
        let schedule = schedule(value);
        Self { schedule, since: at(0), runs: RunsSoFar::default(), slots: Vec::new() }
    }

    fn due(&self, ms: i64) -> Due {
        self.schedule.due(self.since, &self.runs, &id(), at(ms))
    }

    fn record(&mut self, ms: i64, slot: Option<Timestamp>, ends: RecordStatus) {
        let number = self.runs.newest.as_ref().map_or(0, RefreshId::number) + 1;
        let refresh = RefreshId::from_number(number);
        let (start, last) = (RecordStep::Started, RecordStep::last(ends));
        let mut record = RefreshRecord::new(refresh.clone(), start, RecordStatus::Running, at(ms));
        record.slot = slot;
        self.runs.append(&record);
        self.runs.append(&RefreshRecord::new(refresh, last, ends, at(ms)));
    }

    /// Looks once, and runs what is due; returns whether something was.
    fn look(&mut self, ms: i64, ends: RecordStatus) -> bool {
        let Due::Now(run) = self.due(ms) else { return false };
        self.slots.push(run);
        self.record(ms, Some(run.slot), ends);
        true
    }

    /// Looks every 30 seconds of a stretch.
    fn watch(&mut self, from: i64, until: i64) -> usize {
        let before = self.slots.len();
        for ms in (from..until).step_by(30_000) {
            self.look(ms, RecordStatus::Succeeded);
        }
        self.slots.len() - before
    }
}

#[test]
fn switching_on_starts_from_now_whatever_ran_before() {
    let mut machine = Machine::new(json!({ "every": "15m" }));
    machine.record(-30 * DAY, None, RecordStatus::Succeeded);
    assert_eq!(machine.due(0), Due::Later(at(15 * MINUTE), Hold::Slot));
    assert!(!machine.look(15 * MINUTE - 1, RecordStatus::Succeeded));
    assert_eq!(machine.watch(15 * MINUTE, 60 * MINUTE), 3);
    assert!(machine.slots.iter().all(|run| run.missed == 0));
}

#[test]
fn a_refresh_by_hand_covers_the_slots_before_it() {
    let mut machine = Machine::new(json!({ "every": "1h" }));
    machine.record(61 * MINUTE, None, RecordStatus::Succeeded);
    assert_eq!(machine.due(62 * MINUTE), Due::Later(at(2 * HOUR), Hold::Slot));
}

#[test]
fn missed_slots_become_one_run_that_says_how_many() {
    let mut machine = Machine::new(json!({ "every": "15m" }));
    assert_eq!(machine.watch(0, HOUR), 3);
    // A lid is closed for three hours and a half.
    assert_eq!(machine.watch(HOUR + 210 * MINUTE, HOUR + 224 * MINUTE), 1);
    assert_eq!(machine.slots[3], SlotRun { slot: at(HOUR + 210 * MINUTE), missed: 14 });
}

#[test]
fn missed_slots_are_skipped_if_the_schedule_says_so() {
    let mut machine = Machine::new(json!({ "cron": "0 9 * * *", "missed": "skip" }));
    assert_eq!(machine.watch(11 * HOUR, 20 * HOUR), 0);
    assert_eq!(machine.due(11 * HOUR), Due::Later(at(DAY + 9 * HOUR), Hold::Slot));
    assert_eq!(machine.watch(20 * HOUR, 34 * HOUR), 1);
    assert_eq!(machine.slots[0], SlotRun { slot: at(DAY + 9 * HOUR), missed: 1 });
    let mut late = Machine::new(json!({ "cron": "0 9 * * *", "missed": "skip" }));
    assert!(late.look(9 * HOUR + 5 * MINUTE, RecordStatus::Succeeded), "a few minutes are in time");
}

#[test]
fn failures_double_the_pause_up_to_a_day() {
    let mut machine = Machine::new(json!({ "every": "1h" }));
    let mut now = HOUR;
    let mut pauses = Vec::new();
    for _ in 0..9 {
        assert!(machine.look(now, RecordStatus::Failed));
        let Due::Later(next, Hold::BackOff) = machine.due(now) else { panic!("it waits") };
        pauses.push(next.ms_since(at(now)).cast_signed());
        now = next.unix_ms() - START;
        assert!(!matches!(machine.due(now - 1), Due::Now(_)));
    }
    for (n, pause) in pauses.iter().enumerate() {
        let whole = (HOUR << (n + 1)).min(DAY);
        assert!((whole * 9 / 10..=whole).contains(pause), "{n}: {pause}");
    }
    assert!(machine.look(now, RecordStatus::Succeeded));
    assert!(matches!(machine.due(now), Due::Later(_, Hold::Slot)), "one success ends it");
}

#[test]
fn what_a_person_stopped_is_no_failure() {
    let mut machine = Machine::new(json!({ "every": "1h" }));
    assert!(machine.look(HOUR, RecordStatus::Cancelled));
    assert_eq!(machine.due(HOUR), Due::Later(at(2 * HOUR), Hold::Slot));
}

#[test]
fn a_clock_set_back_a_little_runs_no_slot_twice() {
    let mut machine = Machine::new(json!({ "every": "15m" }));
    assert_eq!(machine.watch(0, 2 * HOUR), 7);
    assert_eq!(machine.watch(70 * MINUTE, 2 * HOUR), 0, "these slots have run");
    assert_eq!(machine.watch(2 * HOUR, 3 * HOUR), 4);
    let mut slots: Vec<_> = machine.slots.iter().map(|run| run.slot).collect();
    slots.dedup();
    assert_eq!(slots.len(), machine.slots.len());
}

#[test]
fn a_clock_that_was_a_year_ahead_stops_nothing() {
    for value in [json!({ "every": "1h" }), json!({ "cron": "0 * * * *" })] {
        let mut machine = Machine::new(value);
        machine.since = at(365 * DAY);
        machine.record(365 * DAY, Some(at(365 * DAY)), RecordStatus::Succeeded);
        assert_eq!(machine.watch(30 * MINUTE, 3 * HOUR), 3, "at once, and at each hour");
    }
}

#[test]
fn a_clock_set_forward_runs_once() {
    let mut machine = Machine::new(json!({ "every": "1h" }));
    assert_eq!(machine.watch(0, 3 * HOUR), 2);
    assert_eq!(machine.watch(90 * DAY, 90 * DAY + 30 * MINUTE), 1);
    assert!(machine.slots[2].missed > 2_000);
}

#[test]
fn the_next_five_runs_are_those_that_come() {
    let schedule = schedule(json!({ "cron": "0 9 * * 1-5", "timeZone": "Europe/Berlin" }));
    let runs: Vec<String> = schedule
        .next_runs(at(0), at(4 * DAY), 5)
        .iter()
        .map(|time| time.to_string()[5..16].to_owned())
        .collect();
    assert_eq!(runs, ["03-06T08:00", "03-09T08:00", "03-10T08:00", "03-11T08:00", "03-12T08:00"]);
    let weeks: Vec<String> = schedule
        .next_runs(at(0), at(25 * DAY + 12 * HOUR), 2)
        .iter()
        .map(|time| time.to_string()[5..16].to_owned())
        .collect();
    assert_eq!(weeks, ["03-30T07:00", "03-31T07:00"], "nine o'clock is an hour earlier in summer");
}

proptest! {
    #[test]
    fn every_slot_of_a_watched_stretch_runs_once_and_in_order(
        minutes in 1_u64..180, skip in any::<bool>(), hours in 1_i64..48,
    ) {
        let missed = if skip { "skip" } else { "once" };
        let mut machine = Machine::new(json!({ "every": format!("{minutes}m"), "missed": missed }));
        machine.watch(0, hours * HOUR);
        let expected = (hours * 60 - 1) / minutes.cast_signed();
        prop_assert_eq!(machine.slots.len(), usize::try_from(expected).unwrap());
        prop_assert!(machine.slots.iter().all(|run| run.missed == 0));
        prop_assert!(machine.slots.windows(2).all(|two| two[0].slot < two[1].slot));
    }

    #[test]
    fn whatever_the_clock_does_no_slot_of_the_last_hour_runs_twice(
        steps in prop::collection::vec((-50_i64..200, any::<bool>()), 1..200),
    ) {
        // Steps of minutes, back by less than the tolerated hour in all.
        let mut machine = Machine::new(json!({ "every": "10m" }));
        let (mut now, mut latest) = (0, 0);
        for (minutes, fails) in steps {
            now = (now + minutes * MINUTE).max(latest - 50 * MINUTE);
            latest = latest.max(now);
            let ends = if fails { RecordStatus::Failed } else { RecordStatus::Succeeded };
            machine.look(now, ends);
        }
        prop_assert!(machine.slots.windows(2).all(|two| two[0].slot < two[1].slot));
        // Slots are run, or counted as missed, or still to come: none is lost.
        let counted: u64 = machine.slots.iter().map(|run| run.missed + 1).sum();
        let last = machine.slots.last().map_or(0, |run| run.slot.ms_since(at(0)) / 600_000);
        prop_assert!(counted <= last);
    }

    #[test]
    fn what_is_due_later_is_due_then_and_not_before(
        every in prop::sample::select(vec!["1m", "15m", "2h", "1d"]),
        ago in 1_i64..5_000, failures in 0_u32..40, skip in any::<bool>(),
    ) {
        let missed = if skip { "skip" } else { "once" };
        let mut machine = Machine::new(json!({ "every": every, "missed": missed }));
        let now = 5_000 * MINUTE;
        machine.record(now - ago * MINUTE, None, RecordStatus::Succeeded);
        machine.runs.failures = failures;
        if let Due::Later(next, _) = machine.due(now) {
            let ms = next.unix_ms() - START;
            prop_assert!(ms > now);
            prop_assert!(matches!(machine.due(ms), Due::Now(_)), "{:?}", machine.due(ms));
            prop_assert!(!matches!(machine.due(ms - 1), Due::Now(_)));
        }
    }
}
