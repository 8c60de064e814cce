//! `od doctor`: a closed list of checks, each naming the command that fixes it. Nothing is changed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use od_app::health::StoreState;
use od_core::artifact::{ArtifactSummary, RefreshStatus, Status};
use od_core::error::ErrorCode;
use od_daemon::{Announcement, ComposeOptions, desktop_readiness};
use od_fs::{DataDir, PrivateError, shell_quoted};
use od_ports::notifier::Readiness;
use od_ports::project_registry::Project;
use od_ports::store::StorePlace;
use serde_json::{Value, json};

use crate::config::{self, Config, Key, Origin};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text};
use crate::settings::{Settings, config_text};
use crate::skills::{self, BUILTIN_FILES, BUILTIN_NAME};
use crate::verbs::{daemon, store as shared};

/// The outcome of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Good,
    /// Worth knowing; nothing is broken.
    Note,
    Bad,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

/// One finding, with the command that fixes it.
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) found: String,
    fix: Option<String>,
}

fn check(
    name: &'static str,
    verdict: Verdict,
    found: impl Into<String>,
    fix: Option<String>,
) -> Check {
    Check { name, verdict, found: found.into(), fix }
}

/// Makes every check.
pub(super) async fn checks(settings: &Settings) -> Vec<Check> {
    vec![
        private("home", &settings.home),
        keyring(settings),
        configuration(settings),
        private("data directory", &settings.data_dir),
        daemon(settings).await,
        store(settings).await,
        artifacts(settings).await,
        project(settings).await,
        skill(settings),
        git(),
        notifications(settings),
        webhooks(settings).await,
        other_od(),
    ]
}

/// Answers `od doctor`.
pub(crate) async fn run(settings: &Settings) -> Result<Answer, CommandError> {
    let checks = checks(settings).await;
    let bad = checks.iter().filter(|check| check.verdict == Verdict::Bad).count();
    let mut text = Text::new();
    for check in &checks {
        let (style, word) = match check.verdict {
            Verdict::Good => (Style::Good, "ok  "),
            Verdict::Note => (Style::Warn, "note"),
            Verdict::Bad => (Style::Bad, "bad "),
        };
        text = text.pieces(&[
            (style, word),
            (Style::Bold, &format!("  {:<15}  ", check.name)),
            (Style::Plain, &check.found),
        ]);
        if let Some(fix) = &check.fix {
            text =
                text.pieces(&[(Style::Dim, "                       fix: "), (Style::Plain, fix)]);
        }
    }
    let json: Vec<Value> = checks
        .iter()
        .map(|check| {
            let verdict = check.verdict.word();
            json!({ "check": check.name, "verdict": verdict, "found": check.found, "fix": check.fix })
        })
        .collect();
    let exit = if bad > 0 { Exit::Found } else { Exit::Ok };
    Ok(Answer::new(json!({ "checks": json, "bad": bad }), text).ending(exit))
}

/// Checks `config.toml`, and whether a running daemon has been started with what it says.
fn configuration(settings: &Settings) -> Check {
    const NAME: &str = "configuration";
    let path = settings.home.join(config::FILE);
    let parsed = config_text(&settings.home).and_then(|text| {
        Config::parse(&text.unwrap_or_default()).map_err(|error| {
            let message = format!("{}: {error}", path.display());
            CommandError::new(ErrorCode::BadRequest, message).suggest(error.fix_of_file())
        })
    });
    let config = match parsed {
        Ok(config) => config,
        Err(CommandError { failure, .. }) => {
            return check(NAME, Verdict::Bad, failure.message, Some(failure.suggestion));
        }
    };
    // Compared with what a daemon that started now would have; its port may be another if it was taken.
    let applied = Announcement::of_living(&settings.data_dir).map(|daemon| daemon.configuration);
    for key in Key::ALL.into_iter().filter(|key| key.needs_restart()) {
        let desired = match settings.configured(key) {
            Ok((desired, _)) => desired,
            Err(CommandError { failure, .. }) => {
                return check(NAME, Verdict::Bad, failure.message, Some(failure.suggestion));
            }
        };
        let Some(applied) = applied.as_ref().filter(|applied| !applied.is_empty()) else {
            continue;
        };
        let applied = applied.get(key.name());
        let is_asked = settings.configured(key).is_ok_and(|(_, origin)| origin != Origin::Default);
        if is_asked && applied != desired.as_ref() {
            let (desired, applied) =
                (desired.unwrap_or_default(), applied.map_or("–", String::as_str));
            let found =
                format!("{} should be {desired}; the daemon runs with {applied}", key.name());
            return check(NAME, Verdict::Note, found, Some("od stop && od open".to_owned()));
        }
    }
    let found = match config.len() {
        0 => "defaults".to_owned(),
        1 => format!("1 value in {}", path.display()),
        count => format!("{count} values in {}", path.display()),
    };
    check(NAME, Verdict::Good, found, None)
}

