//! The timeline of an artifact: which revisions are kept, and how people name one.

use std::collections::BTreeSet;

use super::commit::CommitRecord;
use super::retention::kept_fairly;
use crate::ids::{Digest, ParseIdError, Revision, Timestamp};
use crate::limits::REVISIONS;

/// Returns the commits whose contents are kept, of all there are, newest first.
///
/// One who makes many revisions makes those of others go last. The state that the present one was restored from is kept beyond the bound: the label that says so
/// leads to it.
pub fn kept_commits(newest_first: &[CommitRecord]) -> impl Iterator<Item = &CommitRecord> {
    let pinned = newest_first.first().and_then(|newest| newest.restored_from);
    let fair = kept_fairly(newest_first, REVISIONS.max(), |commit| Some(&commit.actor));
    newest_first
        .iter()
        .zip(fair)
        .filter(move |(commit, is_kept)| *is_kept || Some(commit.revision) == pinned)
        .map(|(commit, _)| commit)
}

/// Returns the digests of every content that a kept revision names.
#[must_use]
pub fn kept_objects(newest_first: &[CommitRecord]) -> BTreeSet<&Digest> {
    kept_commits(newest_first).flat_map(|commit| commit.digests.objects()).collect()
}

/// A revision as people name it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RevisionName {
    /// By its number.
    Number(Revision),
    /// The present one.
    Current,
    /// The one before the present one.
    Previous,
    /// The oldest that is kept.
    First,
    /// The state of a day ago.
    Yesterday,
    /// The state of a week ago.
    WeekAgo,
    /// The state at a time; of a day, at its end in UTC.
    At(Timestamp),
}

const DAY_MS: i64 = 86_400_000;

impl RevisionName {
    /// The words that stand for revisions.
    pub const WORDS: [&'static str; 5] = ["current", "previous", "first", "yesterday", "week-ago"];

    /// Finds the commit that is meant among those that are kept, newest first.
    #[must_use]
    pub fn find<'c>(
        self,
        newest_first: &[&'c CommitRecord],
        now: Timestamp,
    ) -> Option<&'c CommitRecord> {
        let ago = |ms: i64| Timestamp::from_unix_ms(now.unix_ms().saturating_sub(ms));
        let at = |time: Timestamp| newest_first.iter().find(|commit| commit.at <= time).copied();
        match self {
            Self::Number(number) => {
                newest_first.iter().find(|commit| commit.revision == number).copied()
            }
            Self::Current => newest_first.first().copied(),
            Self::Previous => newest_first.get(1).copied(),
            Self::First => newest_first.last().copied(),
            Self::Yesterday => at(ago(DAY_MS)),
            Self::WeekAgo => at(ago(7 * DAY_MS)),
            Self::At(time) => at(time),
        }
    }
}

impl std::fmt::Display for RevisionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Current => f.write_str("current"),
            Self::Previous => f.write_str("previous"),
            Self::First => f.write_str("first"),
            Self::Yesterday => f.write_str("yesterday"),
            Self::WeekAgo => f.write_str("week-ago"),
            Self::At(time) => time.fmt(f),
        }
    }
}

impl std::str::FromStr for RevisionName {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let word = match text {
            "current" => Some(Self::Current),
            "previous" => Some(Self::Previous),
            "first" => Some(Self::First),
            "yesterday" => Some(Self::Yesterday),
            "week-ago" => Some(Self::WeekAgo),
            _ => None,
        };
        let number = || text.parse().ok().map(Self::Number);
        let day = || format!("{text}T23:59:59.999Z").parse().ok().map(Self::At);
        let time = || text.parse().ok().map(Self::At);
        word.or_else(number).or_else(time).or_else(day).ok_or(ParseIdError {
            what: "revision",
            want: "a number, current, previous, first, yesterday, week-ago, or a date such as 2026-04-30",
        })
    }
}

