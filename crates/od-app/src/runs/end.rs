//! End a run.

use od_core::ids::RunId;
use od_ports::run_store::{Run, RunState, RunStoreError};

use super::renew::MoveRunError;
use crate::{App, Caller};

/// How often a run may be renewed under the hands of who ends it.
const TRIES_MAX: usize = 16;

/// Ends a run, durably before this returns. Ending one that has ended changes nothing.
pub async fn end(app: &App, caller: &Caller, run: RunId) -> Result<Run, MoveRunError> {
    caller.require_person()?;
    let mut tries = 1;
    loop {
        let Some(found) = app.ports.runs.get(&run).await? else {
            return Err(MoveRunError::Unknown { run });
        };
        match found.state {
            RunState::Ended => return Ok(found),
            RunState::Live => {}
        }
        let ended_at = Some(app.ports.clock.now());
        let ended = Run { state: RunState::Ended, ended_at, ..found.clone() };
        match app.ports.runs.replace(&found, &ended).await {
            Ok(()) => return Ok(ended),
            // It was renewed meanwhile; ending wins. But one that changes without end is told.
            Err(RunStoreError::Changed { .. }) if tries < TRIES_MAX => tries += 1,
            Err(err) => return Err(err.into()),
        }
    }
}
