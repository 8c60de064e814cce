//! Whether a run is due: from the schedule, the records before, and the time.

use super::{MissedSlots, RefreshSchedule, Slots};
use crate::ids::{ArtifactId, Digest, RefreshId, Timestamp};
use crate::limits;
use crate::refresh::{RecordStep, RefreshRecord};
use crate::words::words;

/// The part of an artifact's records that decides when its next run is due.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RunsSoFar {
    /// The newest refresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<RefreshId>,
    /// The last refresh that began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_start: Option<StartedRun>,
    /// The failures since the last refresh that succeeded.
    #[serde(default)]
    pub failures: u32,
}

/// The beginning of a run.
#[derive(
    Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// When it began.
    pub at: Timestamp,
    /// The slot it ran for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Timestamp>,
}

impl RunsSoFar {
    /// Takes the next record of the log in.
    pub(crate) fn append(&mut self, record: &RefreshRecord) {
        if self.newest.as_ref().is_some_and(|newest| record.refresh_id < *newest) {
            // An old refresh that is closed late says nothing of the runs since.
            return;
        }
        self.newest = Some(record.refresh_id.clone());
        match (record.step, record.outcome()) {
            (RecordStep::Started, _) => {
                self.last_start = Some(StartedRun { at: record.at, slot: record.slot });
            }
            (RecordStep::Committed, _) => self.failures = 0,
            (RecordStep::Failed, Some(_)) => self.failures = self.failures.saturating_add(1),
            // What a person stopped has not failed.
            (RecordStep::Failed, None) | (RecordStep::Source, _) => {}
        }
    }
}

/// One slot that a run is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SlotRun {
    /// The slot.
    pub slot: Timestamp,
    /// The slots before it that nobody ran.
    pub missed: u64,
}

/// When a schedule wants its next run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Due {
    /// Now, for this slot.
    Now(SlotRun),
    /// Not before a time.
    Later(Timestamp, Hold),
    /// At no known time: a change or a person starts it.
    Open,
}

words! {
    /// What the next run waits for.
    Hold {
        /// The next slot.
        Slot = "slot",
        /// The end of the pause that follows failures.
        BackOff = "back_off",
    }
}

impl Due {
    /// Returns when the next run is due; a due one since its slot.
    #[must_use]
    pub const fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Now(run) => Some(run.slot),
            Self::Later(at, _) => Some(*at),
            Self::Open => None,
        }
    }
}

/// What people are told of the next run and of the age of what they see.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Eq,
    PartialEq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    /// When the next scheduled run is due; in the past if it is overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due: Option<Timestamp>,
    /// Since when the page is older than its `maxAge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_since: Option<Timestamp>,
    /// Why nothing newer is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_reason: Option<StaleReason>,
}

words! {
    /// Why a page is older than it should be.
    StaleReason {
        /// The last refresh failed, and the next attempt waits.
        RefreshFailed = "refresh_failed",
        /// It has a schedule that nobody switched on.
        ScheduleOff = "schedule_off",
        /// It has no schedule: somebody has to refresh it.
        NotScheduled = "not_scheduled",
        /// A run is due and nobody ran it: no daemon runs, and no `od refresh --due`.
        Overdue = "overdue",
        /// Its schedule runs less often than its `maxAge` asks for.
        SeldomScheduled = "seldom_scheduled",
    }
}

