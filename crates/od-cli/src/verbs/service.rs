//! `od service …`: the daemon at every login, by the service manager of the person. Never by root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use od_core::error::ErrorCode;
use od_platform::{SERVICE_MANAGER, ServiceManager};
use serde_json::json;

use crate::args::ServiceCommand;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text, ask};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Installs, removes, or tells of the service.
pub(crate) async fn service(
    settings: &Settings,
    command: ServiceCommand,
) -> Result<Answer, CommandError> {
    let unit = Unit::of(settings)?;
    match command {
        ServiceCommand::Install { yes, dry_run } => install(&unit, yes, dry_run),
        ServiceCommand::Status => Ok(status(settings, &unit).await),
        ServiceCommand::Remove { yes, dry_run } => remove(&unit, yes, dry_run),
    }
}

fn install(unit: &Unit, yes: bool, dry_run: bool) -> Result<Answer, CommandError> {
    let plan = Text::new()
        .line(&format!("This is written to {}:", unit.path.display()))
        .gap()
        .block(&unit.text);
    let json = json!({ "path": unit.path, "unit": unit.text });
    if dry_run {
        return Ok(Answer::new(json, plan).dry());
    }
    confirm(&plan, yes, "Install it?", "install")?;
    let refused = |error: std::io::Error| {
        CommandError::new(
            ErrorCode::Internal,
            format!("could not write {}: {error}", unit.path.display()),
        )
        .suggest("check the directory's permissions")
    };
    if let Some(folder) = unit.path.parent() {
        std::fs::create_dir_all(folder).map_err(refused)?;
    }
    std::fs::write(&unit.path, &unit.text).map_err(refused)?;
    let started = unit.start.iter().all(|words| run(words));
    let mut text = plan.gap().styled(Style::Good, "Installed.");
    if !started {
        text = text.line("The service manager could not be asked to start it. Run:");
        for words in &unit.start {
            text = text.line(&format!("  {}", words.join(" ")));
        }
    }
    Ok(Answer::new(json!({ "path": unit.path, "unit": unit.text, "started": started }), text))
}

async fn status(settings: &Settings, unit: &Unit) -> Answer {
    let installed = unit.path.is_file();
    let is_current = std::fs::read_to_string(&unit.path).is_ok_and(|written| written == unit.text);
    let running = daemon::running(settings).await.is_some();
    let path = local::display_path(&unit.path, settings);
    let says = match (installed, is_current) {
        (false, _) => format!("not installed ({path})"),
        (true, true) => format!("installed ({path})"),
        (true, false) => format!("installed for another program or directory ({path})"),
    };
    let daemon = if running { "a daemon runs" } else { "no daemon runs" };
    let text = Text::new().line(&format!("service: {says}")).line(&format!("daemon:  {daemon}"));
    let json = json!({ "installed": installed, "current": is_current, "running": running,
        "path": unit.path });
    let exit = if installed && is_current { Exit::Ok } else { Exit::Found };
    Answer::new(json, text).ending(exit)
}

fn remove(unit: &Unit, yes: bool, dry_run: bool) -> Result<Answer, CommandError> {
    let json = json!({ "path": unit.path, "removed": unit.path.is_file() });
    if !unit.path.is_file() {
        let answer = Answer::new(json, Text::new().line("No service is installed."));
        return Ok(if dry_run { answer.dry() } else { answer });
    }
    let plan = Text::new().line(&format!("{} is removed.", unit.path.display()));
    if dry_run {
        return Ok(Answer::new(json, plan).dry());
    }
    confirm(&plan, yes, "Remove it?", "remove")?;
    // A manager that is not there has nothing to stop.
    let _ = unit.stop.iter().all(|words| run(words));
    std::fs::remove_file(&unit.path).map_err(|error| {
        CommandError::new(
            ErrorCode::Internal,
            format!("could not remove {}: {error}", unit.path.display()),
        )
        .suggest("check the directory's permissions")
    })?;
    Ok(Answer::new(json, plan.styled(Style::Good, "Removed.")))
}

fn confirm(plan: &Text, yes: bool, question: &str, verb: &str) -> Result<(), CommandError> {
    if yes || ask(plan, question) == Some(true) {
        return Ok(());
    }
    Err(CommandError::new(ErrorCode::BadRequest, "a service needs a person's word")
        .suggest(format!("look with `od service {verb} --dry-run`, then `od service {verb} --yes`"))
        .ending(Exit::Confirm))
}

