//! Bring an artifact back from the trash.

use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::event_sink::{ArtifactAction, ArtifactEvent, Event};
use od_ports::project_registry::ProjectError;
use od_ports::store_error::StoreError;

use super::find::Address;
use super::get::Detail;
use crate::{App, Caller, store_failure};

/// Why it was not brought back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// No trash has it.
    #[error("no artifact `{artifact}` in the trash")]
    NotInTrash {
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// Only a person brings artifacts back.
    #[error("an agent may not restore artifacts")]
    PersonOnly,
    /// The projects could not be read.
    #[error(transparent)]
    Projects(#[from] ProjectError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<&RestoreError> for Failure {
    fn from(err: &RestoreError) -> Self {
        match err {
            RestoreError::NotInTrash { artifact } => {
                Self::new(ErrorCode::LiveArtifactNotFound, err.to_string())
                    .suggest("deleted artifacts are kept for 7 days; this one is not among them")
                    .detail("artifactId", artifact.as_str())
            }
            RestoreError::PersonOnly => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("ask the person to restore it"),
            RestoreError::Projects(err) => crate::projects::failure(err),
            RestoreError::Store(err) => store_failure::of(err),
        }
    }
}

/// Brings an artifact back from the trash, the last deleted if there are several of its id.
pub async fn restore(app: &App, caller: &Caller, address: Address) -> Result<Detail, RestoreError> {
    match caller {
        Caller::Person => {}
        Caller::Agent { .. } => return Err(RestoreError::PersonOnly),
    }
    let project = match address.project {
        Some(project) => project,
        None => find_in_trash(app, &address.artifact).await?,
    };
    let stored = app.ports.artifacts.restore(&project, &address.artifact).await?;
    app.ports.events.publish(Event::Artifact(ArtifactEvent {
        action: ArtifactAction::Created,
        project_id: project,
        artifact_id: address.artifact,
        title: stored.summary.title.clone(),
        refresh_status: stored.summary.refresh_status,
    }));
    Ok(Detail::of(stored))
}

async fn find_in_trash(app: &App, artifact: &ArtifactId) -> Result<ProjectId, RestoreError> {
    for project in app.ports.projects.list().await? {
        let trash = app.ports.artifacts.trash(&project.id).await?;
        if trash.iter().any(|trashed| trashed.artifact_id == *artifact) {
            return Ok(project.id);
        }
    }
    Err(RestoreError::NotInTrash { artifact: artifact.clone() })
}
