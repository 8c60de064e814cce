//! Whether a tool token lets an agent do something now.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::RunId;
use od_core::ledger::Door;
use od_core::token::{Claims, Endpoint, ScopeError, TokenError, TokenKind};
use od_ports::access::token_authority::{KeyringError, VerifyError};
use od_ports::agents::run_store::{Run, RunState, RunStoreError};

use crate::{App, Caller};

/// A question whether an agent may do something now.
#[derive(Clone, Copy, Debug)]
pub struct Authorize<'a> {
    /// The token as it came.
    pub token: Option<&'a str>,
    /// The endpoint; `None` for what every live run may ask.
    pub endpoint: Option<Endpoint>,
}

/// Why an agent may not.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizeError {
    /// No token came.
    #[error("the request carries no tool token")]
    Missing,
    /// The token is none of ours, or its time is over.
    #[error(transparent)]
    Token(TokenError),
    /// The token does not cover what is asked for.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// There is no such run, or it is another project's.
    #[error("the token's run is not known")]
    UnknownRun {
        /// The run the token names.
        run: RunId,
    },
    /// The run was ended.
    #[error("the token's run has ended")]
    RunEnded {
        /// The run.
        run: RunId,
    },
    /// Nobody renewed the run in time.
    #[error("the lease of the token's run has lapsed")]
    LeaseLapsed {
        /// The run.
        run: RunId,
    },
    /// The keyring cannot be used: nothing is allowed.
    #[error("tokens cannot be checked")]
    Keyring(#[source] KeyringError),
    /// The run's record cannot be read: it counts as ended.
    #[error("the record of the token's run cannot be read")]
    Runs(#[source] RunStoreError),
}

impl From<AuthorizeError> for Failure {
    fn from(error: AuthorizeError) -> Self {
        let code = match error {
            AuthorizeError::Missing => ErrorCode::ToolTokenMissing,
            AuthorizeError::Token(error) => error.code(),
            AuthorizeError::Scope(error) => error.code(),
            AuthorizeError::UnknownRun { .. }
            | AuthorizeError::Keyring(_)
            | AuthorizeError::Runs(_) => ErrorCode::ToolTokenInvalid,
            AuthorizeError::RunEnded { .. } | AuthorizeError::LeaseLapsed { .. } => {
                ErrorCode::ToolTokenExpired
            }
        };
        let suggestion = match error {
            AuthorizeError::Missing
            | AuthorizeError::Token(_)
            | AuthorizeError::UnknownRun { .. } => {
                "start the agent with `od run -- …` and send its OD_TOOL_TOKEN unchanged"
            }
            AuthorizeError::Scope(ScopeError::WrongKind { .. }) => {
                "send the OD_TOOL_TOKEN that `od run` put into the environment"
            }
            AuthorizeError::Scope(
                ScopeError::EndpointDenied { .. } | ScopeError::OperationDenied { .. },
            ) => "this run was not granted that; ask the person to start one that is",
            AuthorizeError::RunEnded { .. } | AuthorizeError::LeaseLapsed { .. } => {
                "the run is over; start another with `od run -- …`"
            }
            AuthorizeError::Keyring(_) | AuthorizeError::Runs(_) => {
                "`od doctor` says what is wrong"
            }
        };
        Self::new(code, error.to_string()).suggest(suggestion)
    }
}

/// Checks a token's signature, time, scope and run, in this order, and returns whom it stands for.
///
/// The grant is the smaller of what the token says and what the run's record says.
///
/// # Errors
///
/// Fails with the first check that does. A run that cannot be read refuses.
pub async fn authorize(app: &App, request: Authorize<'_>) -> Result<Caller, AuthorizeError> {
    let Authorize { token, endpoint } = request;
    let token = token.ok_or(AuthorizeError::Missing)?;
    let now = app.lease_time();
    let verified = app.ports.tokens.verify(token, now).map_err(|error| match error {
        VerifyError::Token(error) => AuthorizeError::Token(error),
        VerifyError::Keyring(error) => AuthorizeError::Keyring(error),
    })?;
    let claims = match (endpoint, verified.claims()) {
        (Some(endpoint), _) => verified.tool_scope(endpoint)?,
        (None, Claims::Tool(claims)) => claims,
        (None, Claims::Cli(_) | Claims::Console(_) | Claims::Preview(_)) => {
            let found = verified.claims().kind();
            return Err(ScopeError::WrongKind { wanted: TokenKind::Tool, found }.into());
        }
    };
    let run = match app.ports.runs.get(&claims.run_id).await {
        // A record of another project is answered like none at all, so that ids cannot be tried out.
        Ok(Some(run)) if run.project_id == claims.project_id => run,
        Ok(Some(_) | None) => {
            return Err(AuthorizeError::UnknownRun { run: claims.run_id.clone() });
        }
        Err(error) => return Err(AuthorizeError::Runs(error)),
    };
    // The record counts beside the claims: what a run was granted can be taken back, a signature cannot.
    check_run(&run, endpoint)?;
    if !run.is_live(now) {
        // Ended for good, so that a later start with a clock that was set back finds it ended as well. If
        // that fails, it lapses again at the next call.
        let ended = Run { state: RunState::Ended, ended_at: Some(now), ..run.clone() };
        let _ = app.ports.runs.replace(&run, &ended).await;
        return Err(AuthorizeError::LeaseLapsed { run: run.id });
    }
    // Which door its client uses is for the one who took the request to say.
    Ok(Caller::Agent { run: run.id, project: run.project_id, door: Door::Http })
}

fn check_run(run: &Run, endpoint: Option<Endpoint>) -> Result<(), AuthorizeError> {
    match run.state {
        RunState::Live => {}
        RunState::Ended => return Err(AuthorizeError::RunEnded { run: run.id.clone() }),
    }
    let Some(endpoint) = endpoint else { return Ok(()) };
    if !run.endpoints.contains(&endpoint) {
        return Err(ScopeError::EndpointDenied { endpoint }.into());
    }
    let operation = endpoint.operation();
    if !run.operations.contains(&operation) {
        return Err(ScopeError::OperationDenied { operation }.into());
    }
    Ok(())
}
