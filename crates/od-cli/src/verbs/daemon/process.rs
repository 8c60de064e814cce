//! The running daemon of a data directory: finding it, starting it, talking to it as the person.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use od_app::App;
use od_client::{Bearer, CallError, Client};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{Audience, Digest, Timestamp, TokenId};
use od_core::ledger::Door;
use od_core::limits;
use od_core::token::{Claims, CliClaims};
use od_daemon::{Announcement, DEFAULT_PORT};
use od_wire::route::Operation;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::log_file;
use crate::local;
use crate::output::{Answer, CommandError, Text};
use crate::settings::Settings;
use crate::verbs::report::own_log;

/// The longest that a new daemon may take until it answers.
const START_MAX: Duration = Duration::from_secs(15);
const START_POLL: Duration = Duration::from_millis(25);
/// The longest that a daemon may take until it has ended: a refresh that commits is waited for.
const STOP_MAX: Duration = Duration::from_secs(30);
/// The first of the ports for daemons whose default port is taken: 7480 to 7991.
const OWN_PORTS_FROM: u16 = 7480;
/// The end of the log that is searched for the cause of a failed start.
const LOG_TAIL_BYTES: usize = 1_000;

/// Returns the daemon that answers for this data directory, if there is one.
pub(crate) async fn running(settings: &Settings) -> Option<Announcement> {
    let announced = Announcement::of_living(&settings.data_dir)?;
    health(settings).await.map(|_| announced)
}

/// Returns what the daemon of this data directory says of its health, if one answers.
pub(crate) async fn health(settings: &Settings) -> Option<Value> {
    let announced = Announcement::of_living(&settings.data_dir)?;
    let client = Client::new(&announced.url, Bearer::None).ok()?;
    let health: Value = client.call(Operation::Health).send().await.ok()?;
    // The announcement is believed as far as the lock behind it; that something answers at the port does
    // not yet mean that it is the daemon.
    (health["service"] == "od").then_some(health)
}

/// Returns the daemon of this data directory, starting one in the background if none answers.
pub(crate) async fn ensure(
    settings: &Settings,
    port: Option<u16>,
) -> Result<Announcement, CommandError> {
    if let Some(found) = running(settings).await {
        return Ok(found);
    }
    // Made first, so that a keyring or a directory that cannot be used is told here and not in a log.
    local::open(settings)?;
    let port = port.or(settings.port()?);
    match start(settings, port.or_else(|| default_or_free_port(settings))).await {
        // Another program took the default port in between.
        Err(_) if port.is_none() => start(settings, Some(0)).await,
        outcome => outcome,
    }
}

/// Starts a daemon and waits until it answers.
async fn start(settings: &Settings, port: Option<u16>) -> Result<Announcement, CommandError> {
    let log = settings.data_dir.join("daemon.log");
    let mut child = spawn(settings, port, &log)?;
    let deadline = tokio::time::Instant::now() + START_MAX;
    loop {
        if let Some(found) = running(settings).await {
            return Ok(found);
        }
        if let Ok(Some(status)) = child.try_wait() {
            // Another start may have won the race for the data directory.
            if let Some(found) = running(settings).await {
                return Ok(found);
            }
            return Err(did_not_start(&format!("it ended with {status}"), &log));
        }
        if tokio::time::Instant::now() >= deadline {
            return Err(did_not_start("it did not answer in time", &log));
        }
        tokio::time::sleep(START_POLL).await;
    }
}