/// Checks that a directory of ours exists and that nobody else can look into it.
fn private(name: &'static str, path: &Path) -> Check {
    let shown = path.display();
    match DataDir::open_existing(path) {
        Err(error @ (PrivateError::Foreign { .. } | PrivateError::Link { .. })) => {
            return check(name, Verdict::Bad, error.to_string(), Some(error.fix()));
        }
        Err(
            PrivateError::Writable { .. }
            | PrivateError::TooOpen { .. }
            | PrivateError::Kind { .. }
            | PrivateError::Io { .. },
        )
        | Ok(_) => {}
    }
    // The kinds of fault that are left have a shorter fix than the check of a starting daemon names.
    match std::fs::metadata(path) {
        Err(_) => check(
            name,
            Verdict::Note,
            format!("{shown} is not there yet"),
            Some("od init".to_owned()),
        ),
        Ok(meta) if !meta.is_dir() => check(
            name,
            Verdict::Bad,
            format!("{shown} is not a directory"),
            Some(PrivateError::Kind { path: path.to_owned(), wanted: "a directory" }.fix()),
        ),
        Ok(meta) if meta.permissions().mode() & 0o077 != 0 => check(
            name,
            Verdict::Bad,
            format!("{shown} is open to other users"),
            Some(format!("chmod 700 {}", shell_quoted(path))),
        ),
        Ok(_) => check(name, Verdict::Good, shown.to_string(), None),
    }
}

fn keyring(settings: &Settings) -> Check {
    match super::share::keys::status(settings) {
        Ok(answer) if answer.json["exists"] == true => {
            check("keyring", Verdict::Good, "readable, private", None)
        }
        Ok(_) => check("keyring", Verdict::Note, "there is none yet", Some("od init".to_owned())),
        Err(refusal) => {
            let failure = refusal.failure;
            check("keyring", Verdict::Bad, failure.message, Some(failure.suggestion))
        }
    }
}

async fn daemon(settings: &Settings) -> Check {
    let own = env!("CARGO_PKG_VERSION");
    match daemon::running(settings).await {
        Some(found) if found.version == own => {
            check("daemon", Verdict::Good, format!("version {own} answers at {}", found.url), None)
        }
        Some(found) => check(
            "daemon",
            Verdict::Bad,
            format!("version {} answers at {}; this program is {own}", found.version, found.url),
            Some(format!("kill {}, then od open", found.pid)),
        ),
        None if Announcement::read(&settings.data_dir).is_some() => check(
            "daemon",
            Verdict::Note,
            "one was announced and does not answer; the next start clears that up",
            Some("od open".to_owned()),
        ),
        None => check(
            "daemon",
            Verdict::Note,
            "none runs; the verbs that need one start it",
            Some("od open".to_owned()),
        ),
    }
}

/// Checks the database that keeps the artifacts; nothing is said of one that can be used, or of files.
async fn unusable(settings: &Settings) -> Option<Check> {
    let refused = match settings.shared_store(None) {
        Ok(None) => return None,
        Ok(Some(store)) => {
            let place = store.address.place();
            let CommandError { failure, .. } = shared::check(store).await.err()?;
            (format!("{place}: {}", failure.message), failure.suggestion)
        }
        Err(CommandError { failure, .. }) => (failure.message, failure.suggestion),
    };
    let (found, fix) = refused;
    Some(check("store", Verdict::Bad, found, Some(fix)))
}

