//! The records of an artifact's refreshes, folded: numbers, fencing, status.

use super::commit::Actor;
use crate::artifact::RefreshStatus;
use crate::ids::{RefreshId, Timestamp};
use crate::refresh::{RecordStatus, RecordStep, RefreshRecord, StartedRefresh};
use crate::schedule::{RunsSoFar, SlotRun, Trigger};

/// The refreshes of one artifact, folded from their records in constant space.
///
/// Folds every record in the order of the log. Ids only rise, so the newest is also the only one that
/// may take a step or commit; an older one may only be closed.
#[derive(Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshLedger {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<RefreshId>,
    /// Refreshes that have begun and have no last record, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open: Vec<StartedRefresh>,
    /// How the newest refresh that is over and was not cancelled ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<RefreshStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_refreshed_at: Option<Timestamp>,
    #[serde(default)]
    runs: RunsSoFar,
}

/// The beginning of a refresh: why and when it begins, and what its starter has seen of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefreshStart {
    /// When it begins.
    pub at: Timestamp,
    /// What starts it.
    pub trigger: Trigger,
    /// Who asks for it, if that is known.
    pub actor: Option<Actor>,
    /// The slot of the schedule that it is for.
    pub slot: Option<SlotRun>,
    /// The newest refresh that the starter knows of, if it goes by that.
    pub if_newest: IfNewest,
}

/// The condition of a refresh on the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum IfNewest {
    /// It begins whatever the log says.
    Whatever,
    /// It begins if this is still the newest refresh; nobody's, if there was none.
    Is(Option<RefreshId>),
}

/// Another refresh has begun since the log was read that a slot was worked out from.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("another refresh has begun since the slot was worked out")]
pub struct RefreshOvertaken {
    /// The newest one.
    pub newest: Option<RefreshId>,
}

impl RefreshStart {
    /// Returns a start by hand.
    #[must_use]
    pub const fn manual(at: Timestamp) -> Self {
        let (trigger, if_newest) = (Trigger::Manual, IfNewest::Whatever);
        Self { at, trigger, actor: None, slot: None, if_newest }
    }

    /// Says who asks for it.
    #[must_use]
    pub fn by(self, actor: Actor) -> Self {
        Self { actor: Some(actor), ..self }
    }

    /// Returns the first record of the refresh under its id.
    #[must_use]
    pub fn record(&self, refresh: RefreshId) -> RefreshRecord {
        RefreshRecord {
            trigger: Some(self.trigger),
            actor: self.actor.clone(),
            slot: self.slot.map(|run| run.slot),
            missed: self.slot.map(|run| run.missed).filter(|missed| *missed > 0),
            ..RefreshRecord::new(refresh, RecordStep::Started, RecordStatus::Running, self.at)
        }
    }
}

/// Whether somebody holds an artifact's running lock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunningLockState {
    /// Somebody does: the newest refresh runs.
    Held,
    /// Nobody does: a refresh without a last record is abandoned.
    Free,
}

/// A refresh may not write: it has its last record, or never began, or a newer one has begun.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("refresh `{refresh}` is closed")]
pub struct RefreshClosed {
    /// The refresh.
    pub refresh: RefreshId,
}

impl RefreshLedger {
    /// Takes the next record of the log in.
    pub fn append(&mut self, record: &RefreshRecord) {
        self.runs.append(record);
        let id = &record.refresh_id;
        let is_newest = self.newest.as_ref().is_none_or(|newest| newest <= id);
        if is_newest {
            self.newest = Some(id.clone());
        }
        if !record.step.is_last() {
            if !self.is_open(id) {
                self.open.push(StartedRefresh { refresh_id: id.clone(), started_at: record.at });
            }
            return;
        }
        self.open.retain(|begun| begun.refresh_id != *id);
        // Closing an old one late says nothing of how the artifact's refreshes stand.
        if !is_newest {
            return;
        }
        // A cancelled refresh leaves the status as it was: what a person stopped has not failed.
        self.status = record.outcome().or(self.status);
        if record.status.is_success() {
            self.last_refreshed_at = Some(record.at);
        }
    }

