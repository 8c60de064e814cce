//! Refreshes and what they left, for the person.

use hyper::body::Incoming;
use od_app::artifacts::{self, RollBack, RollBackTo};
use od_app::refresh::cancel::CancelRefresh;
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::schedule::ChangeSchedule;
use od_app::{Mode, refresh};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::schedule::ScheduleRequest;
use od_wire::Empty;
use od_wire::refresh::{
    self as wire, CancelAnswer, RefreshesAnswer, SnapshotAnswer, SnapshotLine, SnapshotView,
    SnapshotsAnswer, StartRefresh,
};
use od_wire::route::{HistoryCursor, QueryName};

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::views;

/// Refreshes an artifact.
pub(crate) async fn start(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (project, artifact) = named(exchange).await?;
    let StartRefresh { accept_drift, on_open } = exchange.body(body).await?;
    let cause = if on_open { Cause::Opened } else { Cause::Asked };
    let caller = exchange.person();
    let request = RunRefresh { caller, project, artifact, accept_drift, cause };
    let refreshed = refresh::run(&exchange.daemon.app, request, Mode::Commit).await?;
    Ok(Reply::json(&views::refreshed(&exchange.daemon.urls.console, &refreshed)?))
}

/// Sets the schedule of an artifact, switches it on, or switches it off.
pub(crate) async fn schedule(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let body = exchange.document(body).await?;
    let request = ScheduleRequest::parse(body.value()).map_err(|issues| {
        Failure::validation(ErrorCode::LiveArtifactInvalid, &body.report(issues))
    })?;
    let mode = Mode::of_dry_run(exchange.query.get(QueryName::DryRun)?.unwrap_or(false));
    let if_revision = request.if_revision;
    let request = ChangeSchedule { address, change: request.change(), if_revision };
    let app = &exchange.daemon.app;
    let changed = od_app::schedule::change(app, &exchange.person(), request, mode).await?;
    exchange.daemon.schedule_changed.notify_one();
    let now = app.ports.clock.now();
    Ok(Reply::json(&views::scheduled(&exchange.daemon.urls.console, &changed, now)))
}

/// Cancels the running refresh.
pub(crate) async fn cancel(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (project, artifact) = named(exchange).await?;
    exchange.body::<Empty>(body).await?;
    let request = CancelRefresh { project, artifact };
    let cancelled = refresh::cancel(&exchange.daemon.app, &exchange.person(), request).await?;
    Ok(Reply::json(&CancelAnswer { refresh_id: cancelled.refresh, status: cancelled.status }))
}

/// Lists the history, newest first.
pub(crate) async fn history(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let history = artifacts::history(&exchange.daemon.app, &exchange.person(), address).await?;
    let (refreshes, next_cursor) = page_of(exchange, &history.records)?;
    Ok(Reply::json(&RefreshesAnswer { refreshes, next_cursor }))
}

/// Lists the stored states, newest first.
pub(crate) async fn snapshots(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let snapshots: Vec<SnapshotLine> =
        artifacts::snapshots(&exchange.daemon.app, &exchange.person(), address)
            .await?
            .into_iter()
            .map(|line| SnapshotLine {
                refresh_id: line.refresh_id,
                generated_at: line.generated_at,
                data_digest: line.data_digest,
                bytes: line.bytes,
            })
            .collect();
    let (snapshots, next_cursor) = page_of(exchange, &snapshots)?;
    Ok(Reply::json(&SnapshotsAnswer { snapshots, next_cursor }))
}

/// Shows one stored state.
pub(crate) async fn snapshot(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let id = snapshot_id(exchange)?;
    let snapshot =
        artifacts::snapshot(&exchange.daemon.app, &exchange.person(), address, id).await?;
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
    let to = RollBackTo::Refresh(snapshot_id(exchange)?);
    let wire::RollBack { if_revision } = exchange.body(body).await?;
    let request = RollBack { address, to, if_revision };
    let app = &exchange.daemon.app;
    let done = artifacts::roll_back(app, &exchange.person(), request, Mode::Commit).await?;
    Ok(Reply::json(&views::rolled_back(&exchange.daemon.urls.console, done)?))
}

/// Cuts a list, newest first, to the page that the query asks for.
///
/// The cursor counts from the oldest line: what comes to the front of the list meanwhile does not move
/// the pages behind it.
fn page_of<T: Clone>(
    exchange: &Exchange<'_>,
    newest_first: &[T],
) -> Result<(Vec<T>, Option<String>), Failure> {
    let limit = exchange.page_limit()?;
    let older: Option<HistoryCursor> = exchange.query.get(QueryName::Cursor)?;
    let newer = older.map_or(0, |HistoryCursor(older)| newest_first.len().saturating_sub(older));
    let from_here = newest_first.get(newer..).unwrap_or_default();
    let rest = from_here.len().saturating_sub(limit);
    let page = from_here.iter().take(limit).cloned().collect();
    Ok((page, (rest > 0).then(|| HistoryCursor(rest).to_string())))
}

fn snapshot_id(exchange: &Exchange<'_>) -> Result<RefreshId, Failure> {
    exchange.id(exchange.params.second(), ErrorCode::NotFound, "snapshot")
}

async fn named(exchange: &Exchange<'_>) -> Result<(ProjectId, ArtifactId), Failure> {
    let address = exchange.address()?;
    let project = exchange.locate(&address).await?;
    Ok((project, address.artifact))
}
