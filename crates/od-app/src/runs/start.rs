//! Start a run.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ProjectId, RunId, TokenId};
use od_core::limits;
use od_core::token::{Claims, Endpoint, Operation, ToolClaims};
use od_ports::entropy::EntropyError;
use od_ports::project_registry::ProjectError;
use od_ports::run_store::{Run, RunState, RunStoreError};
use od_ports::token_authority::KeyringError;

use crate::{App, Caller, PersonOnly, failure};

/// A run to start.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// The project it works in.
    pub project: ProjectId,
}

/// A run that began, and the token its agent gets. The token is nowhere else.
#[derive(Clone, Debug)]
pub struct StartedRun {
    /// The run.
    pub run: Run,
    /// The token.
    pub token: String,
}

/// Why it did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartRunError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such project.
    #[error("no project `{project}`")]
    UnknownProject {
        /// The id asked for.
        project: ProjectId,
    },
    /// The projects could not be read.
    #[error(transparent)]
    Projects(#[from] ProjectError),
    /// There were no random bytes for an id.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The token could not be signed.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The run could not be written down.
    #[error(transparent)]
    Runs(#[from] RunStoreError),
}

impl From<StartRunError> for Failure {
    fn from(err: StartRunError) -> Self {
        match err {
            StartRunError::PersonOnly(err) => err.into(),
            StartRunError::UnknownProject { project } => failure::unknown_project(&project),
            StartRunError::Projects(err) => failure::registry(err),
            StartRunError::Runs(_) => {
                Self::new(ErrorCode::LiveArtifactStorageFailed, err.to_string())
                    .suggest("check free space and permissions of the data directory")
            }
            StartRunError::Entropy(_) | StartRunError::Keyring(_) => {
                Self::new(ErrorCode::Internal, err.to_string())
                    .suggest("look at the keyring with `od keys status`")
            }
        }
    }
}

/// Starts a run for an agent; only a person may. Its record is durable before its token exists.
pub async fn start(
    app: &App,
    caller: &Caller,
    request: StartRun,
) -> Result<StartedRun, StartRunError> {
    caller.require_person()?;
    let StartRun { project } = request;
    if app.ports.projects.get(&project).await?.is_none() {
        return Err(StartRunError::UnknownProject { project });
    }
    let (mut run_entropy, mut token_entropy) = ([0; 16], [0; 16]);
    app.ports.entropy.fill(&mut run_entropy)?;
    app.ports.entropy.fill(&mut token_entropy)?;
    let now = app.ports.clock.now();
    let run = Run {
        id: RunId::generate(run_entropy),
        project_id: project,
        state: RunState::Live,
        started_at: now,
        lease_until: now.plus_ms(limits::RUN_LEASE.allowed),
        ended_at: None,
        endpoints: Endpoint::ALL.to_vec(),
        operations: Operation::ALL.to_vec(),
    };
    app.ports.runs.create(&run).await?;
    let token = app.ports.tokens.sign(&Claims::Tool(ToolClaims {
        token_id: TokenId::generate(token_entropy),
        run_id: run.id.clone(),
        project_id: run.project_id.clone(),
        endpoints: run.endpoints.clone(),
        operations: run.operations.clone(),
        issued_at: now,
        expires_at: now.plus_ms(limits::TOOL_TOKEN_LIFETIME.allowed),
    }))?;
    Ok(StartedRun { run, token })
}
