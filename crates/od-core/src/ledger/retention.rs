//! Retention: how long the trash, snapshots, files kept aside and logs stay. The figures stand in the
//! table of limits.

use std::collections::HashMap;

use super::commit::Actor;
use super::refreshes::RefreshLedger;
use crate::ids::{RefreshId, RunId, Timestamp};
use crate::limits::{ASIDE_FILES, AUDIT_LOG, SNAPSHOTS, TRASH_RETENTION};

/// Returns when a deleted artifact is gone for good.
#[must_use]
pub fn trash_expires_at(deleted_at: Timestamp) -> Timestamp {
    deleted_at.plus_ms(TRASH_RETENTION.allowed)
}

/// Returns whether a deleted artifact may be removed for good.
#[must_use]
pub fn is_trash_expired(deleted_at: Timestamp, now: Timestamp) -> bool {
    now > trash_expires_at(deleted_at)
}

/// Returns the snapshots to drop, of all there are, newest first. The newest is never among them.
#[must_use]
pub fn excess_snapshots(newest_first: &[RefreshId]) -> &[RefreshId] {
    newest_first.get(SNAPSHOTS.max()..).unwrap_or_default()
}

/// Returns the files kept aside that are to be dropped, of all there are, oldest first.
#[must_use]
pub fn excess_aside_files<T>(oldest_first: &[T]) -> &[T] {
    let excess = oldest_first.len().saturating_sub(ASIDE_FILES.max());
    oldest_first.get(..excess).unwrap_or_default()
}

/// Returns whether the log of an artifact is to go on in a new file.
///
/// Not while a refresh is open: when it ends it must find its own beginning, and one rotated file is
/// all that is kept.
#[must_use]
pub fn needs_rotation(log_bytes: u64, ledger: &RefreshLedger) -> bool {
    log_bytes >= AUDIT_LOG.allowed && ledger.open().is_empty()
}

/// Whose history a record is; what nobody is known to have asked for is of nobody.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Owner<'a> {
    Nobody,
    Person,
    Schedule,
    Run(&'a RunId),
}

impl<'a> Owner<'a> {
    fn of(actor: Option<&'a Actor>) -> Self {
        match actor {
            None => Self::Nobody,
            Some(Actor::Person) => Self::Person,
            Some(Actor::Schedule) => Self::Schedule,
            Some(Actor::Agent { run_id, .. }) => Self::Run(run_id),
        }
    }
}

