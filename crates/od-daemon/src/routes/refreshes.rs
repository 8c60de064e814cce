//! Refreshes and what they left, for the person.

use hyper::body::Incoming;
use od_app::artifacts::{self, RollBack};
use od_app::refresh::cancel::CancelRefresh;
use od_app::refresh::run::RunRefresh;
use od_app::{Caller, Mode, refresh};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_wire::Empty;
use od_wire::refresh::{
    self as wire, CancelAnswer, RefreshesAnswer, SnapshotAnswer, SnapshotLine, SnapshotView,
    SnapshotsAnswer, StartRefresh,
};

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::views;

/// Refreshes an artifact.
pub(crate) async fn start(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (project, artifact) = named(exchange).await?;
    let StartRefresh { accept_drift } = exchange.body(body).await?;
    let request = RunRefresh { caller: Caller::Person, project, artifact, accept_drift };
    let refreshed = refresh::run(&exchange.daemon.app, request, Mode::Commit).await?;
    Ok(Reply::json(&views::refreshed(&exchange.daemon.urls.console, &refreshed)?))
}

/// Cancels the running refresh.
pub(crate) async fn cancel(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (project, artifact) = named(exchange).await?;
    exchange.body::<Empty>(body).await?;
    let request = CancelRefresh { project, artifact };
    let cancelled = refresh::cancel(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&CancelAnswer { refresh_id: cancelled.refresh, status: cancelled.status }))
}

/// Lists the history, newest first.
pub(crate) async fn history(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let history = artifacts::history(&exchange.daemon.app, &Caller::Person, address).await?;
    Ok(Reply::json(&RefreshesAnswer { refreshes: history.records }))
}

/// Lists the stored states, newest first.
pub(crate) async fn snapshots(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let snapshots = artifacts::snapshots(&exchange.daemon.app, &Caller::Person, address)
        .await?
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
    let address = exchange.address()?;
    let id = snapshot_id(exchange)?;
    let snapshot = artifacts::snapshot(&exchange.daemon.app, &Caller::Person, address, id).await?;
    let snapshot = SnapshotView {
        refresh_id: snapshot.refresh_id,
        data_json: snapshot.data,
        provenance: snapshot.provenance,
    };
    Ok(Reply::json(&SnapshotAnswer { snapshot }))
}

/// Makes one stored state the current one again.
pub(crate) async fn roll_back(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let refresh = snapshot_id(exchange)?;
    let wire::RollBack { if_revision } = exchange.body(body).await?;
    let request = RollBack { address, refresh, if_revision };
    let app = &exchange.daemon.app;
    let done = artifacts::roll_back(app, &Caller::Person, request, Mode::Commit).await?;
    Ok(Reply::json(&views::rolled_back(&exchange.daemon.urls.console, done)?))
}

fn snapshot_id(exchange: &Exchange<'_>) -> Result<RefreshId, Failure> {
    exchange.id(exchange.params.second(), ErrorCode::NotFound, "snapshot")
}

async fn named(exchange: &Exchange<'_>) -> Result<(ProjectId, ArtifactId), Failure> {
    let address = exchange.address()?;
    let project = exchange.locate(&address).await?;
    Ok((project, address.artifact))
}
