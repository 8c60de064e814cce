//! The calls of a person, one typed function each.

use od_core::ids::{
    ArtifactId, ConnectorId, ConsoleSessionId, ProjectId, RefreshId, Revision, RunId,
};
use od_wire::Empty;
use od_wire::artifact::{
    ArtifactAnswer, ArtifactLine, ArtifactsAnswer, DeleteArtifact, DeletedAnswer, RefreshedAnswer,
    RolledBackAnswer,
};
use od_wire::connector::{ConnectConnector, ConnectorAnswer};
use od_wire::project::{ProjectAnswer, RemovedProjectAnswer, UpdateProject};
use od_wire::refresh::{RollBack, ScheduleAnswer, StartRefresh};
use od_wire::route::{Operation, QueryName};
use od_wire::run::RunAnswer;
use od_wire::service::{AddService, ServiceAnswer, TestService};
use od_wire::session::{RevokedAnswer, SessionCode};
use od_wire::webhook::{AddWebhook, WebhookAnswer};
use serde::Serialize;

use crate::client::Client;
use crate::error::CallError;

/// # Errors
///
/// Every call fails if the daemon refuses ([`CallError::Refused`]), cannot be reached, or answers
/// something else than the contract says.
#[expect(clippy::missing_errors_doc, reason = "said once for all of them, above")]
impl Client {
    /// Makes a one-time code for the console.
    pub async fn session_code(&self) -> Result<SessionCode, CallError> {
        self.call(Operation::MakeSessionCode).json(&Empty {})?.send().await
    }

    /// Ends the session of one browser.
    pub async fn revoke_session(
        &self,
        session: &ConsoleSessionId,
        dry_run: bool,
    ) -> Result<RevokedAnswer, CallError> {
        let call = self.call(Operation::RevokeSession).parameter(session);
        call.query(QueryName::DryRun, dry_run).json(&Empty {})?.send().await
    }

    /// Ends the session of every browser.
    pub async fn revoke_sessions(&self, dry_run: bool) -> Result<RevokedAnswer, CallError> {
        let call = self.call(Operation::RevokeSessions).query(QueryName::DryRun, dry_run);
        call.json(&Empty {})?.send().await
    }

