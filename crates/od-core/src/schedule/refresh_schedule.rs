//! When an artifact is refreshed by itself: the fields `every`, `cron`, `timeZone`, `onChange`,
//! `maxAge` and `missed`, their readers, and the least time between two refreshes.

use super::{Cron, Interval, Slots};
use crate::error::Issue;
use crate::format::Zone;
use crate::input::schema::text as schema_text;
use crate::input::{Fields, Flag, Issues, Reader, ZoneName, input, one_of, text};
use crate::json::{Pointer, Value};
use crate::limits;
use crate::words::words;

words! {
    /// The cause of a refresh.
    Trigger {
        /// A person, or an agent, asked for it.
        Manual = "manual",
        /// A slot of its schedule came.
        Schedule = "schedule",
        /// A file that a source reads has changed.
        Change = "change",
        /// A person opened its page when it was older than its `maxAge`.
        Open = "open",
        /// `od refresh --due` found a slot of its schedule, or its age.
        Command = "command",
    }
}

words! {
    /// What becomes of slots that passed while nobody could run them.
    MissedSlots {
        /// They become one run, as soon as somebody can.
        Once = "once",
        /// They become none: the next slot is the next run.
        Skip = "skip",
    }
}

input! {
    /// When an artifact is refreshed without anybody's hand: `document.refresh`.
    #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct RefreshSchedule
    "when to refresh by itself; a proposal until a person switches it on"
    then check_schedule {
        /// The time between two refreshes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional every: Interval = "every", IntervalText, "15m, 2h or 1d; at least 1m, 5m if a source is beyond this machine";
        /// The times of the clock at which it is refreshed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional cron: Cron = "cron", CronText, "instead of every: minute hour day month weekday, as 0 9 * * 1-5";
        /// The zone that `cron` is read in; UTC if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional time_zone: Zone = "timeZone", ZoneName, "of cron; UTC if absent";
        /// Whether a change of a file that a source reads is followed by a refresh.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        default(false) on_change: bool = "onChange", Flag, "also when a project file that it reads changes";
        /// The age at which the page counts as stale.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional max_age: Interval = "maxAge", IntervalText, "stale when older; opening it then refreshes it";
        /// What becomes of slots that nobody could run.
        #[serde(default = "missed_once")]
        default(MissedSlots::Once) missed: MissedSlots = "missed", one_of(MissedSlots::ALL), "slots passed meanwhile: one run (default) or none";
    }
}

const fn missed_once() -> MissedSlots {
    MissedSlots::Once
}

impl RefreshSchedule {
    /// Makes a schedule that refreshes after a time, again and again.
    #[must_use]
    pub const fn every(every: Interval) -> Self {
        Self {
            every: Some(every),
            cron: None,
            time_zone: None,
            on_change: false,
            max_age: None,
            missed: MissedSlots::Once,
        }
    }

    /// Returns the slots of the schedule, for one that was switched on at a time; none if only a change
    /// or a person starts its refreshes.
    #[must_use]
    pub fn slots(&self, since: crate::ids::Timestamp) -> Option<Slots<'_>> {
        match (&self.every, &self.cron) {
            (Some(every), _) => Some(Slots::Every { period_ms: every.ms(), since }),
            (None, Some(cron)) => Some(Slots::Cron { cron, zone: self.time_zone.as_ref() }),
            (None, None) => None,
        }
    }

    /// Returns what is too often for sources of this reach, below the pointer of the schedule.
    #[must_use]
    pub fn check_pace(&self, is_local: bool) -> Option<Issue> {
        let least = if is_local { limits::EVERY_LOCAL } else { limits::EVERY_NETWORK };
        let (name, ms) = match (&self.every, &self.cron) {
            (Some(every), _) => ("every", every.ms()),
            (None, Some(cron)) => ("cron", cron.shortest_gap_ms()),
            (None, None) => return None,
        };
        (ms < least.allowed).then(|| {
            let pace = Interval::from_ms(least.allowed);
            let reach = if is_local { "of this machine" } else { "beyond this machine" };
            let message = format!("a source {reach} is refreshed at most every {pace}");
            Issue::new(format!("/{name}"), "too_often", message)
                .got(Interval::from_ms(ms).to_string())
                .want(format!("at least {pace} between two refreshes"))
                .fix(match name {
                    "every" => pace.to_string(),
                    _ => format!("use `every: \"{pace}\"`, or fewer minutes in `cron`"),
                })
        })
    }
}