/// Starts `od serve` in a process group of its own, so that Ctrl-C here does not reach it.
fn spawn(
    settings: &Settings,
    port: Option<u16>,
    log: &Path,
) -> Result<std::process::Child, CommandError> {
    let failed = |what: &str, error: std::io::Error| {
        CommandError::new(ErrorCode::Internal, format!("cannot {what}: {error}"))
            .suggest("start it yourself with `od serve`")
    };
    // What it says before it logs, and should it panic.
    let err = log_file::append(log).map_err(|error| failed("open the daemon's log", error))?;
    let program = std::env::current_exe().map_err(|error| failed("find this program", error))?;
    let mut command = Command::new(program);
    command.args(["serve", "--no-code", "--log"]).arg(log);
    command.arg("--data-dir").arg(&settings.data_dir);
    if let Some(port) = port {
        command.args(["--port", &port.to_string()]);
    }
    // What an agent's environment holds is not the daemon's business.
    for name in ["OD_TOOL_TOKEN", "OD_RUN_ID", "OD_DAEMON_URL", "OD_DAEMON_ID"] {
        command.env_remove(name);
    }
    command
        .env("OD_HOME", &settings.home)
        // A daemon outlives the terminal: it must not keep the person's directory from being
        // unmounted or removed.
        .current_dir(&settings.data_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(err)
        .process_group(0)
        .spawn()
        .map_err(|error| failed("start the daemon", error))
}

fn did_not_start(why: &str, log: &Path) -> CommandError {
    let text = log.parent().map(own_log).unwrap_or_default();
    let from = text.len().saturating_sub(LOG_TAIL_BYTES);
    let tail = text.get(from..).unwrap_or_default();
    // The log goes on from earlier starts: the last fault is that of this one.
    let last = tail.lines().rev().find(|line| line.starts_with("error:")).unwrap_or_default();
    CommandError::new(ErrorCode::Internal, format!("the daemon did not start: {why}. {last}"))
        .suggest(format!("its log is {}; `od doctor` checks the rest", log.display()))
        .ending(crate::output::Exit::Unavailable)
}

/// Answers `od stop`: ends the daemon of this data directory and waits until it has gone.
pub(crate) async fn stop(settings: &Settings, dry_run: bool) -> Result<Answer, CommandError> {
    // The living one holds the lock of the data directory, so that its pid is not another's by now.
    let Some(found) = Announcement::of_living(&settings.data_dir) else {
        let text = Text::new().line("No daemon runs for this data directory.");
        return Ok(Answer::new(json!({ "dryRun": dry_run, "stopped": false }), text));
    };
    let (url, pid) = (&found.url, found.pid);
    if dry_run {
        let text = Text::new().line(&format!("Would end the daemon at {url} (process {pid})."));
        let json = json!({ "dryRun": true, "stopped": false, "url": url, "pid": pid });
        return Ok(Answer::new(json, text));
    }
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let sent = process.map(|process| kill_process(process, Signal::TERM));
    if let Some(Err(error)) = sent {
        let message = format!("cannot end the daemon, process {pid}: {error}");
        return Err(CommandError::new(ErrorCode::Internal, message)
            .suggest(format!("end it as its owner: `kill {pid}`")));
    }
    let deadline = tokio::time::Instant::now() + STOP_MAX;
    while Announcement::of_living(&settings.data_dir).is_some_and(|now| now.pid == pid) {
        if tokio::time::Instant::now() >= deadline {
            let message = format!("the daemon, process {pid}, has not ended yet");
            return Err(CommandError::new(ErrorCode::Internal, message)
                .suggest("it may wait for a refresh; look again with `od doctor`")
                .ending(crate::output::Exit::Unavailable));
        }
        tokio::time::sleep(START_POLL).await;
    }
    let text = Text::new().line(&format!("Ended the daemon at {url}."));
    Ok(Answer::new(json!({ "dryRun": false, "stopped": true, "url": url, "pid": pid }), text))
}

/// Returns `None`, the default port; or, if another program has that, one of this data directory's own;
/// or `Some(0)`, any free one.
///
/// A daemon with another port at every start made each link that people had kept a dead one, and their
/// browsers strangers to it. The data directory gives the port, so that it is the same the next time.
pub(crate) fn default_or_free_port(settings: &Settings) -> Option<u16> {
    let is_free =
        |port: u16| std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port)).is_ok();
    if is_free(DEFAULT_PORT) {
        return None;
    }
    let digest = Digest::of_bytes(settings.data_dir.as_os_str().as_encoded_bytes());
    let place = digest.hex_digits().get(..2).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    // Each has two, the second for its previews.
    let own = OWN_PORTS_FROM + 2 * place.unwrap_or_default();
    Some(if is_free(own) { own } else { 0 })
}

/// Returns the person's client of a daemon: whoever can read the keyring is the person.
///
/// Each call asks anew whether the daemon at that address is the living one of this data directory:
/// after its death anybody on the machine may listen there. The token is for that very start of it, so
/// that it is worth nothing should another be there before the request is.
pub(crate) fn person_client(
    settings: &Settings,
    daemon: &Announcement,
) -> Result<Client, CommandError> {
    let app = Arc::new(local::open(settings)?);
    let (data_dir, url) = (settings.data_dir.clone(), daemon.url.clone());
    let sign = move || Ok(sign(&app, living(&data_dir, &url)?)?);
    let client = Client::new(&daemon.url, Bearer::Fresh(Arc::new(sign)))?;
    Ok(client.through(Door::CommandLine))
}

/// Returns the audience of tokens for the daemon at this address, if it is the living one.
fn living(data_dir: &Path, url: &str) -> Result<Audience, CallError> {
    let found = Announcement::of_living_with_audience(data_dir);
    let Some((found, audience)) = found.filter(|(found, _)| found.url == url) else {
        return Err(CallError::Gone { url: url.to_owned() });
    };
    audience.ok_or_else(|| {
        let message = format!("the daemon at {url} is of version {}", found.version);
        Failure::new(ErrorCode::Conflict, message)
            .suggest(format!("end it with `kill {}`, then run the command again", found.pid))
            .into()
    })
}

fn sign(app: &App, audience: Audience) -> Result<String, Failure> {
    let internal = |message: String| Failure::new(ErrorCode::Internal, message);
    let mut entropy = [0; 16];
    app.ports.entropy.fill(&mut entropy).map_err(|error| internal(error.to_string()))?;
    let now = app.ports.clock.now();
    let lifetime = i64::try_from(limits::CLI_TOKEN_LIFETIME.allowed).unwrap_or(i64::MAX);
    let claims = Claims::Cli(CliClaims {
        token_id: TokenId::generate(entropy),
        audience,
        issued_at: now,
        expires_at: Timestamp::from_unix_ms(now.unix_ms().saturating_add(lifetime)),
    });
    app.ports.tokens.sign(&claims).map_err(|error| internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Exit;

    #[test]
    fn a_daemon_that_died_between_two_calls_is_unavailable_and_not_a_fault_of_ours() {
        let place = tempfile::tempdir().unwrap();
        let gone = living(place.path(), "http://127.0.0.1:9").unwrap_err();
        let said = CommandError::from(gone);
        assert_eq!(said.exit, Exit::Unavailable, "{said:?}");
        assert!(said.failure.message.ends_with("no longer serves http://127.0.0.1:9"), "{said:?}");
        assert!(said.failure.suggestion.starts_with("run the command again"), "{said:?}");
    }
}
