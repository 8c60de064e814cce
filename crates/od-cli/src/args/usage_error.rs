//! What is wrong with a command line, and what would be right.

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
        /// What may follow.
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
        verb: VerbRef,
    },
    /// A flag that takes a value stands alone, or one that takes none has one.
    #[error("{problem}")]
    Value {
        /// What is wrong, in one sentence.
        problem: String,
        /// The verb it was given to.
        verb: Option<VerbRef>,
        /// What would be right.
        fix: Option<String>,
    },
    /// A required flag or argument is missing.
    #[error("`od {}` needs {what}", verb.words)]
    Missing {
        /// The flag or argument.
        what: String,
        /// The verb.
        verb: VerbRef,
    },
    /// More arguments than the verb takes.
    #[error("`od {}` takes no further argument, got `{given}`", verb.words)]
    Unexpected {
        /// The argument as typed.
        given: String,
        /// The verb.
        verb: VerbRef,
    },
}

/// A row of the verb table, compared by its words.
#[derive(Clone, Copy, Debug)]
pub struct VerbRef(pub &'static Verb);

impl std::ops::Deref for VerbRef {
    type Target = Verb;
    fn deref(&self) -> &Verb {
        self.0
    }
}

impl PartialEq for VerbRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for VerbRef {}

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
            Self::Value { verb, .. } => verb.map(|verb| verb.usage()),
        }
    }
}
