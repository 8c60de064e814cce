//! End a run.

use od_core::ids::RunId;
use od_ports::run_store::{Run, RunState, RunStoreError};

use super::renew::MoveRunError;
use crate::App;

/// Ends a run, durably before this returns. Ending one that has ended changes nothing.
pub async fn end(app: &App, run: RunId) -> Result<Run, MoveRunError> {
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
            // It was renewed meanwhile; ending wins.
            Err(RunStoreError::Changed { .. }) => {}
            Err(err) => return Err(err.into()),
        }
    }
}
