//! The run of one command.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use od_app::App;
use od_client::{CallError, Client};
use od_core::error::ErrorCode;
use od_ports::project_registry::Project;
use od_wire::route::Operation;
use od_wire::run::{RunAnswer, RunView, StartRun, StartedRun};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::process::{Child, Command};
use tokio::signal::unix::SignalKind;

use super::agents::{self, Additions};
use crate::args::Run;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Sink, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::{daemon, skills};

/// The pause after which a failed renewal is tried again.
const RENEW_AGAIN: Duration = Duration::from_secs(20);
/// The shortest pause between renewals, however short the lease.
const RENEW_SOONEST: Duration = Duration::from_millis(100);

/// Starts the command with the run's environment, waits for it, ends the run.
pub(crate) async fn run(
    settings: &Settings,
    args: Run,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let app = local::open_existing(settings)?;
    let project = match &app {
        Some(app) => local::project(app, settings, args.project.as_deref()).await?,
        None => None,
    };
    let project = project.ok_or_else(|| local::no_project(&settings.directory))?;
    if args.dry_run {
        return Ok(plan(settings, &args, &project).await);
    }
    let starting = daemon::ensure(settings, None);
    let daemon = with_progress(sink, "starting the daemon", starting).await?;
    let client = daemon::person_client(settings, &daemon)?;
    let agent = args.agent.and_then(|agent| agent.as_str().parse().ok());
    let start = StartRun { project_id: project.id.clone(), agent };
    let started: StartedRun = client.call(Operation::StartRun).json(&start)?.send().await?;
    let daemon_id = daemon_id(app.as_ref())?;
    let added = added(settings, &args, &started.run)?;
    if let Some(remark) = skill_made_known(settings, &args, &project) {
        sink.remark(&remark);
    }
    if let Some(remark) = added.remark {
        sink.remark(remark);
    }
    let outcome = supervise(settings, &args, added, &client, &started, &daemon_id).await;
    // The run ends whatever happened to the command; its lease ends it if the daemon is gone.
    let ended = client.end_run(&started.run.run_id).await;
    let status = outcome?;
    if ended.is_err() {
        sink.remark("the daemon could not be told that the run is over; its lease ends it");
    }
    Ok(Answer::silent().ending(exit_of(status)))
}

/// Returns the fingerprint of the key with which the daemon proves itself. It is public.
fn daemon_id(app: Option<&App>) -> Result<String, CommandError> {
    let key = app.map(|app| app.ports.sessions.daemon_key()).transpose();
    match key {
        Ok(key) => Ok(key.map(|key| key.fingerprint()).unwrap_or_default()),
        Err(error) => Err(CommandError::new(ErrorCode::Internal, error.to_string())
            .suggest("check the permissions of OD_HOME; `od doctor` looks at it")),
    }
}

/// Installs the skill where the project lacks it, and says so. An agent that cannot learn it still
/// has its tools: a failure is a remark.
fn skill_made_known(settings: &Settings, args: &Run, project: &Project) -> Option<String> {
    let root = project.root.as_deref().filter(|_| !args.no_skill && is_there(&args.program))?;
    match skills::make_known(settings, root, false) {
        Ok(places) if places.is_empty() => None,
        Ok(places) => Some(format!(
            "installed the skill live-artifact in {} (--no-skill leaves it out)",
            places.join(" and ")
        )),
        Err(error) => {
            Some(format!("the skill live-artifact is not installed: {}", error.failure.message))
        }
    }
}

/// Returns whether a command can be found: for one that cannot start nothing is written.
fn is_there(program: &OsStr) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}

async fn plan(settings: &Settings, args: &Run, project: &Project) -> Answer {
    let running = daemon::running(settings).await;
    let program = args.program.to_string_lossy();
    let daemon = match &running {
        Some(found) => format!("with the daemon at {}", found.url),
        None => "after starting the daemon".to_owned(),
    };
    let text =
        Text::new().line(&format!("Would run `{program}` in project {} {daemon}.", project.id));
    let root = project.root.as_deref().filter(|_| !args.no_skill);
    let installs = root.and_then(|root| skills::make_known(settings, root, true).ok());
    let json = json!({
        "dryRun": true,
        "installsSkill": installs.unwrap_or_default(),
        "projectId": project.id,
        "program": program,
        "arguments": args.arguments.len(),
        "daemon": running.map(|found| found.url),
    });
    Answer::new(json, text)
}

