//! The agent's client, and one exchange for each command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_client::{Bearer, Call, CallError, Client};
use od_core::error::{ErrorCode, Failure};
use od_core::ledger::Door;
use od_daemon::Announcement;
use od_fs::{DataDir, PrivateError};
use od_wire::artifact::{
    ToolArtifactAnswer, ToolArtifactsAnswer, ToolDeletedAnswer, ToolReadAnswer,
    ToolRefreshedAnswer, ToolValidAnswer,
};
use od_wire::connector::{ConnectorsAnswer, ExecuteAnswer};
use od_wire::route::{Operation, QueryName};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::input;
use crate::args::{
    DataFile, ExecuteTool, ToolCommand, ToolCreate, ToolDelete, ToolGet, ToolList, ToolRefresh,
    ToolUpdate, ToolValidate,
};
use crate::output::{CommandError, Exit};

/// Returns the agent's client, from the environment that `od run` sets.
pub(crate) fn client() -> Result<Client, CommandError> {
    let variable = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
    let token = variable("OD_TOOL_TOKEN").ok_or_else(|| match variable("OD_RUN_ID") {
        Some(_) => token_removed(variable("OD_AGENT").as_deref()),
        None => CommandError::new(ErrorCode::ToolTokenMissing, "OD_TOOL_TOKEN is not set")
            .suggest("start the agent with `od run -- COMMAND`; it sets OD_TOOL_TOKEN"),
    })?;
    let url = variable("OD_DAEMON_URL").ok_or_else(|| {
        CommandError::new(ErrorCode::BadRequest, "OD_DAEMON_URL is not set")
            .suggest("start the agent with `od run -- COMMAND`; it sets OD_DAEMON_URL")
    })?;
    let place = variable("OD_DATA_DIR").map(PathBuf::from);
    let client =
        match place.map(|place| seen(&place).map(|is_seen| (place, is_seen))).transpose()? {
            Some((place, true)) => {
                let asked = url.clone();
                // Asked before each call: an agent's run may outlive its daemon by hours.
                let show = move || living(&place, &asked).map(|()| token.clone());
                Client::new(&url, Bearer::Fresh(Arc::new(show)))?
            }
            Some((_, false)) | None => {
                let id = variable("OD_DAEMON_ID").ok_or_else(unproven)?;
                Client::new(&url, Bearer::Token(token))?.of_daemon(id)
            }
        };
    Ok(client.through(Door::ToolShell))
}

/// Says that nothing tells the run's daemon from any other program at its address.
fn unproven() -> CommandError {
    let message = "nothing here tells this run's daemon from another program at OD_DAEMON_URL: OD_DAEMON_ID is \
                   not set, and OD_DATA_DIR leads to no directory of this user's";
    CommandError::new(ErrorCode::DaemonUnavailable, message)
        .suggest(
            "let OD_DAEMON_ID pass to this command (it is no secret); `od run -- COMMAND` sets it",
        )
        .ending(Exit::Unavailable)
}

/// Says that the agent took the token out of the environment of its commands, and which setting of it
/// brings it back.
fn token_removed(agent: Option<&str>) -> CommandError {
    let codex = "Codex: `-c shell_environment_policy.ignore_default_excludes=true`";
    let gemini =
        "Gemini: OD_TOOL_TOKEN in `security.environmentVariableRedaction.allowed` of its settings";
    let setting = match agent {
        Some("codex") => codex.to_owned(),
        Some("gemini") => gemini.to_owned(),
        Some(_) | None => format!("{codex}; {gemini}"),
    };
    let agent = agent.unwrap_or("NAME");
    CommandError::new(
        ErrorCode::ToolTokenMissing,
        "the agent removed OD_TOOL_TOKEN from the environment of this command (OD_RUN_ID is there)",
    )
    .suggest(format!(
        "use od's MCP tools, which `od run --agent {agent} -- …` adds; or let the token pass. {setting}"
    ))
}

/// Says that a sandbox is what keeps a command from the daemon, where that is so.
pub(crate) fn explained(refusal: CommandError) -> CommandError {
    let in_codex = std::env::var("CODEX_SANDBOX_NETWORK_DISABLED").is_ok_and(|set| set == "1");
    if refusal.failure.code != ErrorCode::DaemonUnavailable || !in_codex {
        return refusal;
    }
    CommandError::new(
        ErrorCode::DaemonUnavailable,
        "Codex's sandbox lets no command reach the daemon (CODEX_SANDBOX_NETWORK_DISABLED=1)",
    )
    .suggest(
        "use od's MCP tools, which run outside the sandbox: `od run --agent codex -- codex …`; or allow the \
         network: `codex -c sandbox_workspace_write.network_access=true`",
    )
}

/// As [`client`], if the run's daemon lives.
pub(crate) fn client_of_living() -> Result<Client, CommandError> {
    let client = client()?;
    if let Some(place) = std::env::var_os("OD_DATA_DIR").filter(|text| !text.is_empty())
        && seen(Path::new(&place))?
    {
        living(Path::new(&place), client.url())?;
    }
    Ok(client)
}

