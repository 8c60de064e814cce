//! The state of the store.

use od_core::artifact::ListTally;
use od_core::ids::ProjectId;
use od_ports::store::{Census, PageRequest, Reach, StorePlace};

use crate::App;

/// Whether the store can be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoreState {
    /// Everything can be read and is healthy.
    Ok,
    /// It is being read for the first time: everything is served, and not everything is counted.
    Reading,
    /// It can be read; some artifacts are damaged.
    Degraded,
    /// A shared store does not answer: what is in memory is served, and nothing is written.
    Unreachable,
    /// It cannot be read.
    Failing,
}

/// The state of the store in counts only, because anybody may ask for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HealthReport {
    /// Whether the store can be read.
    pub store: StoreState,
    /// Where the store is.
    pub place: StorePlace,
    /// The number of projects.
    pub projects: usize,
    /// The artifacts of all of them.
    pub tally: ListTally,
}

/// Counts the artifacts of every project by their health, as each was last read.
///
/// Whoever asks may ask often, and is not authorized: nothing of the store is read for it. What changed on
/// the disk since is counted once it is read, by a list or by the clock that works out what is due.
pub async fn report(app: &App) -> HealthReport {
    let listed = app.ports.projects.list().await;
    let place = app.ports.maintenance.place();
    let is_away = matches!(place, StorePlace::Postgres { reach: Reach::Unreachable, .. });
    let Ok(projects) = listed else {
        let (store, tally) = (StoreState::Failing, ListTally::default());
        let store = if is_away { StoreState::Unreachable } else { store };
        return HealthReport { store, place, projects: 0, tally };
    };
    let ids: Vec<ProjectId> = projects.into_iter().map(|project| project.id).collect();
    let Census { tally, unlisted, failing } = app.ports.maintenance.census(&ids).await;
    let store = match (failing, tally.damaged(), unlisted) {
        (1.., _, _) => StoreState::Failing,
        (0, 1.., _) => StoreState::Degraded,
        (0, 0, 1..) => StoreState::Reading,
        (0, 0, 0) => StoreState::Ok,
    };
    let store = if is_away { StoreState::Unreachable } else { store };
    HealthReport { store, place, projects: ids.len(), tally }
}

/// Reads what is not known of any project, and then does as [`report`].
pub async fn survey(app: &App) -> HealthReport {
    for project in app.ports.projects.list().await.unwrap_or_default() {
        // What cannot be read is counted as failing where that is found.
        let _ = app.ports.artifacts.page(&project.id, PageRequest::default()).await;
    }
    report(app).await
}
