//! Faults of an intake: each names the limit or rule that was broken, and where.

use crate::limits::{INTAKE_DEPTH, Limit};

/// Refuses an intake. The message is ours: it never repeats a value of the source.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IntakeFault {
    /// The bytes are not what the format prescribes.
    #[error("{what} at line {line}, column {column}")]
    Syntax {
        /// The rule that was broken.
        what: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
    },
    /// A limit was passed. Reading stopped there, so `measured` may be less than the whole.
    #[error("{}: at least {measured}, allowed is {}", limit.name, limit.want())]
    Over {
        /// The limit.
        limit: Limit,
        /// The count at which reading stopped.
        measured: u64,
    },
    /// A JSON object has one key twice; which of the two counts is not for us to choose.
    #[error("the key `{key}` stands twice in one object, at line {line}")]
    DuplicateKey {
        /// The key, cut to a readable length.
        key: String,
        /// Counted from 1.
        line: usize,
    },
    /// A text holds U+0000, which neither SQL nor HTML can carry.
    #[error("a NUL character at line {line}")]
    Nul {
        /// Counted from 1.
        line: usize,
    },
}

impl IntakeFault {
    /// Moves the fault down by the lines before its text.
    pub(super) fn on_line(mut self, before: usize) -> Self {
        match &mut self {
            Self::Syntax { line, .. } | Self::DuplicateKey { line, .. } | Self::Nul { line } => {
                *line += before;
            }
            Self::Over { .. } => {}
        }
        self
    }

    /// Returns the limit that was passed, if the intake was too large rather than wrong. Its depth is
    /// a matter of its form.
    #[must_use]
    pub fn size_limit(&self) -> Option<Limit> {
        match self {
            Self::Over { limit, .. } => Some(*limit).filter(|limit| *limit != INTAKE_DEPTH),
            Self::Syntax { .. } | Self::DuplicateKey { .. } | Self::Nul { .. } => None,
        }
    }
}
