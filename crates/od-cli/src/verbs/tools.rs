//! `od tools …`: the agent's commands, a thin client of `/api/tools/*`.
//!
//! They always answer in JSON: one document on stdout, or a refusal on stderr with stdout empty.

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
use od_wire::route::Operation;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::tool_input;
use crate::args::{ExecuteTool, ToolCommand, ToolCreate, ToolRefresh, ToolUpdate, ToolValidate};
use crate::output::Refusal;

/// Returns the agent's client, from the environment that `od run` sets.
pub(crate) fn client() -> Result<Client, Refusal> {
    let variable = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
    let token = variable("OD_TOOL_TOKEN").ok_or_else(|| {
        Refusal::new(ErrorCode::ToolTokenMissing, "OD_TOOL_TOKEN is not set")
            .suggesting("start the agent with `od run -- COMMAND`; it sets OD_TOOL_TOKEN")
    })?;
    let url = variable("OD_DAEMON_URL").ok_or_else(|| {
        Refusal::new(ErrorCode::BadRequest, "OD_DAEMON_URL is not set")
            .suggesting("start the agent with `od run -- COMMAND`; it sets OD_DAEMON_URL")
    })?;
    let bearer = match variable("OD_DATA_DIR") {
        Some(place) => {
            let (place, url) = (PathBuf::from(place), url.clone());
            let show = move || living(&place, &url).map(|()| token.clone());
            Bearer::Fresh(Arc::new(show))
        }
        None => Bearer::Token(token),
    };
    Ok(Client::new(&url, bearer)?)
}

/// As [`client`], if the run's daemon lives.
pub(crate) fn client_of_living() -> Result<Client, Refusal> {
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
    match DataDir::look(place) {
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
pub(crate) async fn perform(client: &Client, asked: ToolCommand) -> Result<Value, Refusal> {
    match asked {
        ToolCommand::Create(asked) => create(client, asked).await,
        ToolCommand::List(_) => list(client).await,
        ToolCommand::Update(asked) => update(client, asked).await,
        ToolCommand::Refresh(asked) => refresh(client, asked).await,
        ToolCommand::Validate(asked) => validate(client, asked).await,
        ToolCommand::Connectors(_) => connectors(client).await,
        ToolCommand::Execute(asked) => execute(client, asked).await,
    }
}

/// Creates an artifact; with `--dry-run` only answers as create would.
async fn create(client: &Client, asked: ToolCreate) -> Result<Value, Refusal> {
    let mut read = tool_input::read(&asked.input)?;
    if let Some(attempt) = asked.attempt_id {
        read.body.set("attemptId", attempt);
    }
    let call = client.call(Operation::ToolCreateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolArtifactAnswer = tried(call, asked.dry_run).send().await?;
    finished(&answer, read.warnings)
}

/// Asks that a change is only tried.
fn tried(call: Call<'_>, dry_run: bool) -> Call<'_> {
    call.maybe_query("dryRun", dry_run.then_some(true))
}

/// Lists the artifacts of the run's project.
async fn list(client: &Client) -> Result<Value, Refusal> {
    let answer: ToolArtifactsAnswer = client.call(Operation::ToolListArtifacts).send().await?;
    finished(&answer, Vec::new())
}

/// Changes an artifact.
async fn update(client: &Client, asked: ToolUpdate) -> Result<Value, Refusal> {
    let mut read = tool_input::read(&asked.input)?;
    read.body.set("artifactId", asked.artifact_id);
    if let Some(revision) = asked.if_revision {
        read.body.set("ifRevision", revision);
    }
    let call = client.call(Operation::ToolUpdateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolArtifactAnswer = tried(call, asked.dry_run).send().await?;
    finished(&answer, read.warnings)
}

/// Refreshes an artifact; with `--dry-run` only says what a refresh would change.
async fn refresh(client: &Client, asked: ToolRefresh) -> Result<Value, Refusal> {
    let body = json!({ "artifactId": asked.artifact_id });
    let call = client.call(Operation::ToolRefreshArtifact).json(&body)?;
    let answer: ToolRefreshedAnswer = tried(call, asked.dry_run).send().await?;
    finished(&answer, Vec::new())
}

/// Checks what create would be given, or what update would be if an artifact is named.
async fn validate(client: &Client, asked: ToolValidate) -> Result<Value, Refusal> {
    let mut read = tool_input::read(&asked.input)?;
    if let Some(id) = asked.artifact_id {
        read.body.set("artifactId", id);
    }
    if let Some(revision) = asked.if_revision {
        read.body.set("ifRevision", revision);
    }
    let call =
        client.call(Operation::ToolValidateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolValidAnswer = call.send().await?;
    finished(&answer, read.warnings)
}

/// Lists connected connectors and their read-only tools.
async fn connectors(client: &Client) -> Result<Value, Refusal> {
    let answer: ConnectorsAnswer = client.call(Operation::ToolListConnectors).send().await?;
    finished(&answer, Vec::new())
}

/// Runs one read-only tool.
async fn execute(client: &Client, asked: ExecuteTool) -> Result<Value, Refusal> {
    let mut read = tool_input::read_tool_input(&asked.input)?;
    for (name, value) in [
        ("connectorId", asked.connector.as_str()),
        ("toolName", &asked.tool),
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
fn finished(answer: &impl Serialize, remarks: Vec<Value>) -> Result<Value, Refusal> {
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