    /// Returns the newest refresh id, if there is any.
    #[must_use]
    pub const fn newest(&self) -> Option<&RefreshId> {
        self.newest.as_ref()
    }

    /// Returns what the records say of the runs so far.
    #[must_use]
    pub const fn runs(&self) -> &RunsSoFar {
        &self.runs
    }

    /// Checks that a refresh may begin as its starter wants it: whoever worked out a slot from an older
    /// log is refused, so that a slot runs once.
    ///
    /// # Errors
    ///
    /// Fails if another refresh has begun since.
    pub fn admit_start(&self, start: &RefreshStart) -> Result<(), RefreshOvertaken> {
        match &start.if_newest {
            IfNewest::Whatever => Ok(()),
            IfNewest::Is(known) if *known == self.newest => Ok(()),
            IfNewest::Is(_) => Err(RefreshOvertaken { newest: self.newest.clone() }),
        }
    }

    /// Returns every refresh that has begun and has no last record, oldest first.
    #[must_use]
    pub fn open(&self) -> &[StartedRefresh] {
        &self.open
    }

    /// Returns whether a refresh has begun and has no last record.
    #[must_use]
    pub fn is_open(&self, refresh: &RefreshId) -> bool {
        self.open.iter().any(|begun| begun.refresh_id == *refresh)
    }

    /// Returns whether a refresh is over. Ids only rise, so one before the newest has begun too.
    #[must_use]
    pub fn has_ended(&self, refresh: &RefreshId) -> bool {
        self.newest.as_ref().is_some_and(|newest| refresh <= newest) && !self.is_open(refresh)
    }

    /// Returns the newest refresh if it is open.
    #[must_use]
    pub fn running(&self) -> Option<&StartedRefresh> {
        self.open.last().filter(|begun| Some(&begun.refresh_id) == self.newest.as_ref())
    }

    /// Returns every open refresh, and whether the running lock is its own: only the newest can hold it.
    pub fn unfinished(
        &self,
        lock: RunningLockState,
    ) -> impl Iterator<Item = (&StartedRefresh, bool)> {
        self.open.iter().map(move |begun| {
            let is_newest = Some(&begun.refresh_id) == self.newest.as_ref();
            (begun, is_newest && lock == RunningLockState::Held)
        })
    }

    /// Returns the status to serve; `committed` is what the artifact's own commit says, for where the
    /// records say nothing.
    #[must_use]
    pub fn refresh_status(
        &self,
        committed: RefreshStatus,
        lock: RunningLockState,
    ) -> RefreshStatus {
        match (self.running(), lock) {
            (Some(_), RunningLockState::Held) => RefreshStatus::Running,
            // Whoever ran it is gone.
            (Some(_), RunningLockState::Free) => RefreshStatus::Failed,
            (None, RunningLockState::Held | RunningLockState::Free) => {
                self.status.unwrap_or(committed)
            }
        }
    }

    /// Returns when a refresh last succeeded; `committed` as for [`Self::refresh_status`].
    #[must_use]
    pub fn last_refreshed_at(&self, committed: Option<Timestamp>) -> Option<Timestamp> {
        self.last_refreshed_at.or(committed)
    }

