//! What a person asks for, one typed call each.

use od_core::ids::{ArtifactId, ConnectorId, ProjectId, RefreshId, Revision, RunId};
use od_wire::Empty;
use od_wire::artifact::{
    ArtifactAnswer, ArtifactsAnswer, DeleteArtifact, DeletedAnswer, RefreshedAnswer,
    RolledBackAnswer,
};
use od_wire::connector::{ConnectConnector, ConnectorAnswer};
use od_wire::refresh::{RollBack, StartRefresh};
use od_wire::route::{Operation, QueryName};
use od_wire::run::RunAnswer;
use od_wire::session::SessionCode;
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

    /// Lists the artifacts of a project.
    pub async fn artifacts(&self, project: &ProjectId) -> Result<ArtifactsAnswer, CallError> {
        self.call(Operation::ListArtifacts).query(QueryName::ProjectId, project).send().await
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

    /// Ends a run.
    pub async fn end_run(&self, run: &RunId) -> Result<RunAnswer, CallError> {
        self.call(Operation::EndRun).parameter(run).send().await
    }
}
