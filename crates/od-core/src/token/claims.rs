//! The claims of a token, and what a tool token covers.

use crate::ids::{
    ArtifactId, Audience, ConsoleSessionId, ProjectId, RefreshId, Revision, RunId, Timestamp,
    TokenId,
};
use crate::words::words;

words! {
    /// The use of a token.
    TokenKind {
        /// An agent's run, at the agent's door.
        Tool = "tool",
        /// The command line, for a minute.
        Cli = "cli",
        /// The console, for a working day.
        Console = "console",
        /// One page on the preview port, for five minutes.
        Preview = "preview",
    }
}

words! {
    /// Which form of a page is shown.
    Variant {
        /// The rendered page.
        Rendered = "rendered",
        /// The rendered page, its bound elements marked with path, source and time.
        Inspect = "inspect",
        /// The template as text.
        Template = "template",
        /// The rendered page as text.
        RenderedSource = "rendered-source",
    }
}

/// The claims of a token, by kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Claims {
    /// Of an agent's run.
    Tool(ToolClaims),
    /// Of the command line.
    Cli(CliClaims),
    /// Of the console.
    Console(ConsoleClaims),
    /// Of one page.
    Preview(PreviewClaims),
}

/// The claims of a tool token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolClaims {
    /// Names the token.
    pub token_id: TokenId,
    /// The run it was made for.
    pub run_id: RunId,
    /// The project the run works in.
    pub project_id: ProjectId,
    /// The endpoints it covers.
    pub endpoints: Vec<Endpoint>,
    /// The operations it covers.
    pub operations: Vec<Operation>,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// The claims of a command-line token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CliClaims {
    /// Names the token.
    pub token_id: TokenId,
    /// The start of the daemon it is for: worthless at any other.
    pub audience: Audience,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// The claims of a console bearer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConsoleClaims {
    /// Names the token.
    pub token_id: TokenId,
    /// The session of the browser that got it; it ends with it.
    pub session_id: ConsoleSessionId,
    /// The start of the daemon it is for. What a process that took a dead daemon's port was sent is worth
    /// nothing once the daemon is back.
    pub audience: Audience,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// The claims of a preview ticket.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PreviewClaims {
    /// The project of the page.
    pub project_id: ProjectId,
    /// The artifact of the page.
    pub artifact_id: ArtifactId,
    /// Which form of it.
    pub variant: Variant,
    /// The stored state it is of; the current one if absent.
    pub snapshot: Option<RefreshId>,
    /// The revision it is of; the current one if absent.
    pub revision: Option<Revision>,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

impl Claims {
    /// Returns what the token is for.
    #[must_use]
    pub const fn kind(&self) -> TokenKind {
        match self {
            Self::Tool(_) => TokenKind::Tool,
            Self::Cli(_) => TokenKind::Cli,
            Self::Console(_) => TokenKind::Console,
            Self::Preview(_) => TokenKind::Preview,
        }
    }

    /// Returns from when on the token is refused.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        match self {
            Self::Tool(claims) => claims.expires_at,
            Self::Cli(claims) => claims.expires_at,
            Self::Console(claims) => claims.expires_at,
            Self::Preview(claims) => claims.expires_at,
        }
    }

    /// Returns when the token was made.
    #[must_use]
    pub const fn issued_at(&self) -> Timestamp {
        match self {
            Self::Tool(claims) => claims.issued_at,
            Self::Cli(claims) => claims.issued_at,
            Self::Console(claims) => claims.issued_at,
            Self::Preview(claims) => claims.issued_at,
        }
    }
}

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
        /// `POST /api/tools/live-artifacts/cancel`
        LiveArtifactsCancel = "/api/tools/live-artifacts/cancel",
        /// `POST /api/tools/live-artifacts/delete`
        LiveArtifactsDelete = "/api/tools/live-artifacts/delete",
        /// `GET /api/tools/live-artifacts/{artifact}`
        LiveArtifactsGet = "/api/tools/live-artifacts/{artifact}",
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
        /// Refresh an artifact, or cancel that.
        LiveArtifactsRefresh = "live-artifacts:refresh",
        /// Read an artifact of the project.
        LiveArtifactsGet = "live-artifacts:get",
        /// Move an artifact of the run to the trash.
        LiveArtifactsDelete = "live-artifacts:delete",
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
            Self::LiveArtifactsRefresh | Self::LiveArtifactsCancel => {
                Operation::LiveArtifactsRefresh
            }
            Self::LiveArtifactsGet => Operation::LiveArtifactsGet,
            Self::LiveArtifactsDelete => Operation::LiveArtifactsDelete,
            Self::ConnectorsList => Operation::ConnectorsList,
            Self::ConnectorsExecute => Operation::ConnectorsExecute,
        }
    }
}
