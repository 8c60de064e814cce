//! One request on its way to its handler: looked up, authorized, its body not yet read; and the one
//! match that finds the handler.

use std::str::FromStr;

use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use od_app::Caller;
use od_app::artifacts::{self, Address};
use od_core::artifact::PageRows;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::json::Message;
use od_core::ledger::Door;
use od_wire::route::{Access, Operation, QueryName, Route};
use serde::de::DeserializeOwned;

use crate::auth::Identity;
use crate::daemon::Daemon;
use crate::event_streams;
use crate::http::body::{self, Sender};
use crate::http::json_body::{self, Fields};
use crate::http::lookup::PathParameters;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::routes::{
    about, agents, artifacts as artifact_routes, connectors, exports, mcp, preview, projects,
    refreshes, revisions, runs, services, session, tools, webhooks,
};

/// A request as its handler gets it.
#[derive(Debug)]
pub(crate) struct Exchange<'r> {
    pub(crate) daemon: &'r Daemon,
    pub(crate) route: &'static Route,
    pub(crate) params: PathParameters<'r>,
    pub(crate) query: Query,
    pub(crate) head: &'r Parts,
    pub(crate) identity: Identity,
}

impl Exchange<'_> {
    /// Reads the body as a type of the wire.
    pub(crate) async fn body<T: DeserializeOwned>(&self, body: Incoming) -> Result<T, Failure> {
        Fields::parse::<T>(&self.bytes(body).await?, &[])?.read()
    }

    /// Reads the whole body within its bounds, which are narrow where no token was asked for.
    pub(crate) async fn bytes(&self, body: Incoming) -> Result<Bytes, Failure> {
        let sender = match self.route.access {
            Access::Open => Sender::Anyone,
            Access::Person | Access::Terminal | Access::Tool(_) | Access::AnyTool => Sender::Known,
        };
        Ok(body::read(self.head, body, sender).await?)
    }

    /// Reads the body as the document that a use case checks itself.
    pub(crate) async fn document(&self, body: Incoming) -> Result<Message, Failure> {
        self.message(body, ErrorCode::LiveArtifactInvalid).await
    }

    /// Reads the body as an object that is refused with `code` if it is none.
    pub(crate) async fn message(
        &self,
        body: Incoming,
        code: ErrorCode,
    ) -> Result<Message, Failure> {
        let bytes = self.bytes(body).await?;
        self.daemon.app.cpu.run(bytes.len(), || json_body::document(&bytes, code)).await
    }

    /// Returns the artifact that the path names. What is no id names nothing.
    pub(crate) fn artifact(&self) -> Result<ArtifactId, Failure> {
        self.id(self.params.first(), ErrorCode::LiveArtifactNotFound, "artifact")
    }

    /// Returns the project that the path names.
    pub(crate) fn project(&self) -> Result<ProjectId, Failure> {
        self.id(self.params.first(), ErrorCode::ProjectNotFound, "project")
    }

    /// Returns the artifact that the path names, in the project that the query names, if it does.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        Ok(Address { project: self.query.get(QueryName::ProjectId)?, artifact: self.artifact()? })
    }

    /// Returns the one who asks, on a route for the person.
    pub(crate) fn person(&self) -> Caller {
        match self.identity {
            Identity::Person { door, .. } => Caller::PersonVia(door),
            // No other identity passes such a route.
            Identity::Anyone | Identity::Agent(_) => Caller::PersonVia(Door::Http),
        }
    }

    /// Returns the length of the page of a list that the query asks for.
    pub(crate) fn page_limit(&self) -> Result<usize, Failure> {
        let limit: Option<PageRows> = self.query.get(QueryName::Limit)?;
        Ok(limit.unwrap_or(PageRows::PERSON).get())
    }

    /// Returns the project of an artifact that the person names.
    pub(crate) async fn locate(&self, address: &Address) -> Result<ProjectId, Failure> {
        let found = artifacts::get(&self.daemon.app, &Caller::Person, address.clone()).await;
        Ok(found?.project.clone())
    }

    /// Reads a parameter of the path as an id.
    pub(crate) fn id<T: FromStr>(
        &self,
        text: &str,
        code: ErrorCode,
        what: &str,
    ) -> Result<T, Failure> {
        text.parse().map_err(|_| {
            Failure::new(code, format!("there is no such {what}"))
                .suggest(format!("copy the {what}'s id from where it is listed"))
        })
    }
}

