//! Whether a refresh of an artifact may begin.

use crate::artifact::{Artifact, ArtifactSummary, RefreshPermission, Status};
use crate::ids::Timestamp;

/// The reasons why an artifact has nothing to refresh.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RefreshUnavailable {
    /// It has no source.
    #[error("it has no source")]
    NoSource,
    /// Nobody allowed it.
    #[error("refreshing it is not permitted")]
    NotPermitted,
    /// It was allowed in a copy of the data directory or on another machine, and not here.
    #[error("refreshing it was allowed elsewhere, and not on this machine or in this directory")]
    GrantedElsewhere,
    /// It is put away.
    #[error("it is not active")]
    NotActive,
    /// Its page was opened, and that asks for no refresh.
    #[error("it is not older than its schedule allows, or its schedule is off")]
    StillFresh,
}

impl RefreshUnavailable {
    /// Returns the next step for whoever was refused.
    #[must_use]
    pub fn suggestion(self) -> &'static str {
        match self {
            Self::NoSource => "give the artifact a source first",
            Self::NotPermitted => {
                "a person can permit it in the console, or with an update of the source"
            }
            Self::GrantedElsewhere => {
                "look at what came with the copy, then allow it here: a person runs `od trust`, or permits it in the console"
            }
            Self::NotActive => "make the artifact active first",
            Self::StillFresh => "refresh it by hand for newer data",
        }
    }
}

/// Checks that a healthy artifact is in use, has a source, and that somebody allowed its refresh here.
///
/// # Errors
///
/// Fails with the first thing that is missing.
pub fn refreshable(artifact: &Artifact) -> Result<(), RefreshUnavailable> {
    match artifact.heading.status {
        Status::Active => {}
        Status::Archived | Status::Error => return Err(RefreshUnavailable::NotActive),
    }
    if !artifact.has_source() {
        return Err(RefreshUnavailable::NoSource);
    }
    match artifact.refresh_permission() {
        RefreshPermission::Manual => Ok(()),
        RefreshPermission::None if artifact.withheld.is_some() => {
            Err(RefreshUnavailable::GrantedElsewhere)
        }
        RefreshPermission::None => Err(RefreshUnavailable::NotPermitted),
    }
}

/// Checks that the opening of its page refreshes an artifact: its schedule runs, and says an age that
/// its data have passed.
///
/// # Errors
///
/// Fails if the data are young enough, or no schedule asks.
pub fn refreshable_when_opened(
    summary: &ArtifactSummary,
    now: Timestamp,
) -> Result<(), RefreshUnavailable> {
    let line = summary.schedule.as_ref().filter(|line| line.active_since().is_some());
    let max_age = line.and_then(|line| line.refresh.max_age);
    let age = summary.last_refreshed_at.map(|at| now.ms_since(at));
    let is_due = max_age.is_some_and(|max_age| age.is_none_or(|age| age > max_age.ms()));
    if is_due { Ok(()) } else { Err(RefreshUnavailable::StillFresh) }
}