impl std::fmt::Display for RefreshSchedule {
    /// Writes the schedule in a few words: `every 15m`, `cron 0 9 * * 1-5 Europe/Berlin, on change`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        match (&self.every, &self.cron, &self.time_zone) {
            (Some(every), _, _) => parts.push(format!("every {every}")),
            (None, Some(cron), Some(zone)) => parts.push(format!("cron {cron} {}", zone.name())),
            (None, Some(cron), None) => parts.push(format!("cron {cron}")),
            (None, None, _) => {}
        }
        if self.on_change {
            parts.push("on change".to_owned());
        }
        if let Some(max_age) = &self.max_age {
            parts.push(format!("stale after {max_age}"));
        }
        match self.missed {
            MissedSlots::Once => {}
            MissedSlots::Skip => parts.push("missed slots are skipped".to_owned()),
        }
        f.write_str(&parts.join(", "))
    }
}

/// Checks what the fields of a schedule say together.
fn check_schedule(
    schedule: RefreshSchedule,
    fields: &mut Fields<'_, '_>,
) -> Option<RefreshSchedule> {
    let RefreshSchedule { every, cron, time_zone, on_change, max_age, .. } = &schedule;
    let mut faults = Vec::new();
    if every.is_some() && cron.is_some() {
        let message = "`every` and `cron` both say when; a schedule has one of them";
        faults.push(
            Issue::new(fields.at("cron").as_str(), "conflict", message)
                .fix("leave out `every` for times of the clock, or `cron` for a steady pace"),
        );
    }
    if time_zone.is_some() && cron.is_none() {
        let message = "`timeZone` is the zone of `cron`, and there is no `cron`";
        faults.push(Issue::new(fields.at("timeZone").as_str(), "conflict", message).fix(
            "leave it out; for the zone that the page shows times in, set `document.timeZone`",
        ));
    }
    // A part that was refused has been told of already.
    let names = ["every", "cron", "onChange", "maxAge"];
    let is_silent = every.is_none() && cron.is_none() && !on_change && max_age.is_none();
    if is_silent && !names.iter().any(|name| fields.is_refused(name)) {
        let message = "the schedule says nothing of when to refresh";
        faults.push(
            Issue::new(fields.here().as_str(), "required", message)
                .want("`every`, `cron`, `onChange` or `maxAge`")
                .fix("{ \"every\": \"1h\" }"),
        );
    }
    let is_sound = faults.is_empty();
    fields.issues.extend(faults);
    is_sound.then_some(schedule)
}

/// Reads `every` and `maxAge`.
struct IntervalText;

impl Reader for IntervalText {
    type Value = Interval;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Interval> {
        let found = text(&limits::SCHEDULE_TEXT).read(value, at, issues)?;
        match found.parse() {
            Ok(interval) => Some(interval),
            Err(fault) => {
                issues.push(fault_issue(at, &found, &fault.message, Interval::WANT, fault.fix));
                None
            }
        }
    }

    fn schema(&self, description: &str) -> Value {
        schema_text(description, 2, &limits::SCHEDULE_TEXT)
    }
}

/// Reads `cron`.
struct CronText;

impl Reader for CronText {
    type Value = Cron;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Cron> {
        let found = text(&limits::SCHEDULE_TEXT).read(value, at, issues)?;
        match found.parse() {
            Ok(cron) => Some(cron),
            Err(fault) => {
                issues.push(fault_issue(at, &found, &fault.message, Cron::WANT, fault.fix));
                None
            }
        }
    }

    fn schema(&self, description: &str) -> Value {
        schema_text(description, 9, &limits::SCHEDULE_TEXT)
    }
}