/// Does what the route says.
#[expect(clippy::too_many_lines, reason = "one arm for each operation")]
pub(crate) async fn perform(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    match exchange.route.operation {
        Operation::Health => about::health(exchange).await,
        Operation::ChallengeSession => session::challenge(exchange, body).await,
        Operation::OpenSession => session::open(exchange, body).await,
        Operation::ProveSession => session::prove(exchange, body).await,
        Operation::ListSessions => session::list(exchange),
        Operation::RevokeSessions => session::revoke_all(exchange, body).await,
        Operation::RevokeSession => session::revoke_one(exchange, body).await,
        Operation::MakeSessionCode => session::make_code(exchange, body).await,
        Operation::ListProjects => projects::all(exchange).await,
        Operation::CreateProject => projects::create(exchange, body).await,
        Operation::ShowProject => projects::show(exchange).await,
        Operation::UpdateProject => projects::update(exchange, body).await,
        Operation::RemoveProject => projects::remove(exchange, body).await,
        Operation::ListProjectFiles => projects::files(exchange).await,
        Operation::FollowProject => event_streams::follow_project(exchange).await,
        Operation::FollowAll => event_streams::follow_all(exchange),
        Operation::ListArtifacts => artifact_routes::all(exchange).await,
        Operation::CreateArtifact => artifact_routes::create(exchange, body).await,
        Operation::ShowArtifact => artifact_routes::show(exchange).await,
        Operation::UpdateArtifact => artifact_routes::update(exchange, body).await,
        Operation::DeleteArtifact => artifact_routes::delete(exchange, body).await,
        Operation::RestoreArtifact => artifact_routes::restore(exchange, body).await,
        Operation::RefreshArtifact => refreshes::start(exchange, body).await,
        Operation::CancelRefresh => refreshes::cancel(exchange, body).await,
        Operation::ScheduleArtifact => refreshes::schedule(exchange, body).await,
        Operation::ListRefreshes => refreshes::history(exchange).await,
        Operation::ListSnapshots => refreshes::snapshots(exchange).await,
        Operation::ShowSnapshot => refreshes::snapshot(exchange).await,
        Operation::RestoreSnapshot => refreshes::roll_back(exchange, body).await,
        Operation::ListRevisions => revisions::list(exchange).await,
        Operation::ShowRevision => revisions::show(exchange).await,
        Operation::RestoreRevision => revisions::restore(exchange, body).await,
        Operation::CompareRevisions => revisions::compare(exchange).await,
        Operation::ExportArtifact => exports::show(exchange).await,
        Operation::PreviewArtifact => preview::show(exchange).await,
        Operation::TicketPreview => preview::ticket(exchange, body).await,
        Operation::ListConnectors => connectors::all(exchange).await,
        Operation::ShowConnector => connectors::show(exchange).await,
        Operation::ConnectConnector => connectors::open(exchange, body).await,
        Operation::DisconnectConnector => connectors::close(exchange, body).await,
        Operation::ListServices => services::all(exchange).await,
        Operation::AddService => services::add(exchange, body).await,
        Operation::RemoveService => services::remove(exchange, body).await,
        Operation::TestService => services::test(exchange, body).await,
        Operation::DismissRequest => services::dismiss(exchange, body).await,
        Operation::ListWebhooks => webhooks::all(exchange).await,
        Operation::AddWebhook => webhooks::add(exchange, body).await,
        Operation::RemoveWebhook => webhooks::remove(exchange, body).await,
        Operation::TestWebhook => webhooks::test(exchange, body).await,
        Operation::ListAgents => agents::agents(exchange).await,
        Operation::ListAgentSessions => agents::list(exchange).await,
        Operation::OpenAgentSession => agents::open(exchange, body).await,
        Operation::ShowAgentSession => agents::show(exchange).await,
        Operation::CloseAgentSession => agents::close(exchange, body).await,
        Operation::PromptAgent => agents::prompt(exchange, body).await,
        Operation::CancelAgent => agents::cancel(exchange, body).await,
        Operation::AnswerPermission => agents::answer(exchange, body).await,
        Operation::StartRun => runs::start(exchange, body).await,
        Operation::RenewRun => runs::renew(exchange, body).await,
        Operation::EndRun => runs::end(exchange, body).await,
        Operation::ToolCreateArtifact => tools::create(exchange, body).await,
        Operation::ToolListArtifacts => tools::list(exchange).await,
        Operation::ToolUpdateArtifact => tools::update(exchange, body).await,
        Operation::ToolRefreshArtifact => tools::refresh(exchange, body).await,
        Operation::ToolCancelRefresh => tools::cancel(exchange, body).await,
        Operation::ToolGetArtifact => tools::get(exchange).await,
        Operation::ToolDeleteArtifact => tools::delete(exchange, body).await,
        Operation::ToolValidateArtifact => tools::validate(exchange, body).await,
        Operation::ToolListConnectors => tools::connectors(exchange).await,
        Operation::ToolExecuteConnector => tools::execute(exchange, body).await,
        Operation::McpMessage => mcp::receive(exchange, body).await,
        Operation::ToolSchema => Ok(about::tools()),
        Operation::OpenApi => Ok(about::openapi()),
    }
}
