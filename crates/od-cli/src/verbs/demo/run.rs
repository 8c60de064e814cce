//! `od demo`: from nothing to three live artifacts in one command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_app::App;
use od_client::Client;
use od_core::error::ErrorCode;
use od_daemon::{LogSink, RunningDaemon, serve};
use od_wire::refresh::RefreshView;
use serde_json::{Value, json};

use super::content::{ARTIFACTS, Home, change_sources, write_files};
use super::repository::{commit_all, has_git, work_tree};
use super::setup::{DemoTarget, InstalledArtifact};
use crate::args::Demo;
use crate::local;
use crate::output::{Answer, CommandError, Sink, Style, Text};
use crate::settings::Settings;
use crate::verbs::daemon::{self, EndSignals, open_browser, serve_config, start_error};

/// Runs the demo.
pub(crate) async fn run(
    settings: &Settings,
    args: Demo,
    sink: Sink,
) -> Result<Answer, CommandError> {
    if args.remove {
        return super::remove::remove(settings, &args, default_directory(settings)).await;
    }
    if args.dry_run {
        return Ok(plan(settings, &args));
    }
    if args.once { once(settings, &args).await } else { stay(settings, &args, sink).await }
}

fn plan(settings: &Settings, args: &Demo) -> Answer {
    let directory = args.directory.clone().unwrap_or_else(|| default_directory(settings));
    let place = if args.once && args.directory.is_none() {
        "a temporary directory".to_owned()
    } else {
        local::display_path(&directory, settings)
    };
    let text = Text::new().line(&format!(
        "Would write the demo's files to {place}, register {} live artifacts and refresh them.",
        ARTIFACTS.len()
    ));
    Answer::new(json!({ "dryRun": true, "once": args.once, "artifacts": ARTIFACTS.len() }), text)
}

/// Returns the directory of the demo's files: outside `OD_HOME`, which sources may not read.
fn default_directory(settings: &Settings) -> PathBuf {
    let data_home = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data_home = data_home.filter(|path| path.is_absolute());
    data_home
        .or_else(|| settings.user_home.as_ref().map(|home| home.join(".local/share")))
        .unwrap_or_else(|| settings.directory.clone())
        .join("od-demo")
}

/// Creates, refreshes, changes the sources, refreshes again, prints, and leaves nothing behind.
async fn once(settings: &Settings, args: &Demo) -> Result<Answer, CommandError> {
    let scratch = tempfile::Builder::new().prefix("od-demo-").tempdir();
    let scratch = scratch.map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
    // Directories of its own, so that a person who only looks finds nothing of it afterwards.
    let own = Settings {
        home: scratch.path().join("home"),
        data_dir: scratch.path().join("data"),
        ..settings.clone()
    };
    let directory = args.directory.clone().unwrap_or_else(|| scratch.path().join("files"));
    let directory = prepared(&directory)?;
    let with_git = has_git() && commit_all(&directory, "The demo's files");
    let mut config = serve_config(&own, Some(args.port.unwrap_or(0)));
    config.access_log = LogSink::Off;
    let daemon = serve(config).await.map_err(|error| start_error(&error))?;
    let outcome = run_steps(&own, &directory, with_git, &daemon).await;
    daemon.shutdown().await;
    outcome
}

