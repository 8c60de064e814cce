//! Remove an artifact to the trash.

use od_core::error::{ErrorCode, Failure};
use od_core::event::{ArtifactAction, ArtifactEvent, Event};
use od_core::ids::Revision;
use od_ports::store::{StoreError, Trashed};

use super::find::{Address, FindError, find};
use crate::{App, Caller, failure};

/// What to remove.
#[derive(Clone, Debug)]
pub struct DeleteArtifact {
    /// Which artifact.
    pub address: Address,
    /// Only if it is at this revision.
    pub if_revision: Option<Revision>,
}

/// Why it was not removed.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Only a person removes artifacts.
    #[error("an agent may not remove artifacts")]
    PersonOnly,
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<DeleteError> for Failure {
    fn from(err: DeleteError) -> Self {
        match err {
            DeleteError::Find(err) => err.into(),
            DeleteError::PersonOnly => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("ask the person to remove it in the console"),
            DeleteError::Store(err) => failure::store(err),
        }
    }
}

/// Moves an artifact, healthy or not, to a trash that is kept for 7 days.
pub async fn delete(
    app: &App,
    caller: &Caller,
    request: DeleteArtifact,
) -> Result<Trashed, DeleteError> {
    caller.require_person().map_err(|_| DeleteError::PersonOnly)?;
    let DeleteArtifact { address, if_revision } = request;
    let project = find(app, caller, &address).await?;
    let before = app.ports.artifacts.load(&project, &address.artifact).await?;
    let trashed = app.ports.trash.delete(&project, &address.artifact, if_revision).await?;
    app.ports.events.publish(Event::Artifact(ArtifactEvent {
        action: ArtifactAction::Deleted,
        project_id: project,
        artifact_id: address.artifact,
        title: before.summary.heading.title.clone(),
        refresh_status: before.summary.refresh_status,
    }));
    Ok(trashed)
}
