//! The numbers of revisions, and the rule that decides between two writers.

use crate::ids::Revision;

/// Returns the revision of the next commit: one more than the newest there is a trace of.
///
/// A sound artifact has one trace, its pointer. A repair finds several, and the highest counts even if
/// nothing of it can be read: a number that was acknowledged once never stands for other content.
#[must_use]
pub fn next_revision(traces: impl IntoIterator<Item = Revision>) -> Revision {
    traces.into_iter().max().map_or_else(Revision::first, Revision::next)
}

/// A change was made for another revision than the one that is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the artifact is at revision {actual}, not {expected}")]
pub struct RevisionConflict {
    /// The revision the change was made for.
    pub expected: Revision,
    /// The one that is there.
    pub actual: Revision,
}

/// Checks that nobody has committed since a change was computed.
///
/// # Errors
///
/// Fails for any revision but the present one: a later one cannot have been seen yet, so whoever names
/// it is as wrong as whoever names an earlier one.
pub fn check_revision(expected: Revision, actual: Revision) -> Result<(), RevisionConflict> {
    if expected == actual { Ok(()) } else { Err(RevisionConflict { expected, actual }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn revision(number: u64) -> Revision {
        Revision::try_from(number).expect("a revision")
    }

    proptest! {
        #[test]
        fn the_next_revision_is_above_every_trace(numbers in prop::collection::vec(1_u64..1 << 50, 0..20)) {
            let traces: Vec<Revision> = numbers.iter().copied().map(revision).collect();
            let next = next_revision(traces.iter().copied());
            prop_assert!(traces.iter().all(|trace| *trace < next));
            prop_assert_eq!(next.get(), numbers.iter().max().map_or(1, |most| most + 1));
        }

        #[test]
        fn of_two_changes_for_one_revision_the_second_is_refused(number in 1_u64..1 << 50) {
            let seen = revision(number);
            prop_assert_eq!(check_revision(seen, seen), Ok(()));
            let actual = next_revision([seen]);
            prop_assert_eq!(
                check_revision(seen, actual),
                Err(RevisionConflict { expected: seen, actual })
            );
        }
    }
}