async fn store(settings: &Settings) -> Check {
    if let Some(found) = unusable(settings).await {
        return found;
    }
    let app = match local::open_existing(settings) {
        Ok(Some(app)) => app,
        Ok(None) => {
            return check(
                "store",
                Verdict::Note,
                "nothing is stored yet",
                Some("od demo".to_owned()),
            );
        }
        Err(refusal) => {
            return check(
                "store",
                Verdict::Bad,
                refusal.failure.message,
                Some(refusal.failure.suggestion),
            );
        }
    };
    let report = od_app::health::survey(&app).await;
    // The daemon knows more than the files say: which commits it could not finish.
    let daemon_says = daemon::health(settings).await;
    let is_degraded = daemon_says.as_ref().is_some_and(|health| health["store"] == "degraded");
    let total = report.tally.total();
    let damaged = report.tally.damaged();
    let ending = |is_one| if is_one { "" } else { "s" };
    let (artifacts, projects) = (ending(total == 1), ending(report.projects == 1));
    let at = match &report.place {
        StorePlace::Files => String::new(),
        StorePlace::Postgres { address, .. } => format!(", shared at {address}"),
    };
    let counts =
        format!("{total} artifact{artifacts} in {} project{projects}{at}", report.projects);
    match report.store {
        StoreState::Ok if is_degraded => check(
            "store",
            Verdict::Bad,
            format!("{counts}; the daemon could not finish a commit, and refuses to write past it"),
            Some("od artifacts verify".to_owned()),
        ),
        // Everything was just read, but for a project that another process has made since.
        StoreState::Ok | StoreState::Reading => check("store", Verdict::Good, counts, None),
        StoreState::Degraded => check(
            "store",
            Verdict::Bad,
            format!("{counts}, {damaged} damaged"),
            Some("od artifacts verify".to_owned()),
        ),
        StoreState::Unreachable => check(
            "store",
            Verdict::Bad,
            format!("the shared store does not answer{at}"),
            Some("od store status".to_owned()),
        ),
        StoreState::Failing => check(
            "store",
            Verdict::Bad,
            "it cannot be read",
            Some(format!("ls -la {}", settings.data_dir.display())),
        ),
    }
}

/// The most artifacts that one finding names.
const NAMED_MAX: usize = 3;

/// Checks whether the artifacts show what they should: refreshes that failed, checks that do not hold.
async fn artifacts(settings: &Settings) -> Check {
    const NAME: &str = "artifacts";
    let listed = match local::open_existing(settings) {
        Ok(Some(app)) => local::artifacts(&app, None).await,
        Ok(None) => Ok(Vec::new().into()),
        Err(refusal) => Err(refusal),
    };
    let lines = match listed {
        Ok(lines) => lines,
        Err(CommandError { failure, .. }) => {
            return check(NAME, Verdict::Bad, failure.message, Some(failure.suggestion));
        }
    };
    let used = || lines.iter().filter(|line| line.heading.status != Status::Archived);
    let failed = |line: &&Arc<ArtifactSummary>| line.refresh_status == RefreshStatus::Failed;
    let open = |line: &&Arc<ArtifactSummary>| {
        line.checks.as_ref().is_some_and(|checks| checks.failing + checks.unknown > 0)
    };
    let (failures, opens) = (used().filter(failed).count(), used().filter(open).count());
    let first = used().find(failed).map(|line| format!("od artifacts history {}", line.id));
    let fix =
        first.or_else(|| used().find(open).map(|line| format!("od artifacts check {}", line.id)));
    match (failures, opens) {
        (0, 0) => check(NAME, Verdict::Good, "no refresh failed, and every check holds", None),
        (failures, opens) => {
            let mut found = Vec::new();
            if failures > 0 {
                let ids: Vec<String> =
                    used().filter(failed).take(NAMED_MAX).map(|line| line.id.to_string()).collect();
                let more = if failures > NAMED_MAX { ", …" } else { "" };
                found.push(format!(
                    "the last refresh of {failures} failed: {}{more}",
                    ids.join(", ")
                ));
            }
            if opens > 0 {
                found.push(format!("checks of {opens} do not hold"));
            }
            check(NAME, Verdict::Note, found.join("; "), fix)
        }
    }
}

async fn project(settings: &Settings) -> Check {
    let projects = match local::open_existing(settings) {
        Ok(Some(app)) => local::projects(&app).await.unwrap_or_default(),
        Ok(None) | Err(_) => Vec::new(),
    };
    // Data beside a project came with it: one whose folder is elsewhere was bound where it was cloned from.
    let beside = DataDir::bound(&settings.data_dir);
    let is_elsewhere = |project: &&Project| {
        let root = project.root.as_deref();
        beside.as_deref().is_some_and(|beside| root.is_some_and(|root| !root.starts_with(beside)))
    };
    let cloned = projects.iter().find(is_elsewhere).cloned();
    let gone = |project: &&Project| project.root.as_deref().is_some_and(|root| !root.exists());
    if let Some(gone) = projects.iter().filter(|project| !is_elsewhere(project)).find(gone) {
        return check(
            "project",
            Verdict::Bad,
            format!("the folder of {} is gone: its files cannot be read", gone.id),
            Some(format!("od projects rebind {} --dir FOLDER", gone.id)),
        );
    }
    match (local::of_directory(projects, &settings.directory), cloned, beside) {
        (Some(project), _, _) => {
            check("project", Verdict::Good, format!("this directory is in {}", project.id), None)
        }
        (None, Some(project), Some(beside)) => check(
            "project",
            Verdict::Bad,
            format!("{} is bound to a folder of another place", project.id),
            Some(format!("od projects rebind {} --dir {}", project.id, shell_quoted(&beside))),
        ),
        (None, None, _) | (None, Some(_), None) => check(
            "project",
            Verdict::Note,
            "this directory is in no project",
            Some("od init".to_owned()),
        ),
    }
}

