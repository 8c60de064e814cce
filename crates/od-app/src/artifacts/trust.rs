//! Allow here what an artifact was allowed in a copy or on another machine. For the command line.

use std::sync::Arc;

use od_core::decide;
use od_core::ledger::CommitKind;
use od_ports::store::Stored;

use super::{Address, Mode, Transaction, find};
use crate::schedule::ScheduleError;
use crate::{App, Caller};

/// Gives an artifact the permissions that were withheld from it, by a person's word; changes nothing if
/// there are none.
pub async fn trust(
    app: &App,
    caller: &Caller,
    address: &Address,
    mode: Mode,
) -> Result<Arc<Stored>, ScheduleError> {
    caller.require_person()?;
    let project = find(app, caller, address).await?;
    let transaction = Transaction::begin(app, &project, &address.artifact, mode).await?;
    if transaction.state().artifact.withheld.is_none() {
        return Ok(Arc::clone(transaction.stored()));
    }
    let decision = decide::trust(transaction.state(), app.ports.clock.now())?;
    Ok(transaction.commit(decision, caller.note(CommitKind::Update)).await?)
}
