//! Deciding on grants that came with a copy: a person gives them here.

use super::{Decision, ScheduleChangeRefused};
use crate::artifact::ArtifactState;
use crate::grant::grant_here;
use crate::ids::Timestamp;
use crate::refresh::ChangeReport;

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
