//! The use cases in this process, for verbs that need no daemon, and the errors they share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_agents::AgentsConfig;
use od_app::artifacts::ListArtifacts;
use od_app::{App, Caller};
use od_core::artifact::ArtifactSummary;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::NOTIFICATION_LINGER;
use od_daemon::views::Console;
use od_daemon::{
    Announcement, ComposeError, ComposeOptions, DEFAULT_PORT, DesktopNotifications, compose,
};
use od_fs::PrivateError;
use od_ports::project_registry::Project;

use crate::args::nearest;
use crate::config::{Config, Key};
use crate::output::{CommandError, Exit};
use crate::settings::Settings;
use crate::verbs::share::keys;

/// Puts the adapters together over the settings' directories, making them if they are missing.
pub(crate) fn open(settings: &Settings) -> Result<App, CommandError> {
    let store = settings.shared_store(None)?;
    let options = ComposeOptions { store, ..options(&settings.config) };
    let app = compose(&settings.home, &settings.data_dir, options)
        .map_err(|error| compose_error(&error))?;
    app.set_console(console(settings).url());
    Ok(app)
}

/// Waits for the notifications of what a command changed by itself, without a daemon.
pub(crate) async fn settle(app: &App) {
    app.settle_notifications(NOTIFICATION_LINGER.duration()).await;
}

/// As [`open`], in a directory that holds nothing of the person's.
pub(crate) fn open_in(scratch: &Path) -> Result<App, CommandError> {
    let (home, data_dir) = (scratch.join("home"), scratch.join("data"));
    compose(&home, &data_dir, options(&Config::default())).map_err(|error| compose_error(&error))
}

/// As [`open`], but `None` where nothing has been stored yet: looking makes no directories.
pub(crate) fn open_existing(settings: &Settings) -> Result<Option<App>, CommandError> {
    // Composing makes directories and keys. Whoever only looks, in the wrong folder perhaps, leaves no
    // trace there. Where a database keeps the artifacts, there may be some although nothing is here.
    let is_there = settings.data_dir.is_dir() || settings.shared_store(None)?.is_some();
    if is_there { open(settings).map(Some) } else { Ok(None) }
}

/// Returns the options of the adapters that the environment or the configuration sets.
pub(crate) fn options(config: &Config) -> ComposeOptions {
    let github = std::env::var("OD_GITHUB_BASE_URL").ok().filter(|url| !url.is_empty());
    let github = github.or_else(|| config.value(Key::GithubBaseUrl).map(str::to_owned));
    let configured = |key: Key| {
        let given = std::env::var_os(key.variable()).filter(|value| !value.is_empty());
        given.or_else(|| config.value(key).map(Into::into))
    };
    let desktop_notifications = match configured(Key::DesktopNotifications) {
        Some(word) if word == "on" => DesktopNotifications::On,
        Some(_) | None => DesktopNotifications::Off,
    };
    let agents = AgentsConfig {
        supervisor: None,
        path: configured(Key::AgentsPath),
        home: configured(Key::AgentsHome).map(Into::into),
    };
    ComposeOptions {
        github_base_url: github,
        desktop_notifications,
        agents,
        ..ComposeOptions::default()
    }
}

/// Explains why the adapters could not be put together.
pub(crate) fn compose_error(error: &ComposeError) -> CommandError {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    let message = format!("{error}{}", cause.unwrap_or_default());
    match error {
        ComposeError::DataDir { source: PrivateError::Io { source, .. }, .. } => {
            let message = format!("{message}: {source}");
            CommandError::new(ErrorCode::LiveArtifactStorageFailed, message)
                .suggest("check the directory's permissions, or choose another with --data-dir")
        }
        ComposeError::DataDir { source, .. } => untrusted(source),
        ComposeError::Keyring { home, source } => {
            CommandError::new(ErrorCode::Internal, message).suggest(keys::fix(home, source))
        }
        ComposeError::Store(_) => CommandError::new(ErrorCode::LiveArtifactStorageFailed, message)
            .suggest("`od doctor` checks the data directory"),
        ComposeError::Entropy(_) | ComposeError::Sessions(_) => {
            CommandError::new(ErrorCode::Internal, message)
                .suggest("`od doctor` checks this installation")
        }
        ComposeError::GitHub { .. } => CommandError::new(ErrorCode::BadRequest, message)
            .suggest("correct or unset OD_GITHUB_BASE_URL, or `od config unset github-base-url`"),
    }
}

/// Explains why a directory or a file in it is not trusted.
pub(crate) fn untrusted(error: &PrivateError) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, error.to_string())
        .suggest(error.fix())
        .ending(Exit::Usage)
}

/// Returns the projects of a store.
pub(crate) async fn projects(app: &App) -> Result<Vec<Project>, CommandError> {
    od_app::projects::list(app, &Caller::Person).await.map_err(failed)
}

/// Returns the artifacts of a project, or of all, the last updated first.
pub(crate) async fn artifacts(
    app: &App,
    project: Option<ProjectId>,
) -> Result<Arc<[Arc<ArtifactSummary>]>, CommandError> {
    let listed = od_app::artifacts::list(app, &Caller::Person, ListArtifacts { project }).await;
    listed.map_err(failed)
}

/// Returns where the console is, or would be if `od serve` ran.
pub(crate) fn console(settings: &Settings) -> Console {
    match Announcement::of_living(&settings.data_dir) {
        Some(daemon) => Console::at(daemon.url),
        None => {
            let port = settings.port().ok().flatten().unwrap_or(DEFAULT_PORT);
            Console::at(format!("http://127.0.0.1:{port}"))
        }
    }
}