/// Returns whether this process can ask the data directory which daemon lives.
///
/// An agent in a sandbox or a container may not see it, or be another user than its owner; the daemon
/// itself has to say then who it is.
fn seen(place: &Path) -> Result<bool, CallError> {
    match DataDir::open_existing(place) {
        Ok(_) => Ok(true),
        // Foreign: in a container the agent may be another user than the one who mounted it there.
        Err(PrivateError::Io { .. } | PrivateError::Foreign { .. }) => Ok(false),
        Err(
            error @ (PrivateError::Writable { .. }
            | PrivateError::TooOpen { .. }
            | PrivateError::Link { .. }
            | PrivateError::Kind { .. }),
        ) => {
            let failure = Failure::new(ErrorCode::BadRequest, error.to_string());
            Err(failure.suggest(error.fix()).into())
        }
    }
}

/// Checks that the daemon at the run's address is the living one of the run's data directory: after
/// its death anybody on the machine may listen there, and would be shown the token.
pub(crate) fn living(place: &Path, url: &str) -> Result<(), CallError> {
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
        ToolCommand::List(args) => list(client, args).await,
        ToolCommand::Get(args) => get(client, args).await,
        ToolCommand::Delete(args) => delete(client, args).await,
        ToolCommand::Update(args) => update(client, args).await,
        ToolCommand::Refresh(args) => refresh(client, args).await,
        ToolCommand::Validate(args) => validate(client, args).await,
        ToolCommand::Connectors(_) => connectors(client).await,
        ToolCommand::Execute(args) => execute(client, args).await,
    }
}

/// Creates an artifact; with `--dry-run` only answers as create would.
async fn create(client: &Client, args: ToolCreate) -> Result<Value, CommandError> {
    let mut read = input::read(&args.input, DataFile::Sent)?;
    if let Some(attempt) = args.attempt_id {
        read.body.set("attemptId", attempt);
    }
    let call = client.call(Operation::ToolCreateArtifact).json_bytes(read.body.text().into_bytes());
    let call = tried(offline(call, args.offline), args.dry_run);
    let answer: ToolArtifactAnswer = call.send().await?;
    finished(&answer, read.warnings)
}

/// Asks that a change is only tried.
fn tried(call: Call<'_>, dry_run: bool) -> Call<'_> {
    call.maybe_query(QueryName::DryRun, dry_run.then_some(true))
}

/// Asks that no source is read.
fn offline(call: Call<'_>, offline: bool) -> Call<'_> {
    call.maybe_query(QueryName::Offline, offline.then_some(true))
}

/// Lists the artifacts of the run's project.
async fn list(client: &Client, args: ToolList) -> Result<Value, CommandError> {
    let call = client
        .call(Operation::ToolListArtifacts)
        .maybe_query(QueryName::Query, args.query)
        .maybe_query(QueryName::Limit, args.limit)
        .maybe_query(QueryName::Cursor, args.cursor);
    let answer: ToolArtifactsAnswer = call.send().await?;
    finished(&answer, Vec::new())
}

/// Reads an artifact.
async fn get(client: &Client, args: ToolGet) -> Result<Value, CommandError> {
    let call = client
        .call(Operation::ToolGetArtifact)
        .parameter(&args.artifact_id)
        .maybe_query(QueryName::DataPath, args.path)
        .maybe_query(QueryName::Include, args.include);
    let answer: ToolReadAnswer = call.send().await?;
    finished(&answer, Vec::new())
}

/// Moves an artifact of the run to the trash; with `--dry-run` only answers as delete would.
async fn delete(client: &Client, args: ToolDelete) -> Result<Value, CommandError> {
    let mut body = json!({ "artifactId": args.artifact_id });
    if let Some(revision) = args.if_revision {
        body["ifRevision"] = json!(revision);
    }
    let call = client.call(Operation::ToolDeleteArtifact).json(&body)?;
    let answer: ToolDeletedAnswer = tried(call, args.dry_run).send().await?;
    finished(&answer, Vec::new())
}

/// Changes an artifact.
async fn update(client: &Client, args: ToolUpdate) -> Result<Value, CommandError> {
    let mut read = input::read(&args.input, args.data)?;
    read.body.set("artifactId", args.artifact_id);
    if let Some(revision) = args.if_revision {
        read.body.set("ifRevision", revision);
    }
    let call = client.call(Operation::ToolUpdateArtifact).json_bytes(read.body.text().into_bytes());
    let call = tried(offline(call, args.offline), args.dry_run);
    let answer: ToolArtifactAnswer = call.send().await?;
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
    let mut read = input::read(&args.input, args.data)?;
    if let Some(id) = args.artifact_id {
        read.body.set("artifactId", id);
    }
    if let Some(revision) = args.if_revision {
        read.body.set("ifRevision", revision);
    }
    let call =
        client.call(Operation::ToolValidateArtifact).json_bytes(read.body.text().into_bytes());
    let answer: ToolValidAnswer = offline(call, args.offline).send().await?;
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
