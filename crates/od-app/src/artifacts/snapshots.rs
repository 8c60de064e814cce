//! Read the stored states of an artifact.

use od_core::ids::RefreshId;
use od_ports::store::{Snapshot, SnapshotSummary};

use super::find::{Address, FindError, find};
use crate::{App, Caller};

/// Returns the snapshots of an artifact, newest first.
pub async fn snapshots(
    app: &App,
    caller: &Caller,
    address: Address,
) -> Result<Vec<SnapshotSummary>, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.revisions.snapshots(&project, &address.artifact).await?)
}

/// Returns one snapshot of an artifact.
pub async fn snapshot(
    app: &App,
    caller: &Caller,
    address: Address,
    refresh: RefreshId,
) -> Result<Snapshot, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.revisions.snapshot(&project, &address.artifact, &refresh).await?)
}
