//! The agent's client, and one exchange for each command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_client::{Bearer, Call, CallError, Client};
use od_core::error::{ErrorCode, Failure};
use od_daemon::Announcement;
use od_fs::{DataDir, PrivateError};
use od_wire::artifact::{
    ToolArtifactAnswer, ToolArtifactsAnswer, ToolRefreshedAnswer, ToolValidAnswer,
};
use od_wire::connector::{ConnectorsAnswer, ExecuteAnswer};
use od_wire::route::{Operation, QueryName};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::input;
use crate::args::{ExecuteTool, ToolCommand, ToolCreate, ToolRefresh, ToolUpdate, ToolValidate};
use crate::output::CommandError;

/// Returns the agent's client, from the environment that `od run` sets.
pub(crate) fn client() -> Result<Client, CommandError> {
    let variable = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
    let token = variable("OD_TOOL_TOKEN").ok_or_else(|| {
        CommandError::new(ErrorCode::ToolTokenMissing, "OD_TOOL_TOKEN is not set")
            .suggest("start the agent with `od run -- COMMAND`; it sets OD_TOOL_TOKEN")
    })?;
    let url = variable("OD_DAEMON_URL").ok_or_else(|| {
        CommandError::new(ErrorCode::BadRequest, "OD_DAEMON_URL is not set")
            .suggest("start the agent with `od run -- COMMAND`; it sets OD_DAEMON_URL")
    })?;
    let bearer = match variable("OD_DATA_DIR") {
        Some(place) => {
            let (place, url) = (PathBuf::from(place), url.clone());
            // Asked before each call: an agent's run may outlive its daemon by hours.
            let show = move || living(&place, &url).map(|()| token.clone());
            Bearer::Fresh(Arc::new(show))
        }
        None => Bearer::Token(token),
    };
    Ok(Client::new(&url, bearer)?)
}

/// As [`client`], if the run's daemon lives.
pub(crate) fn client_of_living() -> Result<Client, CommandError> {
    let client = client()?;
    if let Some(place) = std::env::var_os("OD_DATA_DIR").filter(|text| !text.is_empty()) {
        living(Path::new(&place), client.url())?;
    }
    Ok(client)
}

/// Checks that the daemon at the run's address is the living one of the run's data directory: after
/// its death anybody on the machine may listen there, and would be shown the token.
///
/// An agent that cannot see the directory, or runs as another user than its owner, in a sandbox or a
/// container, has nothing to ask; its token opens no more than its run's project.
fn living(place: &Path, url: &str) -> Result<(), CallError> {
    match DataDir::open_existing(place) {
        Ok(_) => {}
        // Foreign: in a container the agent may be another user than the one who mounted it there.
        Err(PrivateError::Io { .. } | PrivateError::Foreign { .. }) => return Ok(()),
        Err(
            error @ (PrivateError::Writable { .. }
            | PrivateError::TooOpen { .. }
            | PrivateError::Link { .. }
            | PrivateError::Kind { .. }),
        ) => {
            let failure = Failure::new(ErrorCode::BadRequest, error.to_string());
            return Err(failure.suggest(error.fix()).into());
        }
    }
    let living = Announcement::of_living(place).map(|found| found.url);
    if living.as_deref() == Some(url.trim_end_matches('/')) {
        return Ok(());
    }
    let source = std::io::ErrorKind::NotConnected.into();
    Err(CallError::Unreachable { url: url.to_owned(), source })
}

/// Makes the one exchange that was asked for.
pub(crate) async fn perform(client: &Client, args: ToolCommand) -> Result<Value, CommandError> {
    match args {
        ToolCommand::Create(args) => create(client, args).await,
        ToolCommand::List(_) => list(client).await,
        ToolCommand::Update(args) => update(client, args).await,
        ToolCommand::Refresh(args) => refresh(client, args).await,
        ToolCommand::Validate(args) => validate(client, args).await,
        ToolCommand::Connectors(_) => connectors(client).await,
        ToolCommand::Execute(args) => execute(client, args).await,
    }
}