/// Creates, refreshes, changes the sources and checks that every page follows.
async fn run_steps(
    settings: &Settings,
    directory: &Path,
    with_git: bool,
    daemon: &RunningDaemon,
) -> Result<Answer, CommandError> {
    let client = daemon::person_client(settings, daemon.announcement())?;
    let target = DemoTarget { app: daemon.app(), client: &client };
    let repository = with_git.then(|| directory.to_owned());
    let installed = set_up(&target, directory, repository.as_deref()).await?;
    let mut transcript = Transcript::default();
    for artifact in &installed {
        transcript.add("created", artifact, &format!("from {}", artifact.source));
        transcript.refreshed(artifact, &target.refresh(artifact).await?);
    }
    let changes = change_sources(directory).map_err(|error| unwritable(directory, &error))?;
    let has_committed =
        with_git && !changes.is_empty() && commit_all(directory, "The sources changed");
    transcript.changed_sources(&changes, has_committed);
    for artifact in &installed {
        let has_changed = match artifact.home {
            Home::Repository => has_committed,
            Home::Files => changes.iter().any(|(slug, _)| *slug == artifact.slug),
        };
        if !has_changed {
            continue;
        }
        let before = target.page(artifact).await?;
        let refresh = target.refresh(artifact).await?;
        let after = target.page(artifact).await?;
        // CI runs this: the demo is also the test that a page follows its source.
        if !refresh.changed || before == after {
            let message = format!("the source of “{}” changed, its page did not", artifact.title);
            return Err(CommandError::new(ErrorCode::Internal, message)
                .suggest("this is a fault of od; please report it"));
        }
        transcript.refreshed(artifact, &refresh);
    }
    if let Some(artifact) = installed.last() {
        transcript.refreshed(artifact, &target.refresh(artifact).await?);
    }
    Ok(transcript.answer(installed.len()))
}

/// Makes the demo's projects and artifacts, with what is there already.
async fn set_up(
    target: &DemoTarget<'_>,
    directory: &Path,
    repository: Option<&Path>,
) -> Result<Vec<InstalledArtifact>, CommandError> {
    let files = target.project(directory, "Demo").await?;
    let mut installed = Vec::new();
    for artifact in ARTIFACTS {
        let project = match (artifact.home, repository) {
            (Home::Files, _) => files.clone(),
            (Home::Repository, Some(root)) => {
                let name = root
                    .file_name()
                    .map_or_else(|| "repository".into(), |name| name.to_string_lossy());
                target.project(root, &name).await?
            }
            // Without git there is no repository to show.
            (Home::Repository, None) => continue,
        };
        installed.push(target.artifact(&project, artifact).await?);
    }
    Ok(installed)
}

/// Sets the demo up and stays with a console until a signal ends it.
async fn stay(settings: &Settings, args: &Demo, sink: Sink) -> Result<Answer, CommandError> {
    let directory = args.directory.clone().unwrap_or_else(|| default_directory(settings));
    let directory = prepared(&directory)?;
    let repository = has_git().then(|| repository_for(settings, &directory)).flatten();
    if let Some(running) = daemon::running(settings).await {
        let app = Arc::new(local::open(settings)?);
        let client = daemon::person_client(settings, &running)?;
        let text = introduce(settings, &app, &client, &directory, repository.as_deref()).await?;
        let wanted = crate::args::Open { print: args.no_open, dry_run: false };
        let opened = daemon::open_console(settings, &wanted, sink).await?;
        return Ok(Answer { text: text.then(opened.text), ..opened });
    }
    let mut configuration = serve_config(
        settings,
        args.port.or(settings.port()?).or_else(|| daemon::default_or_free_port(settings)),
    );
    configuration.access_log = LogSink::Off;
    let daemon = serve(configuration).await.map_err(|error| start_error(&error))?;
    let mut end = EndSignals::listen()?;
    let client = daemon::person_client(settings, daemon.announcement())?;
    let text =
        introduce(settings, daemon.app(), &client, &directory, repository.as_deref()).await?;
    let url = daemon.console_url_with_code().map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("no one-time code: {error}"))
    })?;
    let opened = !args.no_open && open_browser(&url, settings).await;
    let text = if opened {
        text.line(&format!("The console is open at {}. Ctrl-C ends the demo.", daemon.url()))
    } else {
        text.line("Open the console within 60 seconds (then `od open` makes another code):")
            .styled(Style::Bold, &format!("  {url}"))
            .styled(Style::Dim, "Ctrl-C ends the demo.")
    };
    sink.announce(&Answer::new(json!({ "url": daemon.url(), "directory": directory }), text));
    end.recv().await;
    daemon.shutdown().await;
    Ok(Answer::silent())
}

