//! Refreshes and what they left, for the person.

use od_app::Caller;
use od_app::artifacts::{self, Address};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::RefreshId;
use od_wire::refresh::{
    RefreshesAnswer, SnapshotAnswer, SnapshotLine, SnapshotView, SnapshotsAnswer,
};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Lists the history, newest first.
pub(crate) async fn history(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = address(exchange)?;
    let history = artifacts::history(&exchange.daemon.app, &Caller::Person, address)
        .await
        .map_err(|error| Failure::from(&error))?;
    Ok(Reply::json(&RefreshesAnswer { refreshes: history.records }))
}

/// Lists the stored states, newest first.
pub(crate) async fn snapshots(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = address(exchange)?;
    let snapshots = artifacts::snapshots(&exchange.daemon.app, &Caller::Person, address)
        .await
        .map_err(|error| Failure::from(&error))?
        .into_iter()
        .map(|line| SnapshotLine {
            refresh_id: line.refresh_id,
            generated_at: line.generated_at,
            data_digest: line.data_digest,
            bytes: line.bytes,
        })
        .collect();
    Ok(Reply::json(&SnapshotsAnswer { snapshots }))
}

/// Shows one stored state.
pub(crate) async fn snapshot(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = address(exchange)?;
    let id: RefreshId = exchange.id(exchange.params.second(), ErrorCode::NotFound, "snapshot")?;
    let snapshot = artifacts::snapshot(&exchange.daemon.app, &Caller::Person, address, id)
        .await
        .map_err(|error| Failure::from(&error))?;
    let snapshot = SnapshotView {
        refresh_id: snapshot.refresh_id,
        data_json: snapshot.data,
        provenance: snapshot.provenance,
    };
    Ok(Reply::json(&SnapshotAnswer { snapshot }))
}

fn address(exchange: &Exchange<'_>) -> Result<Address, Failure> {
    let query = exchange.query(&["projectId"])?;
    Ok(Address { project: query.get("projectId")?, artifact: exchange.artifact()? })
}
