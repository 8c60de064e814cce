//! How the store is.

use serde::Serialize;

use crate::App;

/// Whether the store can be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreState {
    /// Everything can be read and is healthy.
    Ok,
    /// It can be read; some artifacts are damaged.
    Degraded,
    /// It cannot be read.
    Failing,
}

/// How the store is. Counts only: it is shown to whoever asks.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthReport {
    /// Whether the store can be read.
    pub store: StoreState,
    /// How many projects there are.
    pub projects: usize,
    /// How many artifacts there are.
    pub artifacts: usize,
    /// How many of them are damaged.
    pub unhealthy: usize,
}

/// Looks at every artifact's health.
pub async fn report(app: &App) -> HealthReport {
    let failing =
        HealthReport { store: StoreState::Failing, projects: 0, artifacts: 0, unhealthy: 0 };
    let Ok(projects) = app.ports.projects.list().await else { return failing };
    let (mut artifacts, mut unhealthy) = (0, 0);
    for project in &projects {
        let Ok(list) = app.ports.artifacts.list(&project.id).await else { return failing };
        artifacts += list.len();
        unhealthy += list.iter().filter(|line| !line.health.is_healthy()).count();
    }
    let store = if unhealthy == 0 { StoreState::Ok } else { StoreState::Degraded };
    HealthReport { store, projects: projects.len(), artifacts, unhealthy }
}
