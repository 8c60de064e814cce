//! The state of the store.

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

/// The state of the store in counts only, because anybody may ask for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HealthReport {
    /// Whether the store can be read.
    pub store: StoreState,
    /// The number of projects.
    pub projects: usize,
    /// The number of artifacts in each state of health; every state once, in the order of the words.
    pub artifacts: Vec<(HealthState, u64)>,
}

/// Counts the artifacts of every project by their health.
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
