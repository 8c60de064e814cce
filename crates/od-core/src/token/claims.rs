//! What a token says.

use super::{Endpoint, Operation};
use crate::ids::{ArtifactId, Audience, ProjectId, RefreshId, RunId, Timestamp, TokenId};
use crate::words::words;

words! {
    /// What a token is for.
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

/// What a token says, by kind.
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

/// What a tool token says.
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

/// What a command-line token says.
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

/// What a console bearer says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConsoleClaims {
    /// Names the token.
    pub token_id: TokenId,
    /// The data directory it is for: good after a restart there, and nowhere else.
    pub audience: Audience,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// What a preview ticket says.
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
