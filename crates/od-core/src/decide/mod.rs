//! Decisions: the next state of an artifact, worked out from values before anything is written.
//!
//! Create, update, roll back and refresh each have a function here that takes what there is and what
//! is asked for, and returns a [`Decision`] or everything that is wrong. A use case commits the
//! decision, or for a dry run shows it: both say the same, because nothing is decided after it.

mod create;
mod decision;
mod grant;
mod refresh;
mod refreshable;
mod roll_back;
mod shown_redactions;
mod update;

#[cfg(test)]
pub(crate) use create::created;
pub use create::{CreateContext, create};
pub use decision::Decision;
pub use grant::{ScheduleChange, ScheduleChangeRefused, schedule, trust};
#[cfg(test)]
pub(crate) use refresh::refreshed_with;
pub use refresh::{FailedSource, Gathered, QueryOutput, RefreshRefused, SourceOutput, refresh};
pub use refreshable::{RefreshUnavailable, refreshable, refreshable_when_opened};
pub use roll_back::{Design, EarlierState, roll_back};
pub use update::{NextDesign, UpdateRefused, next_design, update};
