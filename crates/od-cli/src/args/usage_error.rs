//! Faults of a command line, and what would be right.

use od_core::error::nearest_name;

use super::verb::Verb;

/// A command line that names no command.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UsageError {
    /// There is no such verb.
    #[error("`od` has no verb `{given}`")]
    UnknownVerb {
        /// The words as typed.
        given: String,
        /// The verb that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The words so far are the beginning of several verbs.
    #[error("`od {group}` needs one more word: {}", members.join(", "))]
    Incomplete {
        /// The words as typed.
        group: String,
        /// The words that may follow.
        members: Vec<&'static str>,
    },
    /// The verb has no such flag.
    #[error("`od {}` has no flag `{given}`", verb.words)]
    UnknownFlag {
        /// The flag as typed.
        given: String,
        /// The flag that was probably meant.
        nearest: Option<&'static str>,
        /// The verb it was given to.
        verb: &'static Verb,
    },
    /// A flag that takes a value stands alone, or one that takes none has one.
    #[error("{problem}")]
    Value {
        /// The fault, in one sentence.
        problem: String,
        /// The verb it was given to.
        verb: Option<&'static Verb>,
        /// The right form, if it is known.
        fix: Option<String>,
    },
    /// A required flag or argument is missing.
    #[error("`od {}` needs {what}", verb.words)]
    Missing {
        /// The flag or argument.
        what: String,
        /// The verb.
        verb: &'static Verb,
    },
    /// More arguments than the verb takes.
    #[error("`od {}` takes no further argument, got `{given}`", verb.words)]
    Unexpected {
        /// The argument as typed.
        given: String,
        /// The verb.
        verb: &'static Verb,
    },
}

/// A command line that names no command, and the one that was probably meant.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Misuse {
    /// The first thing that is wrong.
    pub(super) error: UsageError,
    /// The whole line with every fault mended, if that leads to a command.
    pub(super) meant: Option<String>,
}

impl From<UsageError> for Misuse {
    fn from(error: UsageError) -> Self {
        Self { error, meant: None }
    }
}

impl Misuse {
    /// Returns what to type instead, if that is known.
    #[must_use]
    pub fn suggestion(&self) -> Option<String> {
        match &self.meant {
            Some(line) => Some(format!("did you mean `{line}`?")),
            None => self.error.suggestion(),
        }
    }

    /// Returns the usage line of the verb in question, if there is one.
    #[must_use]
    pub fn usage(&self) -> Option<String> {
        self.error.usage()
    }
}

impl UsageError {
    /// Returns what to type instead, if that is known.
    #[must_use]
    pub fn suggestion(&self) -> Option<String> {
        match self {
            Self::UnknownVerb { nearest, .. } => Some(match nearest {
                Some(words) => format!("did you mean `od {words}`?"),
                None => "`od help` lists every verb".to_owned(),
            }),
            Self::Incomplete { group, .. } => {
                Some(format!("`od help {group}` says what each does"))
            }
            Self::UnknownFlag { nearest, verb, .. } => Some(match nearest {
                Some(flag) => format!("did you mean `--{flag}`?"),
                None => format!("`od help {}` lists its flags", verb.words),
            }),
            Self::Value { fix, .. } => fix.clone(),
            Self::Missing { verb, .. } | Self::Unexpected { verb, .. } => {
                Some(format!("`od help {}` shows an example", verb.words))
            }
        }
    }

    /// Returns the usage line of the verb in question, if there is one.
    #[must_use]
    pub fn usage(&self) -> Option<String> {
        match self {
            Self::UnknownVerb { .. } | Self::Incomplete { .. } => None,
            Self::UnknownFlag { verb, .. }
            | Self::Missing { verb, .. }
            | Self::Unexpected { verb, .. } => Some(verb.usage()),
            Self::Value { verb, .. } => verb.map(Verb::usage),
        }
    }
}

/// Returns the candidate that a person most probably meant, if one is near enough.
///
/// A word that only lacks its end is near, however much of it is missing.
#[must_use]
pub fn nearest<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let cut_short = |candidate: &&&'a str| given.len() >= 3 && candidate.starts_with(given);
    nearest_name(given, candidates.iter().copied())
        .or_else(|| candidates.iter().find(cut_short).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: Option<&str>) {
        let known = ["json", "input", "artifact-id", "dry-run", "project", "format"];
        assert_eq!(nearest(given, &known), expected, "{given}");
    }

    #[test]
    fn a_slip_finds_the_word_and_a_stranger_finds_none() {
        check("jsno", Some("json"));
        check("imput", Some("input"));
        check("artifact_id", Some("artifact-id"));
        check("artifactid", Some("artifact-id"));
        check("art", Some("artifact-id"));
        check("dryrun", Some("dry-run"));
        check("proj", Some("project"));
        check("zzz", None);
        check("", None);
    }
}
