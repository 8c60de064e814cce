//! What a tool token covers.

use crate::words::words;

words! {
    /// One endpoint of the agent's door.
    Endpoint {
        /// `POST /api/tools/live-artifacts/create`
        LiveArtifactsCreate = "/api/tools/live-artifacts/create",
        /// `GET /api/tools/live-artifacts/list`
        LiveArtifactsList = "/api/tools/live-artifacts/list",
        /// `POST /api/tools/live-artifacts/update`
        LiveArtifactsUpdate = "/api/tools/live-artifacts/update",
        /// `POST /api/tools/live-artifacts/refresh`
        LiveArtifactsRefresh = "/api/tools/live-artifacts/refresh",
        /// `POST /api/tools/live-artifacts/validate`
        LiveArtifactsValidate = "/api/tools/live-artifacts/validate",
        /// `GET /api/tools/connectors/list`
        ConnectorsList = "/api/tools/connectors/list",
        /// `POST /api/tools/connectors/execute`
        ConnectorsExecute = "/api/tools/connectors/execute",
    }
}

words! {
    /// One operation of the agent's door.
    Operation {
        /// Create an artifact, or validate one.
        LiveArtifactsCreate = "live-artifacts:create",
        /// List the project's artifacts.
        LiveArtifactsList = "live-artifacts:list",
        /// Change an artifact.
        LiveArtifactsUpdate = "live-artifacts:update",
        /// Refresh an artifact.
        LiveArtifactsRefresh = "live-artifacts:refresh",
        /// List connectors and their tools.
        ConnectorsList = "connectors:list",
        /// Execute a tool of a connector.
        ConnectorsExecute = "connectors:execute",
    }
}

impl Endpoint {
    /// Returns the operation a request to the endpoint performs.
    #[must_use]
    pub const fn operation(self) -> Operation {
        match self {
            Self::LiveArtifactsCreate | Self::LiveArtifactsValidate => {
                Operation::LiveArtifactsCreate
            }
            Self::LiveArtifactsList => Operation::LiveArtifactsList,
            Self::LiveArtifactsUpdate => Operation::LiveArtifactsUpdate,
            Self::LiveArtifactsRefresh => Operation::LiveArtifactsRefresh,
            Self::ConnectorsList => Operation::ConnectorsList,
            Self::ConnectorsExecute => Operation::ConnectorsExecute,
        }
    }
}