async fn supervise(
    settings: &Settings,
    args: &Run,
    added: Added,
    client: &Client,
    started: &StartedRun,
    daemon_id: &str,
) -> Result<ExitStatus, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("cannot find this program: {error}"))
    })?;
    // Before the command is there: a signal that comes right after it must not end us alone.
    let mut signals = Signals::listen()?;
    let mut child = Command::new(&args.program)
        .args(&added.arguments)
        .args(&args.arguments)
        .envs(added.env)
        .env("OD_HOME", &settings.home)
        .env("OD_BIN", program)
        // Older skills write `"$OD_NODE_BIN" "$OD_BIN" …`; env(1) makes that the same call.
        .env("OD_NODE_BIN", "/usr/bin/env")
        .env("OD_DAEMON_URL", client.url())
        // So that its commands can ask whether the daemon at that address is still the run's.
        .env("OD_DATA_DIR", &settings.data_dir)
        // So that those that cannot see the directory can have the daemon prove itself. Agents take
        // variables with KEY in their name out of a command's environment: this is called an id.
        .env("OD_DAEMON_ID", daemon_id)
        .env("OD_TOOL_TOKEN", &started.tool_token)
        .env("OD_RUN_ID", started.run.run_id.as_str())
        .spawn()
        .map_err(|error| {
            let program = args.program.to_string_lossy();
            CommandError::new(ErrorCode::NotFound, format!("cannot start `{program}`: {error}"))
                .suggest("check the command's name, and that it is in PATH")
        })?;
    let mut pause = until_renewal(&started.run);
    loop {
        tokio::select! {
            status = child.wait() => {
                return status.map_err(|error| {
                    CommandError::new(ErrorCode::Internal, format!("lost the command: {error}"))
                });
            }
            signal = signals.next() => pass_on(&child, signal),
            () = tokio::time::sleep(pause) => {
                let renewed = renew(settings, client, started).await;
                pause = renewed.as_ref().map_or(RENEW_AGAIN, until_renewal);
            }
        }
    }
}

/// The additions to a command for its agent.
#[derive(Default)]
struct Added {
    arguments: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    remark: Option<&'static str>,
    /// Removed when the command has ended.
    _settings: Option<tempfile::NamedTempFile>,
}

fn added(settings: &Settings, args: &Run, run: &RunView) -> Result<Added, CommandError> {
    let Some(agent) = args.agent else { return Ok(Added::default()) };
    let failed = |error: std::io::Error| {
        CommandError::new(
            ErrorCode::Internal,
            format!("cannot prepare {}: {error}", agent.as_str()),
        )
        .suggest("check free space and permissions of OD_HOME")
    };
    let program = std::env::current_exe().map_err(failed)?;
    let Additions { arguments, mut env, settings: file, remark } =
        agents::additions(agent, &program);
    env.push(("OD_AGENT", agent.as_str().into()));
    let mut kept = None;
    if let Some((variable, content)) = file {
        // Private, and gone with the run; it names the token's variable, never the token.
        let prefix = format!("{}-", run.run_id);
        let mut file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".json")
            .tempfile_in(&settings.home)
            .map_err(failed)?;
        file.write_all(content.to_string().as_bytes()).map_err(failed)?;
        env.push((variable, file.path().as_os_str().to_owned()));
        kept = Some(file);
    }
    Ok(Added { arguments, env, remark, _settings: kept })
}

/// Renews the lease of a run until it cannot be renewed any more; starts nothing.
pub(crate) async fn keep_alive(client: Arc<Client>, mut run: RunView) {
    loop {
        tokio::time::sleep(until_renewal(&run)).await;
        match renewed(&client, &run).await {
            Ok(answer) => run = answer.run,
            // Over for good: whoever needs a run begins another.
            Err(CallError::Refused { .. }) => return,
            Err(_) => tokio::time::sleep(RENEW_AGAIN).await,
        }
    }
}

/// Returns a third of what is left of the lease, so that one failure does no harm.
fn until_renewal(run: &RunView) -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let until = u64::try_from(run.lease_expires_at.unix_ms()).unwrap_or_default();
    let left = Duration::from_millis(until).saturating_sub(since);
    (left / 3).max(RENEW_SOONEST)
}

/// Renews the lease, bringing the daemon back first if it has gone.
async fn renew(settings: &Settings, client: &Client, started: &StartedRun) -> Option<RunView> {
    if let Ok(answer) = renewed(client, &started.run).await {
        return Some(answer.run);
    }
    // On the same port, because the command knows the address already.
    let port = client.url().rsplit(':').next().and_then(|port| port.parse().ok());
    daemon::ensure(settings, port).await.ok()?;
    renewed(client, &started.run).await.ok().map(|answer| answer.run)
}

async fn renewed(client: &Client, run: &RunView) -> Result<RunAnswer, CallError> {
    let call = client.call(Operation::RenewRun).parameter(&run.run_id);
    call.json(&json!({}))?.send().await
}

/// The signals that are the command's to act on.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> Result<Self, CommandError> {
        Ok(Self {
            terminate: daemon::listen_for(SignalKind::terminate())?,
            hangup: daemon::listen_for(SignalKind::hangup())?,
            interrupt: daemon::listen_for(SignalKind::interrupt())?,
            quit: daemon::listen_for(SignalKind::quit())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.hangup.recv() => Signal::HUP,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.quit.recv() => Signal::QUIT,
        }
    }
}

/// Passes a signal on. Ctrl-C and Ctrl-\ at a terminal reach the command by themselves; sent twice
/// they would mean something else to many agents.
fn pass_on(child: &Child, signal: Signal) {
    let from_terminal =
        matches!(signal, Signal::INT | Signal::QUIT) && std::io::stdin().is_terminal();
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let (false, Some(pid)) = (from_terminal, pid) {
        // A command that has just ended cannot be told any more.
        let _gone = kill_process(pid, signal);
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    // As shells do, so that a script cannot tell `od run -- CMD` from CMD.
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    match u8::try_from(code).unwrap_or(u8::MAX) {
        0 => Exit::Ok,
        code => Exit::Child(code),
    }
}
