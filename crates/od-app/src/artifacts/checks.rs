//! Work out the checks of an artifact on the data it has, now.

use od_core::checks::{CheckResult, work_out};
use od_core::ids::{ArtifactId, ProjectId};
use serde::Serialize;

use super::read::{Address, FindError, get};
use crate::{App, Caller};

/// The checks of one artifact.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The project.
    pub project_id: ProjectId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its title.
    pub title: String,
    /// What each check came to. Ages go on between two commits, so this may differ from what is stored.
    pub checks: Vec<CheckResult>,
}

/// Works out the checks of an artifact on the data it has, at this time. Writes nothing.
pub async fn check(app: &App, caller: &Caller, address: Address) -> Result<CheckReport, FindError> {
    let stored = get(app, caller, address).await?;
    let checks = stored.state.as_ref().map_or_else(Vec::new, |state| {
        let document = state.artifact.document.as_ref();
        let checks = document.map(|document| document.checks.as_slice()).unwrap_or_default();
        let before = &state.artifact.check_results;
        work_out(checks, state.data.value(), before, app.ports.clock.now())
    });
    Ok(CheckReport {
        project_id: stored.project.clone(),
        artifact_id: stored.id.clone(),
        title: stored.summary.heading.title.clone(),
        checks,
    })
}