fn fault_issue(
    at: &Pointer,
    got: &str,
    message: &str,
    want: &'static str,
    fix: Option<String>,
) -> Issue {
    let issue = Issue::new(at.as_str(), "malformed", message).got(got).want(want);
    match fix {
        Some(fix) => issue.fix(fix),
        None => issue,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::input::Input as _;

    #[track_caller]
    fn refused(value: &Value) -> Vec<Issue> {
        RefreshSchedule::read_whole(value).unwrap_err()
    }

    #[test]
    fn a_schedule_is_read_written_and_told_in_a_few_words() {
        let value = json!({ "cron": "0 9 * * 1-5", "timeZone": "Europe/Berlin", "onChange": true,
            "maxAge": "90m", "missed": "skip" });
        let (schedule, _) = RefreshSchedule::read_whole(&value).unwrap();
        assert_eq!(serde_json::to_value(&schedule).unwrap()["maxAge"], "1h30m");
        assert_eq!(
            schedule.to_string(),
            "cron 0 9 * * 1-5 Europe/Berlin, on change, stale after 1h30m, missed slots are skipped"
        );
        let stored = serde_json::to_value(&schedule).unwrap();
        assert_eq!(serde_json::from_value::<RefreshSchedule>(stored).unwrap(), schedule);
        let (plain, _) = RefreshSchedule::read_whole(&json!({ "every": "15m" })).unwrap();
        assert_eq!(
            serde_json::to_value(&plain).unwrap(),
            json!({ "every": "15m", "missed": "once" })
        );
    }

    #[test]
    fn every_refusal_names_the_place_and_the_text_to_write() {
        let cases = [
            (json!({ "every": "15" }), "/every", "15m"),
            (json!({ "every": "90s" }), "/every", "2m"),
            (json!({ "every": "15 minutes" }), "/every", "15m"),
            (
                json!({ "every": "15m", "timeZone": "Europe/Berln", "cron": "0 9 * * *" }),
                "/timeZone",
                "Europe/Berlin",
            ),
            (json!({ "cron": "9 * * *" }), "/cron", "9 * * * *"),
            (json!({ "cron": "0 9 * * MOM" }), "/cron", "0 9 * * MON"),
            (json!({ "cron": "0 25 * * *" }), "/cron", "0 23 * * *"),
            (json!({ "cron": "@daily" }), "/cron", "0 0 * * *"),
        ];
        for (value, path, fix) in cases {
            let issue = refused(&value).remove(0);
            assert_eq!((issue.path.as_str(), issue.fix.as_deref()), (path, Some(fix)), "{value}");
        }
        assert_eq!(refused(&json!({}))[0].code, "required");
        assert_eq!(refused(&json!({ "every": "1h", "cron": "0 9 * * *" }))[0].code, "conflict");
        assert_eq!(refused(&json!({ "every": "1h", "timeZone": "UTC" }))[0].code, "conflict");
        assert_eq!(
            refused(&json!({ "evry": "1h" }))[0].fix.as_deref(),
            Some("did you mean `every`?")
        );
    }

    #[test]
    fn the_pace_depends_on_how_far_the_sources_are() {
        let read = |value: Value| RefreshSchedule::read_whole(&value).unwrap().0;
        let minute = read(json!({ "every": "1m" }));
        assert_eq!(minute.check_pace(true), None);
        let issue = minute.check_pace(false).unwrap();
        assert_eq!((issue.path.as_str(), issue.fix.as_deref()), ("/every", Some("5m")));
        let cron = |text: &str| read(json!({ "cron": text }));
        assert!(cron("* * * * *").check_pace(false).is_some());
        assert!(cron("*/5 * * * *").check_pace(false).is_none());
        assert!(cron("0,58 * * * *").check_pace(false).is_some(), "58 and the next full hour");
        assert!(cron("0,58 9 * * *").check_pace(false).is_none(), "no hour after it");
        assert!(read(json!({ "onChange": true })).check_pace(false).is_none());
    }
}