/// Returns the project that was named, else the one whose directory holds the current one.
pub(crate) async fn project(
    app: &App,
    settings: &Settings,
    named: Option<&str>,
) -> Result<Option<Project>, CommandError> {
    let projects = projects(app).await?;
    let Some(named) = named else {
        return Ok(of_directory(projects, &settings.directory));
    };
    if let Some(found) = projects.iter().find(|project| project.id.as_str() == named) {
        return Ok(Some(found.clone()));
    }
    let ids: Vec<&str> = projects.iter().map(|project| project.id.as_str()).collect();
    let near = nearest(named, &ids);
    let hint = match near {
        Some(id) => format!("did you mean `{id}`?"),
        None => "make one with `od init`, or list them with `od projects list`".to_owned(),
    };
    Err(CommandError::new(ErrorCode::ProjectNotFound, format!("no project `{named}`"))
        .suggest(hint))
}

/// Returns the project with the deepest directory above or at this one.
pub(crate) fn of_directory(projects: Vec<Project>, directory: &Path) -> Option<Project> {
    // Roots are stored without links; a shell's current directory may go through one.
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let depth =
        |project: &Project| project.root.as_deref().map_or(0, |root| root.components().count());
    projects
        .into_iter()
        .filter(|project| project.root.as_deref().is_some_and(|root| directory.starts_with(root)))
        .max_by_key(depth)
}

/// Finds the artifact that a person names by id, or by slug in a project: the one given, else that of
/// the current directory. Only where there is none is a slug looked for in all projects; ids always are.
pub(crate) async fn artifact(
    app: &App,
    settings: &Settings,
    project: Option<&str>,
    named: &str,
) -> Result<(ProjectId, ArtifactId), CommandError> {
    let scope = self::project(app, settings, project).await?.map(|project| project.id);
    let everywhere = match project {
        Some(_) => scope.clone(),
        None => None,
    };
    let lines = artifacts(app, everywhere).await?;
    if let Some(line) = lines.iter().find(|line| line.id.as_str() == named) {
        return Ok((line.project_id.clone(), line.id.clone()));
    }
    let of_slug = |line: &&Arc<ArtifactSummary>| line.heading.slug.as_str() == named;
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| scope.as_ref().is_none_or(|scope| line.project_id == *scope));
    let ids = |lines: &[&Arc<ArtifactSummary>]| {
        let ids = lines.iter().map(|line| format!("{} ({})", line.id, line.project_id));
        ids.collect::<Vec<_>>().join(", ")
    };
    let same: Vec<&Arc<ArtifactSummary>> = here.iter().copied().filter(of_slug).collect();
    match same.as_slice() {
        [only] => Ok((only.project_id.clone(), only.id.clone())),
        [] => {
            let others: Vec<_> = elsewhere.iter().copied().filter(of_slug).collect();
            let names: Vec<&str> = here
                .iter()
                .flat_map(|line| [line.heading.slug.as_str(), line.id.as_str()])
                .collect();
            let hint = match nearest(named, &names) {
                _ if !others.is_empty() => {
                    format!("another project has one; name it by its id: {}", ids(&others))
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => "`od artifacts list` shows them all".to_owned(),
            };
            let message = match &scope {
                Some(scope) if !others.is_empty() => {
                    format!("no artifact `{named}` in project `{scope}`")
                }
                Some(_) | None => format!("no artifact `{named}`"),
            };
            Err(CommandError::new(ErrorCode::LiveArtifactNotFound, message).suggest(hint))
        }
        [..] => {
            let message = format!("{} artifacts have the slug `{named}`", same.len());
            Err(CommandError::new(ErrorCode::BadRequest, message)
                .suggest(format!("name one by its id: {}", ids(&same))))
        }
    }
}

/// Returns the error of a use case.
pub(crate) fn failed(error: impl Into<Failure>) -> CommandError {
    CommandError::from(error.into())
}

/// Returns the error of a verb that needs a project and has none.
pub(crate) fn no_project(directory: &Path) -> CommandError {
    let message = format!("{} belongs to no project", directory.display());
    CommandError::new(ErrorCode::ProjectNotFound, message)
        .suggest("register it with `od init`, or name a project with --project")
}

/// Returns the error of a verb that needs stored artifacts where there are none.
pub(crate) fn nothing_stored(data_dir: &Path) -> CommandError {
    let message = format!("there is no data directory {}", data_dir.display());
    CommandError::new(ErrorCode::NotFound, message)
        .suggest("start with `od demo`, or with `od init` in a project of yours")
}

/// Returns the directory as an absolute path; the current one if none was given.
pub(crate) fn existing_directory(directory: Option<PathBuf>) -> Result<PathBuf, CommandError> {
    let given = directory.unwrap_or_else(|| PathBuf::from("."));
    match given.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        Ok(_) => Err(CommandError::new(
            ErrorCode::NotFound,
            format!("{} is not a directory", given.display()),
        )
        .suggest("name a directory")),
        Err(error) => {
            Err(CommandError::new(ErrorCode::NotFound, format!("{}: {error}", given.display()))
                .suggest("name a directory that exists"))
        }
    }
}

/// Returns a path for people, with the home directory as `~`.
pub(crate) fn display_path(path: &Path, settings: &Settings) -> String {
    match settings.user_home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest == Path::new("") => "~".to_owned(),
        Some(rest) => PathBuf::from("~").join(rest).display().to_string(),
        None => path.display().to_string(),
    }
}
