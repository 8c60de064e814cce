//! Start a run.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{AgentName, ProjectId, RunId, Timestamp, TokenId};
use od_core::limits;
use od_core::token::{Claims, Endpoint, Operation, ToolClaims};
use od_ports::access::token_authority::KeyringError;
use od_ports::agents::run_store::{Run, RunState, RunStoreError};
use od_ports::system::EntropyError;

use crate::projects::{self, ReadProjectError};
use crate::{App, Caller, PersonOnly};

/// A run to start.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// The project it works in.
    pub project: ProjectId,
    /// The program that the agent is, if that is known.
    pub agent: Option<AgentName>,
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
    /// There is no such project, or it could not be read.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
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
            StartRunError::Project(err) => err.into(),
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
    let StartRun { project, agent } = request;
    projects::get(app, caller, project.clone()).await?;
    let (mut run_entropy, mut token_entropy) = ([0; 16], [0; 16]);
    app.ports.entropy.fill(&mut run_entropy)?;
    app.ports.entropy.fill(&mut token_entropy)?;
    let now = app.ports.clock.now();
    let run = Run {
        id: RunId::generate(run_entropy),
        project_id: project,
        agent,
        state: RunState::Live,
        started_at: now,
        lease_until: now.plus_ms(limits::RUN_LEASE.allowed),
        ended_at: None,
        endpoints: Endpoint::ALL.to_vec(),
        operations: Operation::ALL.to_vec(),
    };
    // The record first: a run without a token harms nobody, a token without a record is refused as unknown.
    app.ports.runs.create(&run).await?;
    // Whatever keeps old records from being removed does not keep an agent from its work.
    let kept_ms = i64::try_from(limits::RUN_RETENTION.allowed).unwrap_or(i64::MAX);
    let _ = app.ports.runs.forget(Timestamp::from_unix_ms(now.unix_ms() - kept_ms)).await;
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
