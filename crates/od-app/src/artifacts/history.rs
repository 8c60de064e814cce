//! Read the audit log of an artifact.

use od_ports::store::History;

use super::find::{Address, FindError, find};
use crate::{App, Caller};

/// Returns the records of an artifact's refreshes, newest first.
pub async fn history(app: &App, caller: &Caller, address: Address) -> Result<History, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.refresh_log.history(&project, &address.artifact).await?)
}