fn skill(settings: &Settings) -> Check {
    let found =
        skills::discover(settings.upward(&settings.directory), settings.user_home.as_deref());
    let ours: Vec<_> = found.iter().filter(|skill| skill.name() == BUILTIN_NAME).collect();
    let current = ours.iter().any(|skill| skill.text.as_deref() == Some(BUILTIN_FILES[0].text));
    match (ours.is_empty(), current) {
        (true, _) => check(
            "skill",
            Verdict::Note,
            "live-artifact is not installed here",
            Some("od skills install".to_owned()),
        ),
        (false, true) => {
            check("skill", Verdict::Good, "live-artifact is installed and current", None)
        }
        (false, false) => check(
            "skill",
            Verdict::Note,
            "live-artifact is installed and differs from this version's",
            Some("od skills install --force".to_owned()),
        ),
    }
}

fn git() -> Check {
    let mut git = Command::new("git");
    // With a PATH of its own a command is looked for there.
    git.env("PATH", od_platform::search_path().unwrap_or_default());
    let output = git.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            check("git", Verdict::Good, String::from_utf8_lossy(&output.stdout).trim(), None)
        }
        Ok(_) | Err(_) => check(
            "git",
            Verdict::Note,
            "the program is not in PATH; the git connector needs it",
            Some("install git with your system's package manager".to_owned()),
        ),
    }
}

/// Checks whether the desktop shows what it was asked to show.
fn notifications(settings: &Settings) -> Check {
    const NAME: &str = "notifications";
    let ComposeOptions { desktop_notifications, .. } = local::options(&settings.config);
    match desktop_readiness(desktop_notifications) {
        Readiness::Off => {
            check(NAME, Verdict::Good, "changed checks are not shown on the desktop", None)
        }
        Readiness::Ready { program } => {
            check(NAME, Verdict::Good, format!("{program} shows changed checks"), None)
        }
        Readiness::Absent { program } => check(
            NAME,
            Verdict::Note,
            format!("{program} is not in PATH, so no changed check is shown on the desktop"),
            Some(format!("install {program} with your system's package manager")),
        ),
    }
}

/// Checks whether what was sent to webhooks has arrived.
async fn webhooks(settings: &Settings) -> Check {
    const NAME: &str = "webhooks";
    let listed = match local::open_existing(settings) {
        Ok(Some(app)) => od_app::notifications::list(&app).await.map_err(local::failed),
        Ok(None) => Ok(Vec::new()),
        Err(refusal) => Err(refusal),
    };
    let webhooks = match listed {
        Ok(webhooks) => webhooks,
        Err(CommandError { failure, .. }) => {
            return check(NAME, Verdict::Bad, failure.message, Some(failure.suggestion));
        }
    };
    let mut failing = webhooks.iter().filter_map(|hook| Some((hook, hook.deliveries.fault()?)));
    match failing.next() {
        Some((hook, fault)) => check(
            NAME,
            Verdict::Note,
            format!("`{}` lost {}: {fault}", hook.name, hook.deliveries.lost),
            Some(format!("od webhooks test {}", hook.name)),
        ),
        None => {
            let found = match webhooks.len() {
                0 => "none is registered".to_owned(),
                1 => "1 is registered, nothing was lost".to_owned(),
                count => format!("{count} are registered, nothing was lost"),
            };
            check(NAME, Verdict::Good, found, None)
        }
    }
}

/// Checks which program `od` is: on many systems it is octal dump.
fn other_od() -> Check {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|dir| dir.join("od")).find(|file| file.is_file());
    let first = first.and_then(|file| file.canonicalize().ok());
    let own_dir =
        own.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).display().to_string();
    match first {
        Some(first) if Some(&first) == own.as_ref() => {
            check("name", Verdict::Good, "`od` in PATH is this program", None)
        }
        Some(first) => check(
            "name",
            Verdict::Note,
            format!("`od` in PATH is {}", first.display()),
            Some(format!("export PATH=\"{own_dir}:$PATH\"")),
        ),
        None => check(
            "name",
            Verdict::Note,
            "`od` is not in PATH",
            Some(format!("export PATH=\"{own_dir}:$PATH\"")),
        ),
    }
}