/// Runs a program of the service manager, quietly; returns whether it ended well.
fn run(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The file of the service, and how the service manager is told of it.
struct Unit {
    path: PathBuf,
    text: String,
    start: Vec<Vec<String>>,
    stop: Vec<Vec<String>>,
}

impl Unit {
    fn of(settings: &Settings) -> Result<Self, CommandError> {
        let program = std::env::current_exe().map_err(|error| {
            CommandError::new(ErrorCode::Internal, format!("where `od` is cannot be told: {error}"))
        })?;
        let home = std::env::var_os("HOME").map(PathBuf::from).ok_or_else(|| {
            CommandError::new(ErrorCode::BadRequest, "HOME is not set").suggest("set HOME")
        })?;
        match SERVICE_MANAGER {
            ServiceManager::Systemd => Ok(Self::systemd(&program, &home, settings)),
            ServiceManager::Launchd => Ok(Self::launchd(&program, &home, settings)),
        }
    }

    fn launchd(program: &Path, home: &Path, settings: &Settings) -> Self {
        let path = home.join("Library/LaunchAgents/dev.od.daemon.plist");
        // The domain of the person's own session: an agent of it needs no root.
        let domain = format!("gui/{}", rustix::process::geteuid().as_raw());
        let service = format!("{domain}/dev.od.daemon");
        let file = path.display().to_string();
        Self {
            text: launchd_agent(program, &settings.home, &settings.data_dir),
            start: vec![words(&["launchctl", "bootstrap", &domain, &file])],
            stop: vec![words(&["launchctl", "bootout", &service])],
            path,
        }
    }

    fn systemd(program: &Path, home: &Path, settings: &Settings) -> Self {
        let config = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| home.join(".config"));
        Self {
            path: config.join("systemd/user/od.service"),
            text: systemd_unit(program, &settings.home, &settings.data_dir),
            start: vec![
                words(&["systemctl", "--user", "daemon-reload"]),
                words(&["systemctl", "--user", "enable", "--now", "od.service"]),
            ],
            stop: vec![words(&["systemctl", "--user", "disable", "--now", "od.service"])],
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Writes a path as systemd reads one: in quotes, its percent signs and quotes escaped.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('%', "%%"))
}

fn systemd_unit(program: &Path, home: &Path, data_dir: &Path) -> String {
    // In arguments a dollar sign begins a variable; in the program's path and in Environment it is itself.
    let (program, data_dir) = (quoted(program), quoted(data_dir).replace('$', "$$"));
    // Environment takes one quoted assignment.
    let home = quoted(home);
    let home = home.trim_matches('"');
    format!(
        "[Unit]\nDescription=od, live artifacts\n\n[Service]\nType=simple\n\
         Environment=\"OD_HOME={home}\"\n\
         ExecStart={program} serve --data-dir {data_dir}\n\
         Restart=on-failure\nRestartSec=5\nNoNewPrivileges=true\n\n\
         [Install]\nWantedBy=default.target\n"
    )
}

fn launchd_agent(program: &Path, home: &Path, data_dir: &Path) -> String {
    let text = |path: &Path| {
        let path = path.display().to_string();
        path.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    };
    let words = [text(program), "serve".to_owned(), "--data-dir".to_owned(), text(data_dir)];
    let words: String = words.iter().map(|word| format!("    <string>{word}</string>\n")).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>dev.od.daemon</string>\n\
         \x20 <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
         \x20 <key>EnvironmentVariables</key>\n  <dict><key>OD_HOME</key><string>{}</string></dict>\n\
         \x20 <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
         </dict>\n</plist>\n",
        text(home)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_quotes_and_percent_signs_stay_one_word() {
        let unit = systemd_unit(
            Path::new("/opt/my od/od"),
            Path::new("/home/a 100%/.od"),
            Path::new("/data/\"x\" $HOME"),
        );
        let exec = "ExecStart=\"/opt/my od/od\" serve --data-dir \"/data/\\\"x\\\" $$HOME\"";
        assert!(unit.contains(exec), "{unit}");
        assert!(unit.contains("Environment=\"OD_HOME=/home/a 100%%/.od\""), "{unit}");
        assert!(!unit.contains("User="), "a user unit never changes who runs it");
        let agent = launchd_agent(Path::new("/od"), Path::new("/h"), Path::new("/a & b<c>"));
        assert!(agent.contains("<string>/a &amp; b&lt;c&gt;</string>"), "{agent}");
    }
}
