//! `od serve`

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use od_core::error::ErrorCode;
use od_daemon::{
    Announcement, ClaimError, DEFAULT_PORT, ListenError, LogSink, Port, ServeConfig, StartError,
};
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::filter::LevelFilter;

use super::log_file::LogFile;
use super::process::running;
use crate::args::Serve;
use crate::config::Key;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Sink, Style, Text};
use crate::settings::Settings;
use crate::verbs::mcp::HttpTools;
use crate::verbs::store;

/// Runs the daemon until a signal ends it.
pub(crate) async fn serve(
    settings: &Settings,
    args: Serve,
    sink: Sink,
) -> Result<Answer, CommandError> {
    if args.dry_run {
        return plan(settings, &args).await;
    }
    let mut config = serve_config(settings, args.port.or(settings.port()?));
    let (level, _) = settings.configured(Key::LogLevel)?;
    config.access_log = start_log(level.as_deref(), args.log.as_deref())?;
    config.options.store = settings.shared_store(args.store.as_deref())?;
    config.configuration = applied(settings, args.port, args.store.as_deref())?;
    let shared = config.options.store.clone();
    let daemon = match od_daemon::serve(config).await {
        Ok(daemon) => daemon,
        Err(StartError::Claim(ClaimError::Running { running })) => return Ok(already(&running)),
        Err(error) => {
            if let (StartError::Recover { .. }, Some(store)) = (&error, shared) {
                store::check(store).await?;
            }
            return Err(start_error(&error));
        }
    };
    // Before the address is printed: a supervisor may send a signal as soon as it has read it.
    let mut end = EndSignals::listen()?;
    let mut text = Text::new().pieces(&[(Style::Bold, "od serves "), (Style::Plain, daemon.url())]);
    let mut json = json!({ "url": daemon.url(), "previewUrl": daemon.preview_url() });
    if !args.no_code {
        let url = daemon.console_url_with_code().map_err(|error| {
            CommandError::new(ErrorCode::Internal, format!("no one-time code: {error}"))
        })?;
        json["consoleUrl"] = json!(url);
        text = text
            .line(&format!("console: {url}"))
            .styled(Style::Dim, "The code is good once, for 60 seconds; `od open` makes another. Ctrl-C ends the daemon.");
    }
    sink.announce(&Answer::new(json, text));
    end.recv().await;
    daemon.shutdown().await;
    Ok(Answer::silent())
}

/// Starts the log of this process: faults as lines of text, requests as lines of JSON.
fn start_log(level: Option<&str>, path: Option<&Path>) -> Result<LogSink, CommandError> {
    let wanted = level.and_then(|word| word.parse().ok()).unwrap_or(LevelFilter::WARN);
    let lines = tracing_subscriber::fmt().with_ansi(false).with_max_level(wanted);
    let Some(path) = path else {
        // Fails only where somebody has started one already.
        let _started = lines.with_writer(std::io::stderr).try_init();
        return Ok(LogSink::Stderr);
    };
    let log = LogFile::open(path).map_err(|error| {
        let message = format!("cannot write the log {}: {error}", path.display());
        CommandError::new(ErrorCode::BadRequest, message)
            .suggest("name a file in a directory that you may write to")
    })?;
    let writer = log.clone();
    let _started = lines.with_writer(move || writer.clone()).try_init();
    Ok(LogSink::Writer(Box::new(log)))
}

/// Answers a second start, which is no fault: the daemon that the person wants is there.
fn already(running: &Announcement) -> Answer {
    let text = Text::new()
        .pieces(&[
            (Style::Bold, "A daemon already serves this data directory: "),
            (Style::Plain, &running.url),
        ])
        .styled(Style::Dim, "`od open` opens its console.");
    let json = json!({ "url": running.url, "previewUrl": running.preview_url, "running": true });
    Answer::new(json, text)
}

