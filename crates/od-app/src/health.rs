//! How the store is.

use od_core::artifact::HealthState;

use crate::App;

/// Whether the store can be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoreState {
    /// Everything can be read and is healthy.
    Ok,
    /// It can be read; some artifacts are damaged.
    Degraded,
    /// It cannot be read.
    Failing,
}

/// How the store is. Counts only: it is shown to whoever asks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HealthReport {
    /// Whether the store can be read.
    pub store: StoreState,
    /// How many projects there are.
    pub projects: usize,
    /// How many artifacts are how sound; every state once, in the order of the words.
    pub artifacts: Vec<(HealthState, u64)>,
}

/// Looks at every artifact's health.
pub async fn report(app: &App) -> HealthReport {
    let mut counts: Vec<(HealthState, u64)> =
        HealthState::ALL.iter().map(|state| (*state, 0)).collect();
    let failing = |artifacts| HealthReport { store: StoreState::Failing, projects: 0, artifacts };
    let Ok(projects) = app.ports.projects.list().await else { return failing(counts) };
    for project in &projects {
        let Ok(list) = app.ports.artifacts.list(&project.id).await else { return failing(counts) };
        for line in list.iter() {
            if let Some((_, count)) =
                counts.iter_mut().find(|(state, _)| *state == line.health.state)
            {
                *count += 1;
            }
        }
    }
    let is_sound = counts.iter().all(|(state, n)| *state == HealthState::Healthy || *n == 0);
    let store = if is_sound { StoreState::Ok } else { StoreState::Degraded };
    HealthReport { store, projects: projects.len(), artifacts: counts }
}