    /// Returns the id of the next refresh: one more than any there is a trace of, in the records or
    /// elsewhere.
    ///
    /// Records may have been rotated away or cut off as damaged; pointer and snapshots still know an id
    /// then, and no id is ever given twice.
    #[must_use]
    pub fn next_id<'a>(&'a self, traces: impl IntoIterator<Item = &'a RefreshId>) -> RefreshId {
        let newest = self.newest.iter().chain(traces).map(RefreshId::number).max();
        RefreshId::from_number(newest.unwrap_or(0) + 1)
    }

    /// Checks that a record may be appended: a step by the newest refresh while it is open, or the last
    /// record of any that is, since whoever finds one abandoned closes it.
    ///
    /// # Errors
    ///
    /// Fails for every other record: the fence behind which a paused holder finds itself.
    pub fn admit_record(&self, record: &RefreshRecord) -> Result<(), RefreshClosed> {
        let refresh = &record.refresh_id;
        let is_turn = record.step.is_last() || self.newest.as_ref() == Some(refresh);
        if is_turn && self.is_open(refresh) { Ok(()) } else { Err(closed(refresh)) }
    }

    /// Checks that a refresh may commit: it is the newest, open, and newer than the last one that
    /// committed, whose record may not have reached the log yet.
    ///
    /// # Errors
    ///
    /// Fails for every other refresh.
    pub fn admit_commit(
        &self,
        refresh: &RefreshId,
        last_committed: Option<&RefreshId>,
    ) -> Result<(), RefreshClosed> {
        let is_newer = last_committed.is_none_or(|committed| committed < refresh);
        let is_newest = self.newest.as_ref() == Some(refresh);
        if is_newer && is_newest && self.is_open(refresh) { Ok(()) } else { Err(closed(refresh)) }
    }
}

fn closed(refresh: &RefreshId) -> RefreshClosed {
    RefreshClosed { refresh: refresh.clone() }
}