impl RefreshSchedule {
    /// Works out when the next run is due, of a schedule that was switched on at a time.
    ///
    /// A slot is over once any refresh has begun at or after it. A record of the future is believed if
    /// it is near: a clock that was set back a little must not run a slot twice, and one that was a
    /// year ahead must not stop the runs for a year.
    #[must_use]
    pub fn due(
        &self,
        since: Timestamp,
        runs: &RunsSoFar,
        artifact: &ArtifactId,
        now: Timestamp,
    ) -> Due {
        let Some(slots) = self.slots(since) else { return Due::Open };
        let Some(current) = slots.at_or_before(now) else { return Due::Open };
        let covered = covered_until(since, runs, now)
            .unwrap_or_else(|| Timestamp::from_unix_ms(current.unix_ms() - 1));
        let resume = resume_at(&slots, runs, artifact, now);
        let is_due = current > covered && resume.is_none_or(|resume| now >= resume);
        let is_in_time = match self.missed {
            MissedSlots::Once => true,
            MissedSlots::Skip => now.ms_since(current) <= punctual_ms(&slots, current),
        };
        if is_due && is_in_time {
            let missed = slots.count_between(covered, current);
            return Due::Now(SlotRun { slot: current, missed });
        }
        let next = match self.missed {
            MissedSlots::Once => slots.after(covered),
            MissedSlots::Skip => slots.after(covered.max(now)),
        };
        match (next, resume) {
            (Some(next), Some(resume)) if resume > next => {
                let at = match self.missed {
                    MissedSlots::Once => Some(resume),
                    // The slot before may still be in time then.
                    MissedSlots::Skip => match slots.at_or_before(resume) {
                        Some(slot) if resume.ms_since(slot) <= punctual_ms(&slots, slot) => {
                            Some(resume)
                        }
                        Some(_) | None => slots.after(resume),
                    },
                };
                at.map_or(Due::Open, |at| Due::Later(at, Hold::BackOff))
            }
            (Some(next), _) => Due::Later(next, Hold::Slot),
            (None, _) => Due::Open,
        }
    }

    /// Returns the next runs of a schedule that is switched on now, if none of them fails.
    #[must_use]
    pub fn next_runs(&self, since: Timestamp, now: Timestamp, count: usize) -> Vec<Timestamp> {
        let Some(slots) = self.slots(since) else { return Vec::new() };
        let mut at = now;
        let next = || {
            at = slots.after(at)?;
            Some(at)
        };
        std::iter::from_fn(next).take(count).collect()
    }
}

/// Returns the time up to which slots are over; none if every known time lies too far ahead.
fn covered_until(since: Timestamp, runs: &RunsSoFar, now: Timestamp) -> Option<Timestamp> {
    let horizon = now.plus_ms(limits::CLOCK_STEP.allowed);
    let start = runs.last_start.filter(|start| start.at <= horizon);
    let start = start.map(|start| start.slot.map_or(start.at, |slot| slot.max(start.at)));
    let since = Some(since).filter(|since| *since <= horizon);
    start.into_iter().chain(since).max()
}

/// Returns when the pause after failures ends: the pace doubles with each, up to a day, and is
/// shortened by up to a tenth, each artifact by its own share, so that they do not all come at once.
fn resume_at(
    slots: &Slots<'_>,
    runs: &RunsSoFar,
    artifact: &ArtifactId,
    now: Timestamp,
) -> Option<Timestamp> {
    let horizon = now.plus_ms(limits::CLOCK_STEP.allowed);
    let last = runs.last_start.filter(|start| runs.failures > 0 && start.at <= horizon)?;
    let pause = pace_ms(slots, last.at)
        .saturating_mul(1_u64.checked_shl(runs.failures).unwrap_or(u64::MAX))
        .min(limits::BACK_OFF.allowed);
    // By the id and not by chance: every process that looks works out the same moment.
    let share = share_of(artifact);
    Some(last.at.plus_ms(pause - pause / 10 * share / 1_000))
}

/// Returns the share of an artifact in what is spread: 0 to 999, the same at every call.
fn share_of(artifact: &ArtifactId) -> u64 {
    let digest = Digest::of_bytes(artifact.as_str().as_bytes()).to_string();
    let tail: String = digest.chars().rev().take(8).collect();
    u64::from_str_radix(&tail, 16).unwrap_or(0) % 1_000
}

/// Returns the time between the slots around a time.
fn pace_ms(slots: &Slots<'_>, at: Timestamp) -> u64 {
    match slots {
        Slots::Every { period_ms, .. } => *period_ms,
        Slots::Cron { .. } => match (slots.at_or_before(at), slots.after(at)) {
            (Some(before), Some(after)) => after.ms_since(before),
            _ => limits::BACK_OFF.allowed,
        },
    }
}

/// Returns how late a slot may be run by a schedule that skips missed ones.
fn punctual_ms(slots: &Slots<'_>, slot: Timestamp) -> u64 {
    // At least two ticks: a daemon that looks every tick must not be too late for its own slot.
    (pace_ms(slots, slot) / 2).clamp(2 * limits::SCHEDULE_TICK.allowed, limits::PUNCTUAL.allowed)
}

#[cfg(test)]
#[path = "due_tests.rs"]
mod tests;
