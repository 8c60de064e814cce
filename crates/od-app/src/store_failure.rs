//! What every use case says when the store refuses or fails.

use od_core::artifact::{Health, HealthState};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::ArtifactId;
use od_ports::store::StoreError;

/// Turns a store error into the neutral form of a refusal.
pub(crate) fn of(err: &StoreError) -> Failure {
    match err {
        StoreError::ProjectNotFound { project } => {
            Failure::new(ErrorCode::ProjectNotFound, err.to_string())
                .suggest("list the projects, or make one with `od init`")
                .detail("projectId", project.as_str())
        }
        StoreError::NotFound { artifact, .. } => not_found(artifact),
        StoreError::NotInTrash { artifact, .. } => {
            Failure::new(ErrorCode::LiveArtifactNotFound, err.to_string())
                .suggest("deleted artifacts are kept for 7 days; this one is not among them")
                .detail("artifactId", artifact.as_str())
        }
        StoreError::SnapshotNotFound { .. } => Failure::new(ErrorCode::NotFound, err.to_string())
            .suggest("list the snapshots of the artifact"),
        StoreError::Exists { .. } => Failure::new(ErrorCode::Conflict, err.to_string())
            .suggest("an artifact of this id is there; delete it first or leave it"),
        StoreError::AttemptConflict { artifact, .. } => {
            Failure::new(ErrorCode::Conflict, err.to_string())
                .suggest("use a new attemptId for another request")
                .detail("artifactId", artifact.as_str())
        }
        StoreError::AttemptTrashed { artifact, .. } => {
            Failure::new(ErrorCode::Conflict, err.to_string())
                .suggest(format!(
                    "restore it with `od artifacts restore {artifact}`, or use a new attemptId"
                ))
                .detail("artifactId", artifact.as_str())
        }
        StoreError::RevisionConflict { expected, actual, .. } => {
            Failure::new(ErrorCode::RevisionConflict, err.to_string())
                .suggest("read the artifact again and base the change on its present revision")
                .detail("expectedRevision", expected.get())
                .detail("actualRevision", actual.get())
        }
        StoreError::NotHealthy { artifact, health } => not_healthy(artifact, *health),
        StoreError::RefreshLocked { running, .. } => {
            let failure = Failure::new(ErrorCode::RefreshLocked, err.to_string())
                .suggest("wait until the running refresh ends, or cancel it");
            match running {
                Some(refresh) => failure.detail("refreshId", refresh.as_str()),
                None => failure,
            }
        }
        StoreError::RefreshClosed { refresh, .. } => {
            Failure::new(ErrorCode::RefreshAbandoned, err.to_string())
                .suggest("start a new refresh")
                .detail("refreshId", refresh.as_str())
        }
        StoreError::Busy { .. } => {
            Failure::new(ErrorCode::LiveArtifactStorageFailed, err.to_string()).suggest(
                "another process holds the artifact; try again, or look for a stopped `od`",
            )
        }
        StoreError::ForeignWitness => Failure::new(ErrorCode::Internal, err.to_string()),
        StoreError::Io { .. } => {
            Failure::new(ErrorCode::LiveArtifactStorageFailed, err.to_string())
                .suggest("check free space and permissions of the data directory, then try again")
        }
    }
}

/// Says that there is no such artifact.
pub(crate) fn not_found(artifact: &ArtifactId) -> Failure {
    Failure::new(ErrorCode::LiveArtifactNotFound, format!("no artifact `{artifact}` here"))
        .suggest("list the artifacts of the project")
        .detail("artifactId", artifact.as_str())
}

/// Says that an artifact may not be written, and what makes it writable.
pub(crate) fn not_healthy(artifact: &ArtifactId, health: Health) -> Failure {
    let reason = health.reason.map_or("", |reason| reason.as_str());
    let message = format!("artifact `{artifact}` is not healthy: {} ({reason})", health.state);
    let suggestion = match health.state {
        HealthState::UnknownVersion => {
            "a newer `od` wrote it; use that version, this one only reads it".to_owned()
        }
        HealthState::Healthy | HealthState::CorruptTail | HealthState::CorruptHead => {
            format!("run `od artifacts repair {artifact}`: it says what it keeps and drops")
        }
    };
    Failure::new(ErrorCode::LiveArtifactNotHealthy, message)
        .suggest(suggestion)
        .detail("artifactId", artifact.as_str())
        .detail("health", serde_json::to_value(health).unwrap_or_default())
}