/// Returns whether a record is synced before it is acknowledged. One between the first and the last of a
/// refresh is not: nothing depends on it until the last one, which takes it along.
#[must_use]
pub const fn is_synced_at_once(step: RecordStep) -> bool {
    match step {
        RecordStep::Started | RecordStep::Committed | RecordStep::Failed => true,
        RecordStep::Source => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::refresh::RecordStatus;

    const FREE: RunningLockState = RunningLockState::Free;

    fn record(number: u64, status: RecordStatus, ms: i64) -> RefreshRecord {
        let step = match status {
            RecordStatus::Running => RecordStep::Started,
            RecordStatus::Succeeded
            | RecordStatus::SucceededPartially
            | RecordStatus::Failed
            | RecordStatus::Cancelled
            | RecordStatus::TimedOut
            | RecordStatus::Abandoned => RecordStep::last(status),
        };
        let at = Timestamp::from_unix_ms(ms);
        RefreshRecord::new(RefreshId::from_number(number), step, status, at)
    }

    fn status_of(ledger: &RefreshLedger) -> RefreshStatus {
        ledger.refresh_status(RefreshStatus::Idle, FREE)
    }

    #[test]
    fn a_cancelled_refresh_leaves_the_status_as_it_was() {
        let mut ledger = RefreshLedger::default();
        ledger.append(&record(1, RecordStatus::Running, 0));
        ledger.append(&record(1, RecordStatus::Cancelled, 10));
        assert_eq!(status_of(&ledger), RefreshStatus::Idle, "nothing has failed or succeeded");
        for (number, ends, status) in [
            (2, RecordStatus::Succeeded, RefreshStatus::Succeeded),
            (4, RecordStatus::TimedOut, RefreshStatus::Failed),
        ] {
            ledger.append(&record(number, ends, 20));
            ledger.append(&record(number + 1, RecordStatus::Cancelled, 30));
            assert_eq!(status_of(&ledger), status);
            assert!(ledger.has_ended(&RefreshId::from_number(number + 1)));
        }
    }

    #[test]
    fn an_old_refresh_that_is_closed_late_changes_nothing_but_itself() {
        let mut ledger = RefreshLedger::default();
        for (number, status, ms) in [
            (1, RecordStatus::Running, 0),
            (2, RecordStatus::Running, 10),
            (2, RecordStatus::Succeeded, 20),
        ] {
            ledger.append(&record(number, status, ms));
        }
        assert_eq!(ledger.open().len(), 1);
        assert_eq!(ledger.running(), None, "the newest is over");
        assert!(ledger.has_ended(&RefreshId::from_number(2)));
        assert!(!ledger.has_ended(&RefreshId::from_number(1)));
        let before = ledger.clone();
        ledger.append(&record(1, RecordStatus::Abandoned, 30));
        assert_eq!(status_of(&ledger), status_of(&before));
        assert_eq!(ledger.last_refreshed_at(None), before.last_refreshed_at(None));
        assert!(ledger.open().is_empty());
        assert!(!ledger.has_ended(&RefreshId::from_number(3)), "what never began has not ended");
    }

    #[test]
    fn a_commit_that_the_log_does_not_know_yet_is_not_made_again_or_overtaken() {
        let mut ledger = RefreshLedger::default();
        ledger.append(&record(2, RecordStatus::Running, 0));
        let admitted = |committed: Option<u64>| {
            let committed = committed.map(RefreshId::from_number);
            ledger.admit_commit(&RefreshId::from_number(2), committed.as_ref()).is_ok()
        };
        assert_eq!([None, Some(1), Some(2), Some(3)].map(admitted), [true, true, false, false]);
    }

    #[test]
    fn ids_that_only_pointer_or_snapshots_know_are_not_given_again() {
        let mut ledger = RefreshLedger::default();
        assert_eq!(ledger.next_id([]), RefreshId::from_number(1));
        ledger.append(&record(2, RecordStatus::Running, 0));
        assert_eq!(ledger.next_id([&RefreshId::from_number(1)]), RefreshId::from_number(3));
        assert_eq!(ledger.next_id([&RefreshId::from_number(9)]), RefreshId::from_number(10));
    }

    /// What a holder may try: begin, take a step, commit, or end in another way, for any refresh.
    #[derive(Clone, Debug)]
    enum Try {
        Begin,
        Step(u64),
        Commit(u64),
        End(u64, RecordStatus),
    }

    fn tries() -> impl Strategy<Value = Vec<Try>> {
        let ends = [
            RecordStatus::Failed,
            RecordStatus::Cancelled,
            RecordStatus::TimedOut,
            RecordStatus::Abandoned,
        ];
        let one = prop_oneof![
            Just(Try::Begin),
            (1_u64..8).prop_map(Try::Step),
            (1_u64..8).prop_map(Try::Commit),
            (1_u64..8, prop::sample::select(ends.to_vec())).prop_map(|(id, end)| Try::End(id, end)),
        ];
        prop::collection::vec(one, 0..40)
    }

    /// Plays what several holders try, as a store would, and returns the records that were admitted.
    fn play(tries: &[Try]) -> (RefreshLedger, Vec<RefreshRecord>) {
        let mut ledger = RefreshLedger::default();
        let mut records = Vec::new();
        let mut committed: Option<RefreshId> = None;
        for (ms, one) in tries.iter().enumerate() {
            let at = Timestamp::from_unix_ms(ms as i64);
            let make = |number: u64, step, status| {
                RefreshRecord::new(RefreshId::from_number(number), step, status, at)
            };
            let (record, admitted) = match *one {
                Try::Begin => {
                    let number = ledger.next_id(committed.as_ref()).number();
                    (make(number, RecordStep::Started, RecordStatus::Running), true)
                }
                Try::Step(number) => {
                    let record = make(number, RecordStep::Source, RecordStatus::Succeeded);
                    let admitted = ledger.admit_record(&record).is_ok();
                    (record, admitted)
                }
                Try::Commit(number) => {
                    let record = make(number, RecordStep::Committed, RecordStatus::Succeeded);
                    let admitted =
                        ledger.admit_commit(&record.refresh_id, committed.as_ref()).is_ok();
                    if admitted {
                        committed = Some(record.refresh_id.clone());
                    }
                    (record, admitted)
                }
                Try::End(number, status) => {
                    let record = make(number, RecordStep::Failed, status);
                    let admitted = ledger.admit_record(&record).is_ok();
                    (record, admitted)
                }
            };
            if admitted {
                ledger.append(&record);
                records.push(record);
            }
        }
        (ledger, records)
    }

    proptest! {
        #[test]
        fn every_refresh_begins_once_ends_once_and_writes_nothing_after(tries in tries()) {
            let (_, records) = play(&tries);
            for (at, record) in records.iter().enumerate() {
                let (before, after) = (&records[..at], &records[at + 1..]);
                let same = |other: &&RefreshRecord| other.refresh_id == record.refresh_id;
                if record.step == RecordStep::Started {
                    prop_assert!(
                        before.iter().all(|other| other.refresh_id < record.refresh_id),
                        "ids rise"
                    );
                } else {
                    prop_assert!(before.iter().find(same).is_some(), "it had begun");
                }
                if record.step.is_last() {
                    prop_assert!(after.iter().find(same).is_none(), "nothing after the last record");
                }
            }
        }

        #[test]
        fn a_refresh_takes_no_step_and_commits_nothing_once_a_newer_one_has_begun(tries in tries()) {
            let (_, records) = play(&tries);
            let mut newest = 0;
            for record in &records {
                let number = record.refresh_id.number();
                let closes = record.step == RecordStep::Failed;
                prop_assert!(closes || number >= newest, "{record:?}");
                newest = newest.max(number);
            }
        }

        #[test]
        fn the_status_is_that_of_the_newest_refresh_that_ended_by_itself(tries in tries()) {
            let (ledger, records) = play(&tries);
            // Said once more, without a fold: as each record stood when it was the newest.
            let mut expected = None;
            let mut refreshed_at = None;
            for (at, record) in records.iter().enumerate() {
                let newest = records[..=at].iter().map(|record| &record.refresh_id).max();
                if newest != Some(&record.refresh_id) {
                    continue;
                }
                match (record.step, record.status) {
                    (RecordStep::Committed, _) => {
                        expected = Some(RefreshStatus::Succeeded);
                        refreshed_at = Some(record.at);
                    }
                    (RecordStep::Failed, RecordStatus::Cancelled) => {}
                    (RecordStep::Failed, _) => expected = Some(RefreshStatus::Failed),
                    (RecordStep::Started | RecordStep::Source, _) => {}
                }
            }
            let committed = RefreshStatus::Idle;
            match ledger.running() {
                Some(_) => {
                    let held = RunningLockState::Held;
                    prop_assert_eq!(ledger.refresh_status(committed, held), RefreshStatus::Running);
                    prop_assert_eq!(ledger.refresh_status(committed, FREE), RefreshStatus::Failed);
                }
                None => prop_assert_eq!(status_of(&ledger), expected.unwrap_or(committed)),
            }
            prop_assert_eq!(ledger.last_refreshed_at(None), refreshed_at);
        }

        #[test]
        fn what_is_open_is_what_began_and_has_no_last_record(tries in tries()) {
            let (ledger, records) = play(&tries);
            let ended: Vec<u64> = records
                .iter()
                .filter(|record| record.step.is_last())
                .map(|record| record.refresh_id.number())
                .collect();
            let open: Vec<u64> = records
                .iter()
                .filter(|record| record.step == RecordStep::Started)
                .map(|record| record.refresh_id.number())
                .filter(|number| !ended.contains(number))
                .collect();
            let found: Vec<u64> =
                ledger.open().iter().map(|begun| begun.refresh_id.number()).collect();
            prop_assert_eq!(&found, &open);
            let held: Vec<bool> =
                ledger.unfinished(RunningLockState::Held).map(|(_, held)| held).collect();
            prop_assert!(held.iter().rev().skip(1).all(|held| !held), "only the newest holds it");
            prop_assert_eq!(held.last().copied().unwrap_or(false), ledger.running().is_some());
        }
    }
}
