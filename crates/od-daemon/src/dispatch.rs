//! Dispatch: one exhaustive match, one line an operation.

use hyper::body::Incoming;
use od_core::error::Failure;
use od_wire::route::Operation;

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::routes::{
    artifacts, connectors, description, events, health, preview, projects, refreshes, runs,
    session, tools,
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
        Operation::RefreshArtifact => refreshes::start(exchange, body).await,
        Operation::CancelRefresh => refreshes::cancel(exchange, body).await,
        Operation::ListRefreshes => refreshes::history(exchange).await,
        Operation::ListSnapshots => refreshes::snapshots(exchange).await,
        Operation::ShowSnapshot => refreshes::snapshot(exchange).await,
        Operation::RestoreSnapshot => refreshes::roll_back(exchange, body).await,
        Operation::PreviewArtifact => preview::show(exchange).await,
        Operation::TicketPreview => preview::ticket(exchange, body).await,
        Operation::ListConnectors => connectors::all(exchange).await,
        Operation::ShowConnector => connectors::show(exchange).await,
        Operation::ConnectConnector => connectors::open(exchange, body).await,
        Operation::DisconnectConnector => connectors::close(exchange, body).await,
        Operation::StartRun => runs::start(exchange, body).await,
        Operation::RenewRun => runs::renew(exchange, body).await,
        Operation::EndRun => runs::end(exchange, body).await,
        Operation::ToolCreateArtifact => tools::create(exchange, body).await,
        Operation::ToolListArtifacts => tools::list(exchange).await,
        Operation::ToolUpdateArtifact => tools::update(exchange, body).await,
        Operation::ToolRefreshArtifact => tools::refresh(exchange, body).await,
        Operation::ToolValidateArtifact => tools::validate(exchange, body).await,
        Operation::ToolListConnectors => tools::connectors(exchange).await,
        Operation::ToolExecuteConnector => tools::execute(exchange, body).await,
        Operation::ToolSchema => Ok(description::tools()),
        Operation::OpenApi => Ok(description::openapi()),
    }
}
