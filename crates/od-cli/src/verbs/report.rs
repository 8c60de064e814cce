//! `od report`: a text for bug reports, without the person's data.

use std::path::Path;

use od_core::limits::LOG_FILE;
use od_fs::DataDir;
use serde_json::json;

use super::doctor::{self, Check};
use crate::output::{Answer, CommandError, Style, Text};
use crate::settings::Settings;

/// The last lines of the daemon's log that a report holds.
const LOG_LINES: usize = 20;

/// Collects version, system, the findings of `od doctor` and the last faults of the daemon.
///
/// No titles, data, tokens, keys or values of variables; the person's own directory is `~`.
pub(crate) async fn report(settings: &Settings) -> Result<Answer, CommandError> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let system = format!("{os} {arch} {}", od_platform::kernel_release());
    let mut variables: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with("OD_"))
        .collect();
    variables.sort();
    let checks = doctor::checks(settings).await;
    let log = faults(settings);
    let mut text = Text::new()
        .styled(Style::Dim, "Paste this into a bug report. It holds no title, data, token or key.")
        .gap()
        .line(&format!("od {} on {}", env!("CARGO_PKG_VERSION"), system.trim()))
        .line(&format!("variables: {}", variables.join(" ")));
    for Check { name, verdict, found, .. } in &checks {
        text = text.line(&format!(
            "{:<4}  {name:<15}  {}",
            verdict.word(),
            anonymous(found, settings)
        ));
    }
    text = text.line(&format!("faults in the daemon's log: {}", log.len()));
    for line in &log {
        text = text.line(&format!("  {line}"));
    }
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let found = anonymous(&check.found, settings);
            json!({ "check": check.name, "verdict": check.verdict.word(), "found": found })
        })
        .collect();
    let json = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "system": system.trim(),
        "variables": variables,
        "checks": checks,
        "log": log,
    });
    Ok(Answer::new(json, text))
}

/// Returns the daemon's log; empty if it is a link or somebody else's, as a clone may bring one.
pub(crate) fn own_log(data_dir: &Path) -> String {
    let folder = DataDir::open_existing(data_dir).ok();
    let bytes =
        folder.and_then(|folder| folder.read("daemon.log", LOG_FILE.allowed).ok().flatten());
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

/// Returns the last lines of the log that are no requests: those name artifacts.
fn faults(settings: &Settings) -> Vec<String> {
    let log = own_log(&settings.data_dir);
    let mut last: Vec<String> = log
        .lines()
        .rev()
        .filter(|line| !line.starts_with('{') && !line.is_empty())
        .take(LOG_LINES)
        .map(|line| anonymous(line, settings))
        .collect();
    last.reverse();
    last
}

fn anonymous(text: &str, settings: &Settings) -> String {
    match settings.user_home.as_deref().and_then(|home| home.to_str()) {
        Some(home) if home.len() > 1 => text.replace(home, "~"),
        Some(_) | None => text.to_owned(),
    }
}
