//! Dispatch: one exhaustive match, one line an operation.

use hyper::body::Incoming;
use od_core::error::{ErrorCode, Failure};
use od_wire::route::Operation;

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::routes::{
    artifacts, description, events, health, preview, projects, refreshes, runs, session, tools,
};

/// Does what the route says.
pub(crate) async fn perform(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    match exchange.route.operation {
        Operation::Health => health::report(exchange).await,
        Operation::OpenSession => session::open(exchange, body).await,
        Operation::MakeSessionCode => session::make_code(exchange, body).await,
        Operation::ListProjects => projects::all(exchange).await,
        Operation::CreateProject => projects::create(exchange, body).await,
        Operation::ShowProject => projects::show(exchange).await,
        Operation::ListProjectFiles => projects::files(exchange).await,
        Operation::FollowProject => events::project(exchange).await,
        Operation::FollowAll => events::all(exchange),
        Operation::ListArtifacts => artifacts::all(exchange).await,
        Operation::CreateArtifact => artifacts::create(exchange, body).await,
        Operation::ShowArtifact => artifacts::show(exchange).await,
        Operation::UpdateArtifact => artifacts::update(exchange, body).await,
        Operation::DeleteArtifact => artifacts::delete(exchange, body).await,
        Operation::RestoreArtifact => artifacts::restore(exchange, body).await,
        Operation::ListRefreshes => refreshes::history(exchange).await,
        Operation::ListSnapshots => refreshes::snapshots(exchange).await,
        Operation::ShowSnapshot => refreshes::snapshot(exchange).await,
        Operation::PreviewArtifact => preview::show(exchange).await,
        Operation::TicketPreview => preview::ticket(exchange, body).await,
        Operation::StartRun => runs::start(exchange, body).await,
        Operation::RenewRun => runs::renew(exchange, body).await,
        Operation::EndRun => runs::end(exchange, body).await,
        Operation::ToolCreateArtifact => tools::create(exchange, body).await,
        Operation::ToolListArtifacts => tools::list(exchange).await,
        Operation::ToolUpdateArtifact => tools::update(exchange, body).await,
        Operation::ToolValidateArtifact => tools::validate(exchange, body).await,
        Operation::RefreshArtifact
        | Operation::CancelRefresh
        | Operation::ToolRefreshArtifact
        | Operation::ListConnectors
        | Operation::ShowConnector
        | Operation::ConnectConnector
        | Operation::DisconnectConnector
        | Operation::ToolListConnectors
        | Operation::ToolExecuteConnector => Err(not_yet()),
        Operation::ToolSchema => description::tools(exchange),
        Operation::OpenApi => description::openapi(exchange),
    }
}

/// Until the refresh and connector use cases are there.
fn not_yet() -> Failure {
    Failure::new(ErrorCode::LiveArtifactRefreshUnavailable, "this build has no connectors yet")
}