    /// Lists the artifacts of a project, every page of them.
    pub async fn artifacts(&self, project: &ProjectId) -> Result<Vec<ArtifactLine>, CallError> {
        let (mut lines, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let call = self.call(Operation::ListArtifacts).query(QueryName::ProjectId, project);
            let call = match cursor {
                Some(cursor) => call.query(QueryName::Cursor, cursor),
                None => call,
            };
            let page: ArtifactsAnswer = call.send().await?;
            lines.extend(page.artifacts);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(lines);
            }
        }
    }

    /// Creates an artifact from a body that the daemon checks.
    pub async fn create(
        &self,
        project: &ProjectId,
        body: &impl Serialize,
    ) -> Result<ArtifactAnswer, CallError> {
        let call = self.call(Operation::CreateArtifact).query(QueryName::ProjectId, project);
        call.json(body)?.send().await
    }

    /// Refreshes an artifact from its source.
    pub async fn refresh(&self, artifact: &ArtifactId) -> Result<RefreshedAnswer, CallError> {
        let call = self.call(Operation::RefreshArtifact).parameter(artifact);
        call.json(&StartRefresh::default())?.send().await
    }

    /// Sets the schedule of an artifact, switches it on, or switches it off; `body` as the route takes it.
    pub async fn schedule(
        &self,
        artifact: &ArtifactId,
        body: &impl Serialize,
    ) -> Result<ScheduleAnswer, CallError> {
        self.call(Operation::ScheduleArtifact).parameter(artifact).json(body)?.send().await
    }

    /// Makes the state that a refresh left the current one again.
    pub async fn roll_back(
        &self,
        artifact: &ArtifactId,
        refresh: &RefreshId,
        if_revision: Option<Revision>,
    ) -> Result<RolledBackAnswer, CallError> {
        let call = self.call(Operation::RestoreSnapshot).parameter(artifact).parameter(refresh);
        call.json(&RollBack { if_revision })?.send().await
    }

    /// Makes a revision the current one again.
    pub async fn restore_revision(
        &self,
        artifact: &ArtifactId,
        revision: Revision,
        if_revision: Option<Revision>,
    ) -> Result<RolledBackAnswer, CallError> {
        let call = self.call(Operation::RestoreRevision).parameter(artifact).parameter(revision);
        call.json(&RollBack { if_revision })?.send().await
    }

    /// Moves an artifact to the trash.
    pub async fn delete(
        &self,
        artifact: &ArtifactId,
        project: Option<&ProjectId>,
    ) -> Result<DeletedAnswer, CallError> {
        let call = self.call(Operation::DeleteArtifact).parameter(artifact);
        let body = DeleteArtifact { if_revision: None };
        call.maybe_query(QueryName::ProjectId, project).json(&body)?.send().await
    }

    /// Brings an artifact back from the trash.
    pub async fn restore(
        &self,
        artifact: &ArtifactId,
        project: Option<&ProjectId>,
    ) -> Result<ArtifactAnswer, CallError> {
        let call = self.call(Operation::RestoreArtifact).parameter(artifact);
        call.maybe_query(QueryName::ProjectId, project).json(&Empty {})?.send().await
    }

    /// Gives a project another name.
    pub async fn rename_project(
        &self,
        project: &ProjectId,
        name: &str,
    ) -> Result<ProjectAnswer, CallError> {
        let body = UpdateProject { name: name.to_owned() };
        self.call(Operation::UpdateProject).parameter(project).json(&body)?.send().await
    }

    /// Takes a project out of use.
    pub async fn remove_project(
        &self,
        project: &ProjectId,
    ) -> Result<RemovedProjectAnswer, CallError> {
        self.call(Operation::RemoveProject).parameter(project).json(&Empty {})?.send().await
    }

    /// Connects a connector.
    pub async fn connect(
        &self,
        connector: &ConnectorId,
        body: &ConnectConnector,
    ) -> Result<ConnectorAnswer, CallError> {
        self.call(Operation::ConnectConnector).parameter(connector).json(body)?.send().await
    }

    /// Disconnects a connector.
    pub async fn disconnect(&self, connector: &ConnectorId) -> Result<ConnectorAnswer, CallError> {
        self.call(Operation::DisconnectConnector).parameter(connector).send().await
    }

    /// Registers a service.
    pub async fn add_service(&self, body: &AddService) -> Result<ServiceAnswer, CallError> {
        self.call(Operation::AddService).json(body)?.send().await
    }

    /// Registers a webhook.
    pub async fn add_webhook(&self, body: &AddWebhook) -> Result<WebhookAnswer, CallError> {
        self.call(Operation::AddWebhook).json(body)?.send().await
    }

    /// Removes a webhook.
    pub async fn remove_webhook(&self, name: &str) -> Result<WebhookAnswer, CallError> {
        self.call(Operation::RemoveWebhook).parameter(name).send().await
    }

    /// Sends a webhook a test.
    pub async fn test_webhook(&self, name: &str) -> Result<WebhookAnswer, CallError> {
        self.call(Operation::TestWebhook).parameter(name).send().await
    }

    /// Removes a registered service.
    pub async fn remove_service(&self, name: &str) -> Result<ServiceAnswer, CallError> {
        self.call(Operation::RemoveService).parameter(name).send().await
    }

    /// Asks a registered service for one resource.
    pub async fn test_service(
        &self,
        name: &str,
        body: &TestService,
    ) -> Result<ServiceAnswer, CallError> {
        self.call(Operation::TestService).parameter(name).json(body)?.send().await
    }

    /// Ends a run.
    pub async fn end_run(&self, run: &RunId) -> Result<RunAnswer, CallError> {
        self.call(Operation::EndRun).parameter(run).send().await
    }
}
