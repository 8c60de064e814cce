//! Bring an artifact back from the trash.

use od_core::error::{ErrorCode, Failure};
use od_core::event::{ArtifactAction, ArtifactEvent, Event};
use od_core::ids::ArtifactId;
use od_ports::store::StoreError;

use super::find::Address;
use super::get::Detail;
use super::list::ListError;
use super::trash::{InTrash, ListTrash, trash};
use crate::{App, Caller, failure};

/// Why it was not brought back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// No trash has it.
    #[error("no artifact `{artifact}` in the trash")]
    NotInTrash {
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// An artifact of its id is there.
    #[error("artifact `{artifact}` exists already")]
    Exists {
        /// The id.
        artifact: ArtifactId,
    },
    /// Only a person brings artifacts back.
    #[error("an agent may not restore artifacts")]
    PersonOnly,
    /// The trash could not be read.
    #[error(transparent)]
    Trash(#[from] ListError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RestoreError> for Failure {
    fn from(err: RestoreError) -> Self {
        let message = err.to_string();
        match err {
            RestoreError::NotInTrash { artifact } => {
                Self::new(ErrorCode::LiveArtifactNotFound, message)
                    .suggest(
                        "`od artifacts list --trash` shows what can be brought back, for 7 days",
                    )
                    .detail("artifactId", artifact.as_str())
            }
            RestoreError::Exists { artifact } => failure::id_taken(&artifact),
            RestoreError::PersonOnly => {
                Self::new(ErrorCode::Forbidden, message).suggest("ask the person to restore it")
            }
            RestoreError::Trash(err) => err.into(),
            RestoreError::Store(err) => failure::store(err),
        }
    }
}

/// Brings an artifact back from the trash, the last deleted if there are several of its id.
pub async fn restore(app: &App, caller: &Caller, address: Address) -> Result<Detail, RestoreError> {
    let InTrash { project, .. } = find_in_trash(app, caller, &address).await?;
    let stored = app.ports.trash.restore(&project, &address.artifact).await?;
    app.ports.events.publish(Event::Artifact(ArtifactEvent {
        action: ArtifactAction::Created,
        project_id: project,
        artifact_id: address.artifact,
        title: stored.summary.heading.title.clone(),
        refresh_status: stored.summary.refresh_status,
    }));
    Ok(Detail::of(stored))
}

/// Says what would be brought back, and leaves it where it is.
pub async fn plan_restore(
    app: &App,
    caller: &Caller,
    address: Address,
) -> Result<InTrash, RestoreError> {
    let found = find_in_trash(app, caller, &address).await?;
    let artifact = address.artifact;
    match app.ports.artifacts.load(&found.project, &artifact).await {
        Ok(_) => Err(RestoreError::Exists { artifact }),
        Err(StoreError::NotFound { .. }) => Ok(found),
        Err(err) => Err(err.into()),
    }
}

async fn find_in_trash(
    app: &App,
    caller: &Caller,
    address: &Address,
) -> Result<InTrash, RestoreError> {
    caller.require_person().map_err(|_| RestoreError::PersonOnly)?;
    let Address { project, artifact } = address;
    let trash = trash(app, caller, ListTrash { project: project.clone() }).await?;
    let found = trash.into_iter().find(|line| line.trashed.artifact_id == *artifact);
    found.ok_or_else(|| RestoreError::NotInTrash { artifact: artifact.clone() })
}
