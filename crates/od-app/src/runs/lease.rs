//! Renewing the lease of a run, and ending it.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::RunId;
use od_core::limits;
use od_ports::agents::run_store::{Run, RunState, RunStoreError};

use crate::{App, Caller, PersonOnly};

/// The times that a run may be renewed while somebody ends it.
const TRIES_MAX: usize = 16;

/// Lengthens the lease of a run that is still live.
pub async fn renew(app: &App, caller: &Caller, run: RunId) -> Result<Run, MoveRunError> {
    caller.require_person()?;
    let Some(found) = app.ports.runs.get(&run).await? else {
        return Err(MoveRunError::Unknown { run });
    };
    let now = app.lease_time();
    if !found.is_live(now) {
        return Err(MoveRunError::Over { run });
    }
    let renewed = Run { lease_until: now.plus_ms(limits::RUN_LEASE.allowed), ..found.clone() };
    app.ports.runs.replace(&found, &renewed).await?;
    Ok(renewed)
}

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

/// Why a run did not move.
#[derive(Debug, thiserror::Error)]
pub enum MoveRunError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such run.
    #[error("no run `{run}`")]
    Unknown {
        /// The id asked for.
        run: RunId,
    },
    /// It is over, or its lease has lapsed: a run does not come back.
    #[error("run `{run}` is over")]
    Over {
        /// The run.
        run: RunId,
    },
    /// The runs could not be read or written.
    #[error(transparent)]
    Runs(#[from] RunStoreError),
}

impl From<MoveRunError> for Failure {
    fn from(err: MoveRunError) -> Self {
        let message = err.to_string();
        match err {
            MoveRunError::PersonOnly(err) => err.into(),
            MoveRunError::Unknown { run } => Self::new(ErrorCode::NotFound, message)
                .suggest("start a new run")
                .detail("runId", run.as_str()),
            MoveRunError::Over { run } => Self::new(ErrorCode::Conflict, message)
                .suggest("start a new run")
                .detail("runId", run.as_str()),
            MoveRunError::Runs(RunStoreError::Changed { .. }) => {
                Self::new(ErrorCode::Conflict, message).suggest("try again")
            }
            MoveRunError::Runs(
                RunStoreError::Exists { .. }
                | RunStoreError::Damaged { .. }
                | RunStoreError::Io { .. },
            ) => Self::new(ErrorCode::LiveArtifactStorageFailed, message)
                .suggest("check free space and permissions of the data directory"),
        }
    }
}
