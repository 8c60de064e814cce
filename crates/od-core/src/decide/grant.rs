//! Deciding on what a person grants: a schedule that is set, switched on or switched off, and the
//! permissions that came with a copy.

use super::Decision;
use crate::artifact::{ArtifactState, Author, PageRefused};
use crate::grant::grant_here;
use crate::ids::Timestamp;
use crate::refresh::ChangeReport;
use crate::schedule::{RefreshSchedule, ScheduleRefused, adjust, switch_off, switch_on};

/// A change of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleChange {
    /// Switches on what is proposed.
    On,
    /// Switches it off; what it says stays.
    Off,
    /// Replaces it, and switches it on.
    Set(RefreshSchedule),
    /// Replaces it, and switches it off.
    SetOff(RefreshSchedule),
    /// Replaces it, and leaves it on or off as it is.
    Adjust(RefreshSchedule),
}

/// Why a schedule was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleChangeRefused {
    /// It cannot be switched on.
    #[error(transparent)]
    Schedule(#[from] ScheduleRefused),
    /// The artifact cannot be committed, because its page does not render.
    #[error(transparent)]
    Page(#[from] PageRefused),
}

/// Decides on the next state of an artifact whose schedule a person changes.
///
/// # Errors
///
/// Refuses what cannot run, and an artifact whose page does not render.
pub fn schedule(
    before: &ArtifactState,
    change: ScheduleChange,
    at: Timestamp,
) -> Result<Decision, ScheduleChangeRefused> {
    let mut state = before.clone();
    let artifact = &mut state.artifact;
    artifact.updated_at = at;
    match change {
        ScheduleChange::Off => switch_off(artifact, Author::Person, at),
        ScheduleChange::On => switch_on(artifact, Author::Person, at)?,
        ScheduleChange::Set(refresh) => {
            let document = artifact.document.as_mut().ok_or(ScheduleRefused::NoSource)?;
            document.refresh = Some(refresh);
            switch_on(artifact, Author::Person, at)?;
        }
        ScheduleChange::SetOff(refresh) => {
            let document = artifact.document.as_mut().ok_or(ScheduleRefused::NoSource)?;
            document.refresh = Some(refresh);
            switch_off(artifact, Author::Person, at);
        }
        ScheduleChange::Adjust(refresh) => adjust(artifact, refresh, at)?,
    }
    Ok(Decision::of(state, ChangeReport::default(), Vec::new())?)
}

/// Decides on the next state of an artifact that a person allows here what it was allowed elsewhere.
///
/// # Errors
///
/// Refuses a schedule that cannot run, and an artifact whose page does not render.
pub fn trust(before: &ArtifactState, at: Timestamp) -> Result<Decision, ScheduleChangeRefused> {
    let mut state = before.clone();
    state.artifact.updated_at = at;
    grant_here(&mut state.artifact, at)?;
    Ok(Decision::of(state, ChangeReport::default(), Vec::new())?)
}
