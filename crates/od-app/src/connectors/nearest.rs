//! The connector and the tool that a wrong name was probably meant for.

use od_core::error::nearest_name;
use od_core::ids::{ConnectorId, ToolName};

use super::execute::ExecuteError;
use crate::app::App;

/// Makes the refusal of a connector that nobody provides, with the one that was probably meant.
pub(super) fn connector_not_found(app: &App, connector: &ConnectorId) -> ExecuteError {
    let known: Vec<ConnectorId> =
        app.ports.connectors.iter().map(|provider| provider.catalog().id).collect();
    let near = nearest_name(connector.as_str(), known.iter().map(|id| id.as_str()));
    // `github.com`, `local_git`, `files`: a name inside the other.
    let inside = known
        .iter()
        .map(|id| id.as_str())
        .find(|id| connector.as_str().contains(id) || id.contains(connector.as_str()));
    let nearest = near.or(inside).or_else(|| by_meaning(connector.as_str(), &known));
    let nearest = nearest.and_then(|name| name.parse().ok());
    ExecuteError::ConnectorNotFound { connector: connector.clone(), nearest }
}

/// Returns the connector for what other programs call by another name.
fn by_meaning<'k>(given: &str, known: &'k [ConnectorId]) -> Option<&'k str> {
    let meant = match given.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "filesystem" | "fs" | "file" | "files" | "local" | "localfiles" | "localfile" | "disk"
        | "workspace" | "projectfile" | "project" | "json" => "project_files",
        "repo" | "repository" | "vcs" | "versioncontrol" => "git",
        "db" | "database" | "sql" | "sqlite3" => "sqlite",
        "gh" => "github",
        "rest" | "api" | "web" | "fetch" | "https" | "url" => "http",
        "metrics" | "prom" => "prometheus",
        _ => return None,
    };
    known.iter().map(|id| id.as_str()).find(|id| *id == meant)
}

/// Returns the tool that a name was probably meant for: by its letters, or by one of its words.
pub(super) fn nearest_tool(given: &str, allowed: &[ToolName]) -> Option<ToolName> {
    let short = given.rsplit('.').next().unwrap_or(given);
    let names = allowed.iter().map(|name| name.as_str().rsplit('.').next().unwrap_or_default());
    let words = |name: &str| -> Vec<String> {
        name.split(['_', '-', '.'])
            .map(|word| word.trim_end_matches('s').to_ascii_lowercase())
            .collect()
    };
    let given = words(short);
    let shared = |name: &ToolName| {
        let name = words(name.as_str().rsplit('.').next().unwrap_or_default());
        given.iter().filter(|word| name.contains(word)).count()
    };
    if let Some(near) = nearest_name(short, names) {
        return allowed.iter().find(|name| name.as_str().ends_with(&format!(".{near}"))).cloned();
    }
    let closest = |name: &&ToolName| (shared(name), std::cmp::Reverse(name.as_str().len()));
    let best = allowed.iter().max_by_key(closest).filter(|name| shared(name) > 0);
    best.or(match allowed {
        [only] => Some(only),
        _ => None,
    })
    .cloned()
}
