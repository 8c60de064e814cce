//! `od serve`

use od_core::error::ErrorCode;
use od_daemon::{DEFAULT_PORT, ListenError, Port, ServeConfig, StartError, serve};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::Serve;
use crate::daemon_process;
use crate::local;
use crate::output::{Answer, Exit, Refusal, Sink, Style, Text};
use crate::settings::Settings;

/// Runs the daemon until a signal ends it.
pub(crate) async fn run(settings: &Settings, asked: Serve, sink: Sink) -> Result<Answer, Refusal> {
    if asked.dry_run {
        return plan(settings, &asked).await;
    }
    let daemon = serve(config(settings, asked.port)).await.map_err(|error| refused(&error))?;
    let mut end = ends()?;
    let mut text = Text::new().pieces(&[(Style::Bold, "od serves "), (Style::Plain, daemon.url())]);
    let mut json = json!({ "url": daemon.url(), "previewUrl": daemon.preview_url() });
    if !asked.no_code {
        let url = daemon.console_url_with_code().map_err(|error| {
            Refusal::new(ErrorCode::Internal, format!("no one-time code: {error}"))
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

/// Returns what the daemon is started with.
pub(crate) fn config(settings: &Settings, port: Option<u16>) -> ServeConfig {
    let mut config = ServeConfig::new(&settings.home, &settings.data_dir);
    config.options = local::options();
    config.port = match port {
        Some(0) => Port::Any,
        Some(port) => Port::Fixed(port),
        None => config.port,
    };
    config
}

async fn plan(settings: &Settings, asked: &Serve) -> Result<Answer, Refusal> {
    let running = daemon_process::running(settings).await;
    let port = asked.port.unwrap_or(DEFAULT_PORT);
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
        "running": running.map(|found| found.url),
    });
    Ok(Answer::new(json, text))
}

/// The signals that end a daemon in order.
pub(crate) struct Ends {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Ends {
    /// Waits for the first of them.
    pub(crate) async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Listens for the signals that end a daemon.
pub(crate) fn ends() -> Result<Ends, Refusal> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Refusal::new(ErrorCode::Internal, format!("cannot listen for signals: {error}"))
        })
    };
    Ok(Ends {
        interrupt: listen(SignalKind::interrupt())?,
        terminate: listen(SignalKind::terminate())?,
    })
}

/// Says why the daemon did not start, and what helps.
pub(crate) fn refused(error: &StartError) -> Refusal {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    let refusal = Refusal::new(ErrorCode::Internal, message).ending(Exit::Unavailable);
    match error {
        StartError::Compose(error) => local::refused(error),
        StartError::Claim(_) => refusal
            .suggesting("`od open` opens its console; end it before you start another here")
            .ending(Exit::Conflict),
        StartError::Listen(ListenError::PortTaken { .. }) => {
            refusal.suggesting("another program has the port: `od serve --port 0` takes a free one")
        }
        StartError::Listen(_)
        | StartError::Table { .. }
        | StartError::AccessLog { .. }
        | StartError::Entropy(_)
        | StartError::Recover { .. } => refusal.suggesting("`od doctor` checks this installation"),
    }
}