/// Creates an artifact; with `--dry-run` only answers as create would.
async fn create(client: &Client, args: ToolCreate) -> Result<Value, CommandError> {
    let mut read = input::read(&args.input)?;
    if let Some(attempt) = args.attempt_id {
        read.body.set("attemptId", attempt);
    }
    let call = client.call(Operation::ToolCreateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolArtifactAnswer = tried(call, args.dry_run).send().await?;
    finished(&answer, read.warnings)
}

/// Asks that a change is only tried.
fn tried(call: Call<'_>, dry_run: bool) -> Call<'_> {
    call.maybe_query(QueryName::DryRun, dry_run.then_some(true))
}

/// Lists the artifacts of the run's project.
async fn list(client: &Client) -> Result<Value, CommandError> {
    let answer: ToolArtifactsAnswer = client.call(Operation::ToolListArtifacts).send().await?;
    finished(&answer, Vec::new())
}

/// Changes an artifact.
async fn update(client: &Client, args: ToolUpdate) -> Result<Value, CommandError> {
    let mut read = input::read(&args.input)?;
    read.body.set("artifactId", args.artifact_id);
    if let Some(revision) = args.if_revision {
        read.body.set("ifRevision", revision);
    }
    let call = client.call(Operation::ToolUpdateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolArtifactAnswer = tried(call, args.dry_run).send().await?;
    finished(&answer, read.warnings)
}

/// Refreshes an artifact; with `--dry-run` only says what a refresh would change.
async fn refresh(client: &Client, args: ToolRefresh) -> Result<Value, CommandError> {
    let body = json!({ "artifactId": args.artifact_id });
    let call = client.call(Operation::ToolRefreshArtifact).json(&body)?;
    let answer: ToolRefreshedAnswer = tried(call, args.dry_run).send().await?;
    finished(&answer, Vec::new())
}

/// Checks what create would be given, or what update would be if an artifact is named.
async fn validate(client: &Client, args: ToolValidate) -> Result<Value, CommandError> {
    let mut read = input::read(&args.input)?;
    if let Some(id) = args.artifact_id {
        read.body.set("artifactId", id);
    }
    if let Some(revision) = args.if_revision {
        read.body.set("ifRevision", revision);
    }
    let call =
        client.call(Operation::ToolValidateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolValidAnswer = call.send().await?;
    finished(&answer, read.warnings)
}

/// Lists connected connectors and their read-only tools.
async fn connectors(client: &Client) -> Result<Value, CommandError> {
    let answer: ConnectorsAnswer = client.call(Operation::ToolListConnectors).send().await?;
    finished(&answer, Vec::new())
}

/// Runs one read-only tool.
async fn execute(client: &Client, args: ExecuteTool) -> Result<Value, CommandError> {
    let mut read = input::read_tool_input(&args.input)?;
    for (name, value) in [
        ("connectorId", args.connector.as_str()),
        ("toolName", &args.tool),
        ("purpose", "agent_preview"),
    ] {
        read.body.set(name, value);
    }
    let call =
        client.call(Operation::ToolExecuteConnector).json_bytes(read.body.text().into_bytes());
    let answer: ExecuteAnswer = call.send().await?;
    finished(&answer, Vec::new())
}

/// Puts `ok` first, then what the daemon said, then our own remarks.
fn finished(answer: &impl Serialize, remarks: Vec<Value>) -> Result<Value, CommandError> {
    let answer = serde_json::to_value(answer).map_err(|source| CallError::Encode { source })?;
    let mut document = Map::new();
    document.insert("ok".to_owned(), json!(true));
    if let Value::Object(fields) = answer {
        document.extend(fields.into_iter().filter(|(name, _)| name != "ok"));
    }
    if !remarks.is_empty() {
        let warnings = document.entry("warnings").or_insert_with(|| json!([]));
        if let Value::Array(list) = warnings {
            list.extend(remarks);
        }
    }
    Ok(Value::Object(document))
}
