//! Repair a damaged artifact.

use od_core::artifact::Health;
use od_core::error::{ErrorCode, Failure};
use od_core::event::ArtifactAction;
use od_ports::store::{RepairMode, RepairReport, StoreError};

use super::read::{Address, FindError, find};
use crate::{App, Caller, failure};

/// An artifact to repair.
#[derive(Clone, Debug)]
pub struct RepairArtifact {
    /// The artifact.
    pub address: Address,
    /// Whether to do it.
    pub mode: RepairMode,
}

/// Why it was not repaired.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Only a person repairs.
    #[error("an agent may not repair artifacts")]
    PersonOnly,
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RepairError> for Failure {
    fn from(err: RepairError) -> Self {
        match err {
            RepairError::Find(err) => err.into(),
            RepairError::PersonOnly => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("ask the person to run `od artifacts repair`"),
            RepairError::Store(err) => failure::store(err),
        }
    }
}

/// A repair, done or planned.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The parts it keeps and drops.
    pub report: RepairReport,
    /// Before.
    pub health_before: Health,
    /// After; the same if it was only planned.
    pub health_after: Health,
}

/// Says what a repair keeps and drops, and does it if asked. Nothing is deleted: what the artifact
/// loses is kept beside it.
pub async fn repair(
    app: &App,
    caller: &Caller,
    request: RepairArtifact,
) -> Result<Repaired, RepairError> {
    caller.require_person().map_err(|_| RepairError::PersonOnly)?;
    let RepairArtifact { address, mode } = request;
    let project = find(app, caller, &address).await?;
    let store = &app.ports.artifacts;
    let before = store.load(&project, &address.artifact).await?;
    let report = app.ports.maintenance.repair(&project, &address.artifact, mode).await?;
    let after = store.load(&project, &address.artifact).await?;
    if report.applied {
        app.publish(None, ArtifactAction::Updated, &after);
    }
    Ok(Repaired { report, health_before: before.health, health_after: after.health })
}
