//! Idempotent creates: what an attempt of the same name made before.

use crate::artifact::Attempt;
use crate::ids::AttemptId;

/// The maker of an artifact, as far as its metadata can be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Maker {
    /// A create that named its attempt.
    Attempt(Attempt),
    /// A create without one.
    Unnamed,
    /// Nobody can tell: the metadata cannot be read now.
    Unreadable,
}

impl Maker {
    /// Returns the maker of an artifact whose metadata was read.
    #[must_use]
    pub fn known(created_by_attempt: Option<Attempt>) -> Self {
        created_by_attempt.map_or(Self::Unnamed, Self::Attempt)
    }
}

/// The artifact that an attempt made before, if it made one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EarlierAttempt<A> {
    /// Nothing: it may create.
    Nothing,
    /// This artifact, from the same request: it is the answer.
    SameRequest(A),
    /// This artifact, from another request: the name is taken.
    OtherRequest(A),
    /// This artifact, which is in the trash: a second one would be one too many once it comes back.
    Trashed(A),
    /// Perhaps this artifact, which cannot be read: a second one is worse than none.
    Unreadable(A),
}

/// Finds out what an attempt made before, among the artifacts of its project and in the project's trash.
///
/// A store hands in the trash as a function, because most attempts are settled without it.
///
/// # Errors
///
/// Fails as `trashed` does.
pub fn find_earlier<A, E, T: IntoIterator<Item = (A, AttemptId)>>(
    attempt: &Attempt,
    artifacts: impl IntoIterator<Item = (A, Maker)>,
    trashed: impl FnOnce() -> Result<T, E>,
) -> Result<EarlierAttempt<A>, E> {
    let mut unreadable = None;
    for (artifact, maker) in artifacts {
        match maker {
            Maker::Attempt(found) if found == *attempt => {
                return Ok(EarlierAttempt::SameRequest(artifact));
            }
            Maker::Attempt(found) if found.id == attempt.id => {
                return Ok(EarlierAttempt::OtherRequest(artifact));
            }
            Maker::Attempt(_) | Maker::Unnamed => {}
            Maker::Unreadable => unreadable = Some(artifact),
        }
    }
    if let Some(artifact) = unreadable {
        return Ok(EarlierAttempt::Unreadable(artifact));
    }
    let found = trashed()?.into_iter().find(|(_, made_by)| *made_by == attempt.id);
    Ok(found.map_or(EarlierAttempt::Nothing, |(artifact, _)| EarlierAttempt::Trashed(artifact)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::Digest;

    fn attempt(id: u8, body: u8) -> Attempt {
        Attempt {
            id: format!("try-{id}").parse().expect("an attempt id"),
            digest: Digest::of_bytes(&[body]),
        }
    }

    fn makers() -> impl Strategy<Value = Vec<Maker>> {
        let maker = prop_oneof![
            (0_u8..4, 0_u8..2).prop_map(|(id, body)| Maker::Attempt(attempt(id, body))),
            Just(Maker::Unnamed),
            Just(Maker::Unreadable),
        ];
        prop::collection::vec(maker, 0..8)
    }

    fn find(made: &[Maker], trashed: &[u8]) -> EarlierAttempt<usize> {
        let trash = || {
            let ids = trashed.iter().map(|id| attempt(*id, 0).id);
            Ok::<_, Infallible>(ids.enumerate().collect::<Vec<_>>())
        };
        let Ok(found) = find_earlier(&attempt(0, 0), made.iter().cloned().enumerate(), trash);
        found
    }

    proptest! {
        #[test]
        fn an_attempt_creates_only_where_nothing_can_be_its_own(
            made in makers(),
            trashed in prop::collection::vec(0_u8..4, 0..4),
        ) {
            let named = |maker: &Maker| {
                matches!(maker, Maker::Attempt(found) if found.id == attempt(0, 0).id)
            };
            let may_be_ours = made.iter().any(|maker| named(maker) || *maker == Maker::Unreadable)
                || trashed.contains(&0);
            let found = find(&made, &trashed);
            prop_assert_eq!(found == EarlierAttempt::Nothing, !may_be_ours);
            match found {
                EarlierAttempt::SameRequest(at) => {
                    prop_assert_eq!(&made[at], &Maker::Attempt(attempt(0, 0)));
                }
                EarlierAttempt::OtherRequest(at) => {
                    prop_assert!(named(&made[at]));
                    prop_assert_ne!(&made[at], &Maker::Attempt(attempt(0, 0)));
                }
                EarlierAttempt::Unreadable(at) => {
                    prop_assert_eq!(&made[at], &Maker::Unreadable);
                    prop_assert!(!made.iter().any(named), "what is known comes before what is not");
                }
                EarlierAttempt::Trashed(at) => prop_assert_eq!(trashed[at], 0),
                EarlierAttempt::Nothing => {}
            }
        }
    }

    #[test]
    fn the_trash_is_not_read_for_what_is_known_without_it() {
        let made = [(1, Maker::Attempt(attempt(0, 1)))];
        let unread = || Err::<Vec<(i32, AttemptId)>, &str>("the trash was read");
        assert_eq!(find_earlier(&attempt(0, 0), made, unread), Ok(EarlierAttempt::OtherRequest(1)));
    }
}