/// Returns which records stay where there is room for `max` of them, newest first.
///
/// Whoever has most gives way first, with the oldest: an agent that refreshes ten times a second pushes
/// out its own records and nobody else's.
#[must_use]
pub fn kept_fairly<T>(
    newest_first: &[T],
    max: usize,
    actor: impl Fn(&T) -> Option<&Actor>,
) -> Vec<bool> {
    if newest_first.len() <= max {
        return vec![true; newest_first.len()];
    }
    let mut counts: HashMap<Owner<'_>, usize> = HashMap::new();
    for record in newest_first {
        *counts.entry(Owner::of(actor(record))).or_default() += 1;
    }
    // The share that everybody can have in full.
    let kept_with = |share: usize| counts.values().map(|count| (*count).min(share)).sum::<usize>();
    let share = (1..=max).take_while(|share| kept_with(*share) <= max).last().unwrap_or(0);
    let mut left = max - kept_with(share);
    let mut taken: HashMap<Owner<'_>, usize> = HashMap::new();
    let mut keep = |record| {
        let taken = taken.entry(Owner::of(actor(record))).or_default();
        *taken += 1;
        // One more each of the newest, as far as what is left goes.
        let is_next = *taken == share + 1 && left > 0;
        left -= usize::from(is_next);
        *taken <= share || is_next
    };
    newest_first.iter().map(&mut keep).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::refresh::{RecordStatus, RecordStep, RefreshRecord};

    proptest! {
        #[test]
        fn snapshots_are_bounded_and_the_newest_stay(count in 0_usize..250) {
            let ids: Vec<RefreshId> =
                (1..=count as u64).rev().map(RefreshId::from_number).collect();
            let excess = excess_snapshots(&ids);
            prop_assert!(ids.len() - excess.len() <= SNAPSHOTS.max());
            prop_assert_eq!(excess.is_empty(), count <= SNAPSHOTS.max());
            prop_assert!(excess.iter().all(|id| id.number() <= (count - SNAPSHOTS.max()) as u64));
            let files: Vec<usize> = (0..count).collect();
            let excess = excess_aside_files(&files);
            prop_assert_eq!(files.len() - excess.len(), count.min(ASIDE_FILES.max()));
            prop_assert!(excess.iter().all(|number| *number < count - ASIDE_FILES.max()));
        }

        #[test]
        fn trash_stays_for_its_time_and_no_longer(at in 0_i64..1 << 45, passed in 0_u64..1 << 40) {
            let deleted_at = Timestamp::from_unix_ms(at);
            let expired = is_trash_expired(deleted_at, deleted_at.plus_ms(passed));
            prop_assert_eq!(expired, passed > TRASH_RETENTION.allowed);
            prop_assert!(!is_trash_expired(deleted_at, Timestamp::from_unix_ms(at - 1)), "a clock set back");
        }
    }

    /// Drawn times are hardly ever this near to the end of it.
    #[test]
    fn trash_is_there_until_its_last_millisecond() {
        let deleted_at = Timestamp::from_unix_ms(1_777_000_000_000);
        let expired_after = |ms| is_trash_expired(deleted_at, deleted_at.plus_ms(ms));
        let kept = TRASH_RETENTION.allowed;
        assert_eq!(
            [0, 1, kept / 2, kept, kept + 1].map(expired_after),
            [false, false, false, false, true]
        );
    }

    proptest! {
        #[test]
        fn nobody_pushes_out_the_records_of_one_who_has_fewer(
            owners in proptest::collection::vec(0_u8..5, 0..120),
            max in 1_usize..40,
        ) {
            let actors: Vec<Option<Actor>> = owners
                .iter()
                .map(|owner| match owner {
                    0 => None,
                    1 => Some(Actor::Person),
                    2 => Some(Actor::Schedule),
                    run => {
                        let run_id = format!("run-{run}").parse().unwrap();
                        Some(Actor::Agent { run_id, agent: None })
                    }
                })
                .collect();
            let kept = kept_fairly(&actors, max, Option::as_ref);
            prop_assert_eq!(kept.len(), actors.len());
            let count = kept.iter().filter(|kept| **kept).count();
            prop_assert_eq!(count, actors.len().min(max), "the room is used");
            prop_assert!(kept.first().copied().unwrap_or(true), "the newest stays");
            let of = |owner: u8, wanted: bool| {
                owners.iter().zip(&kept).filter(|(it, kept)| **it == owner && **kept == wanted).count()
            };
            for one in 0..5 {
                for other in (0..5).filter(|_| of(one, false) > 0) {
                    prop_assert!(of(other, true) <= of(one, true) + 1, "{one} lost for {other}");
                }
                let own: Vec<bool> =
                    owners.iter().zip(&kept).filter(|(it, _)| **it == one).map(|(_, kept)| *kept).collect();
                prop_assert!(own.is_sorted_by(|a, b| a >= b), "the oldest go first");
            }
        }
    }

    #[test]
    fn a_log_is_not_rotated_while_a_refresh_is_open() {
        let (id, at) = (RefreshId::from_number(1), Timestamp::from_unix_ms(0));
        let mut ledger = RefreshLedger::default();
        assert!(!needs_rotation(AUDIT_LOG.allowed - 1, &ledger));
        assert!(needs_rotation(AUDIT_LOG.allowed, &ledger));
        let record = |step, status| RefreshRecord::new(id.clone(), step, status, at);
        ledger.append(&record(RecordStep::Started, RecordStatus::Running));
        assert!(!needs_rotation(AUDIT_LOG.allowed, &ledger));
        ledger.append(&record(RecordStep::Failed, RecordStatus::Abandoned));
        assert!(needs_rotation(AUDIT_LOG.allowed, &ledger));
    }
}
