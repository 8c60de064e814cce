//! Who asks.

use od_core::artifact::Author;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ProjectId, RunId};

/// Who asks for something: decides what may be asked for and what is written down as its author.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Caller {
    /// The person at the machine, through the console or the command line.
    Person,
    /// An agent, through its run's token.
    Agent {
        /// Its run.
        run: RunId,
        /// The one project it may see.
        project: ProjectId,
    },
}

impl Caller {
    /// Returns what is written down as the author.
    pub const fn author(&self) -> Author {
        match self {
            Self::Person => Author::Person,
            Self::Agent { .. } => Author::Agent,
        }
    }

    /// Returns the run, if an agent asks.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Person => None,
            Self::Agent { run, .. } => Some(run),
        }
    }

    /// Lets only a person through.
    pub const fn require_person(&self) -> Result<(), PersonOnly> {
        match self {
            Self::Person => Ok(()),
            Self::Agent { .. } => Err(PersonOnly),
        }
    }

    /// Tells whether the caller may see a project at all.
    pub fn may_see(&self, project: &ProjectId) -> bool {
        match self {
            Self::Person => true,
            Self::Agent { project: own, .. } => own == project,
        }
    }
}

/// An agent asked for what only a person may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("only a person may do this")]
pub struct PersonOnly;

impl From<PersonOnly> for Failure {
    fn from(err: PersonOnly) -> Self {
        Self::new(ErrorCode::Forbidden, err.to_string())
            .suggest("ask the person to do it in the console, or with `od` in a terminal")
    }
}