/// Returns the repository to show: the one around the current directory, else the demo's own.
fn repository_for(settings: &Settings, directory: &Path) -> Option<PathBuf> {
    work_tree(&settings.directory).or_else(|| {
        let is_repository = work_tree(directory).as_deref() == Some(directory)
            || commit_all(directory, "The demo's files");
        is_repository.then(|| directory.to_owned())
    })
}

/// Makes the artifacts, refreshes each, and says what to try.
async fn introduce(
    settings: &Settings,
    app: &App,
    client: &Client,
    directory: &Path,
    repository: Option<&Path>,
) -> Result<Text, CommandError> {
    let target = DemoTarget { app, client };
    let mut text = Text::new();
    for artifact in set_up(&target, directory, repository).await? {
        let refreshed = target.refresh(&artifact).await;
        let word = if artifact.existed { "ready  " } else { "created" };
        text = text.pieces(&[
            (Style::Good, word),
            (Style::Plain, "  "),
            (Style::Bold, &artifact.title),
            (Style::Dim, &format!("  from {}", artifact.source)),
        ]);
        match (artifact.home, refreshed) {
            // The person's repository may be one that the connector refuses to read (a linked
            // `.git`, borrowed objects): that is worth a line, and no reason to show nothing.
            (Home::Repository, Err(refusal)) => {
                let why = format!("         not refreshed: {}", refusal.failure.message);
                text = text.styled(Style::Warn, &why);
            }
            (Home::Repository | Home::Files, refreshed) => {
                refreshed?;
            }
        }
    }
    Ok(text
        .gap()
        .line(&format!(
            "Try it: change a number in {},",
            local::display_path(&directory.join("metrics.json"), settings)
        ))
        .line("or add a file to teams/ beside it, then press Refresh in the console.")
        .gap())
}

fn prepared(directory: &Path) -> Result<PathBuf, CommandError> {
    write_files(directory)
        .and_then(|_| directory.canonicalize())
        .map_err(|error| unwritable(directory, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorCode::Internal, format!("cannot write {}: {error}", path.display()))
        .suggest("choose another place with --dir")
}

/// The steps of a demo that nobody watches, as text and as JSON.
#[derive(Default)]
struct Transcript {
    text: Text,
    steps: Vec<Value>,
}

impl Transcript {
    fn add(&mut self, step: &str, artifact: &InstalledArtifact, what: &str) {
        self.text = std::mem::take(&mut self.text).pieces(&[
            (Style::Good, &format!("{step:<10}")),
            (Style::Bold, &format!("{:<26}", artifact.title)),
            (Style::Plain, what),
        ]);
        self.steps.push(json!({ "step": step, "artifactId": artifact.id, "title": artifact.title, "what": what }));
    }

    fn refreshed(&mut self, artifact: &InstalledArtifact, refresh: &RefreshView) {
        let what = if refresh.changed {
            let paths: Vec<&str> =
                refresh.changes.paths.iter().take(3).map(String::as_str).collect();
            format!("{} changed: {} …", refresh.changes.count, paths.join(" "))
        } else {
            "nothing changed at the source".to_owned()
        };
        self.add("refreshed", artifact, &what);
    }

    fn changed_sources(&mut self, changes: &[(&'static str, String)], has_committed: bool) {
        let mut text = std::mem::take(&mut self.text).gap();
        let changes: Vec<&String> = changes.iter().map(|(_, what)| what).collect();
        for change in &changes {
            text = text.pieces(&[(Style::Warn, "source    "), (Style::Plain, change)]);
        }
        if has_committed {
            text =
                text.pieces(&[(Style::Warn, "source    "), (Style::Plain, "git: one more commit")]);
        }
        self.text = text.gap();
        self.steps.push(json!({ "step": "sources changed", "what": changes }));
    }

    fn answer(self, artifacts: usize) -> Answer {
        let text = self.text.gap().line(&format!(
            "{artifacts} live artifacts followed their sources. `od demo` shows them in a console."
        ));
        Answer::new(json!({ "artifacts": artifacts, "steps": self.steps }), text)
    }
}