impl schemars::JsonSchema for RevisionName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RevisionName".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": 32,
            "pattern": "^([1-9][0-9]{0,15}|current|previous|first|yesterday|week-ago|[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z)?)$",
            "description": "a revision by its number, a word or a date",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit::{Actor, CommitKind, Door, RevisionDigests};
    use super::*;
    use crate::json::Map;

    fn commit(number: u64, ms: i64) -> CommitRecord {
        let digest = Digest::of_bytes(&number.to_le_bytes());
        CommitRecord {
            revision: number.try_into().unwrap(),
            kind: CommitKind::Update,
            at: Timestamp::from_unix_ms(ms),
            actor: Actor::Person,
            door: Door::Console,
            changed: Vec::new(),
            changes: None,
            restored_from: None,
            checks: Vec::new(),
            refresh_id: None,
            digests: RevisionDigests {
                template: digest.clone(),
                data: digest.clone(),
                provenance: digest.clone(),
                source: digest.clone(),
                data_content: digest,
            },
            prev: None,
            extra: Map::new(),
        }
    }

    #[test]
    fn the_newest_hundred_are_kept_and_what_was_restored() {
        let mut commits: Vec<CommitRecord> = (1..=120).rev().map(|n| commit(n, 0)).collect();
        let numbers = |commits: &[CommitRecord]| {
            kept_commits(commits).map(|kept| kept.revision.get()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&commits), (21..=120).rev().collect::<Vec<_>>());
        commits[0].restored_from = Some(7.try_into().unwrap());
        assert_eq!(numbers(&commits).last(), Some(&7));
        assert_eq!(kept_objects(&commits).len(), 101);
        assert_eq!(numbers(&commits[..3]), [120, 119, 118]);
    }

    #[test]
    fn an_agent_that_makes_a_thousand_revisions_pushes_out_none_of_anybody_else() {
        let by = |run: &str| Actor::Agent { run_id: run.parse().unwrap(), agent: None };
        let commits: Vec<CommitRecord> = (1..=1_000)
            .rev()
            .map(|n| CommitRecord {
                actor: match n {
                    1 | 5 => Actor::Person,
                    2..=4 => by("run-1"),
                    _ => by("run-2"),
                },
                ..commit(n, 0)
            })
            .collect();
        let kept: Vec<u64> = kept_commits(&commits).map(|kept| kept.revision.get()).collect();
        assert_eq!(kept.len(), 100);
        assert_eq!(kept[95..], [5, 4, 3, 2, 1]);
        assert_eq!(kept[..95], (906..=1_000).rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_revision_is_named_by_number_word_and_date() {
        let day =
            |text: &str| format!("{text}T12:00:00.000Z").parse::<Timestamp>().unwrap().unix_ms();
        let commits = [
            commit(9, day("2026-04-30")),
            commit(8, day("2026-04-28")),
            commit(3, day("2026-04-02")),
        ];
        let all: Vec<&CommitRecord> = commits.iter().collect();
        let now = "2026-04-30T13:00:00.000Z".parse().unwrap();
        let found = |name: &str| {
            name.parse::<RevisionName>().unwrap().find(&all, now).map(|found| found.revision.get())
        };
        for (name, number) in [
            ("8", Some(8)),
            ("4", None),
            ("current", Some(9)),
            ("previous", Some(8)),
            ("first", Some(3)),
            ("yesterday", Some(8)),
            ("week-ago", Some(3)),
            ("2026-04-28", Some(8)),
            ("2026-04-27", Some(3)),
            ("2026-04-01", None),
            ("2026-04-30T12:00:00.000Z", Some(9)),
            ("2026-04-30T11:59:59Z", Some(8)),
        ] {
            assert_eq!(found(name), number, "{name}");
        }
        for wrong in ["", "0", "last", "-1", "2026-13-01", "2026-04-30 ", "Previous"] {
            assert!(wrong.parse::<RevisionName>().is_err(), "{wrong}");
        }
    }
}