/// Returns the daemon's configuration.
pub(crate) fn serve_config(settings: &Settings, port: Option<u16>) -> ServeConfig {
    let mut config = ServeConfig::new(&settings.home, &settings.data_dir);
    config.options = local::options(&settings.config);
    config.mcp = Some(Arc::new(HttpTools));
    config.port = match port {
        Some(0) => Port::Any,
        Some(port) => Port::Fixed(port),
        None => config.port,
    };
    config
}

/// Returns the values that the daemon starts with, for `od doctor` to compare later.
fn applied(
    settings: &Settings,
    port: Option<u16>,
    store: Option<&str>,
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut applied = BTreeMap::new();
    for key in Key::ALL.into_iter().filter(|key| key.needs_restart()) {
        let given = match key {
            Key::Port => port.map(|port| port.to_string()),
            Key::Store => store.map(|store| store.trim().to_owned()),
            Key::DataDir
            | Key::LogLevel
            | Key::Browser
            | Key::GithubBaseUrl
            | Key::DesktopNotifications
            | Key::AgentsPath
            | Key::AgentsHome => None,
        };
        let value = given.map_or_else(
            || settings.configured(key).map(|(value, _)| value),
            |given| Ok(Some(given)),
        )?;
        applied.extend(value.map(|value| (key.name().to_owned(), value)));
    }
    Ok(applied)
}

async fn plan(settings: &Settings, args: &Serve) -> Result<Answer, CommandError> {
    let running = running(settings).await;
    let port = args.port.or(settings.port()?).unwrap_or(DEFAULT_PORT);
    let store = settings.shared_store(args.store.as_deref())?.map(|store| store.address.place());
    let text = match &running {
        Some(found) => Text::new()
            .line(&format!("A daemon already serves this data directory at {}.", found.url)),
        None => Text::new().line(&format!(
            "Would listen on 127.0.0.1:{port} for {}.",
            settings.data_dir.display()
        )),
    };
    let json = json!({
        "dryRun": true,
        "port": port,
        "dataDir": settings.data_dir,
        "store": store,
        "running": running.map(|found| found.url),
    });
    Ok(Answer::new(json, text))
}

/// Listens for a signal of one kind.
pub(crate) fn listen_for(kind: SignalKind) -> Result<Signal, CommandError> {
    signal(kind).map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("cannot listen for signals: {error}"))
    })
}

/// The signals that end a daemon in order.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl EndSignals {
    /// Listens for them.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        Ok(Self {
            interrupt: listen_for(SignalKind::interrupt())?,
            terminate: listen_for(SignalKind::terminate())?,
        })
    }

    /// Waits for the first of them.
    pub(crate) async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Explains why the daemon did not start.
pub(crate) fn start_error(error: &StartError) -> CommandError {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    let refusal = CommandError::new(ErrorCode::Internal, message);
    match error {
        StartError::Compose(error) => local::compose_error(error),
        StartError::Claim(ClaimError::Running { .. }) => refusal
            .suggest("`od open` opens its console; end it before you start another here")
            .ending(Exit::Conflict),
        StartError::Claim(ClaimError::OtherVersion { running, .. }) => refusal
            .suggest(format!("end it with `kill {}`, then start this one again", running.pid)),
        StartError::Claim(ClaimError::ForeignLock { lock }) => refusal.suggest(format!(
            "`fuser {}` names the process; end it, or use another directory with --data-dir",
            lock.display()
        )),
        StartError::Claim(ClaimError::Untrusted(error)) => local::untrusted(error),
        StartError::Claim(ClaimError::Io { .. }) => {
            refusal.suggest("check the data directory's permissions and free space")
        }
        StartError::Listen(ListenError::PortTaken { .. }) => {
            refusal.suggest("another program has the port: `od serve --port 0` takes a free one")
        }
        StartError::Listen(_)
        | StartError::Table { .. }
        | StartError::AccessLog { .. }
        | StartError::Entropy(_)
        | StartError::Sessions(_)
        | StartError::Recover { .. } => refusal.suggest("`od doctor` checks this installation"),
    }
}
