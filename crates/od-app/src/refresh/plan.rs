//! Says what a refresh would do, and records and stores nothing.

use std::time::Duration;

use od_core::artifact::RefreshStatus;
use od_core::ids::RefreshId;
use od_core::limits::REFRESH_TIMEOUT;
use od_ports::store::Stored;

use super::attempt::{call_source, new_pin, state_of};
use super::candidate::{self, Candidate};
use super::fault::RefreshFault;
use super::run::{RefreshError, Refreshed, RunRefresh, check_request};
use crate::app::App;
use crate::artifacts::as_stored;

/// Does everything a refresh does up to its commit: the checks, the source, the new data, the page.
///
/// Returns what the refresh would return, under the id it would get. The source is run, because it
/// only reads and because what it gives decides most of the answer.
pub async fn plan(app: &App, request: RunRefresh) -> Result<Refreshed, RefreshError> {
    let stored = check_request(app, &request).await?;
    let RunRefresh { project, artifact, .. } = &request;
    let history = app.ports.refresh_log.history(project, artifact).await;
    let newest = history.map_err(RefreshError::Begin)?.records.into_iter().next();
    let newest = newest.map(|record| record.refresh_id);
    if stored.summary.refresh_status == RefreshStatus::Running {
        let (artifact, running) = (artifact.clone(), newest);
        return Err(RefreshError::Locked { artifact, running });
    }
    let refresh = RefreshId::from_number(newest.map_or(0, |newest| newest.number()) + 1);
    match build(app, &request, &stored).await {
        Ok(Candidate { next, changes }) => {
            let stored = match (next, stored.revision()) {
                (Some((state, page)), Some(revision)) => as_stored(state, &page, revision.next()),
                (_, _) => stored,
            };
            Ok(Refreshed { stored, refresh, changes })
        }
        Err(fault) => {
            let failure = Box::new(fault.into());
            Err(RefreshError::Failed { refresh, failure })
        }
    }
}

async fn build(
    app: &App,
    request: &RunRefresh,
    stored: &Stored,
) -> Result<Candidate, RefreshFault> {
    let state = state_of(stored)?;
    let source = state.artifact.source().ok_or(RefreshFault::SourceChanged)?;
    let deadline = app.ports.clock.sleep(Duration::from_millis(REFRESH_TIMEOUT.allowed));
    let executed = tokio::select! {
        biased;
        ran = call_source(app, request, state) => ran?,
        () = deadline => return Err(RefreshFault::TimedOut),
    };
    let pin = new_pin(app, request, state, &executed);
    candidate::build(state, source, &executed, pin, app.ports.clock.now())
}
