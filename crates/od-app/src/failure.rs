//! The neutral form of what the ports refuse, and of the refusals that several use cases share.
//!
//! A use case's own error becomes a [`Failure`] beside its enum; what it only passes on becomes one
//! here, so that a refusal of the store reads the same whoever met it.

use od_core::artifact::{Health, HealthState};
use od_core::error::{ErrorCode, Failure, Retry};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision};
use od_ports::access::credential_vault::VaultError;
use od_ports::access::signer_keys::SignersError;
use od_ports::project_registry::ProjectError;
use od_ports::service_registry::RegistryError;
use od_ports::store::{Outcome, StoreError};
use od_ports::webhooks::WebhooksError;

const CHECK_DISK: &str = "check free space and permissions of the data directory, then try again";

const CHECK_STORE: &str = "nothing was changed; try again, and look with `od store status`";
const READ_FIRST: &str =
    "the answer of the database was lost: read the artifact again before you repeat the change";

/// Suggests where to register a project whose directory lies outside the data directory's reach.
pub(crate) const SUGGEST_OTHER_DATA_DIR: &str =
    "register it in another data directory: OD_DATA_DIR=~/.open-design/data od init DIR";

/// Turns an error of the artifact store into a failure.
pub(crate) fn store(err: StoreError) -> Failure {
    let message = err.to_string();
    match err {
        StoreError::ProjectNotFound { project } => unknown_project(&project),
        StoreError::NotFound { artifact, .. } => unknown_artifact(&artifact),
        StoreError::NotInTrash { artifact, .. } => {
            Failure::new(ErrorCode::LiveArtifactNotFound, message)
                .suggest("deleted artifacts are kept for 7 days; this one is not among them")
                .detail("artifactId", artifact.as_str())
        }
        StoreError::SnapshotNotFound { .. } => {
            Failure::new(ErrorCode::NotFound, message).suggest("list the snapshots of the artifact")
        }
        StoreError::RevisionNotFound { artifact, .. } => Failure::new(ErrorCode::NotFound, message)
            .suggest(format!("`od artifacts revisions {artifact}` lists those that are kept"))
            .detail("artifactId", artifact.as_str()),
        StoreError::RevisionDamaged { artifact, revision, .. } => Failure::new(
            ErrorCode::LiveArtifactNotHealthy,
            message,
        )
        .suggest(format!(
            "choose another revision; `od artifacts verify {artifact}` lists what is damaged"
        ))
        .detail("artifactId", artifact.as_str())
        .detail("revision", revision.get()),
        StoreError::Exists { artifact } => id_taken(&artifact),
        StoreError::AttemptConflict { artifact, .. } => Failure::new(ErrorCode::Conflict, message)
            .suggest("use a new attemptId for another request")
            .detail("artifactId", artifact.as_str()),
        StoreError::AttemptTrashed { artifact, .. } => Failure::new(ErrorCode::Conflict, message)
            .suggest(format!(
                "restore it with `od artifacts restore {artifact}`, or use a new attemptId"
            ))
            .detail("artifactId", artifact.as_str()),
        StoreError::RevisionConflict { artifact, expected, actual } => {
            revision_conflict(&artifact, expected, actual)
        }
        StoreError::NotHealthy { artifact, health } => not_healthy(&artifact, health),
        StoreError::RefreshLocked { artifact, running } => {
            refresh_locked(&artifact, running.as_ref())
        }
        StoreError::RefreshOvertaken { artifact, newest } => {
            let failure = Failure::new(ErrorCode::Conflict, message)
                .suggest("nothing to do: somebody else ran it")
                .detail("artifactId", artifact.as_str());
            match newest {
                Some(newest) => failure.detail("refreshId", newest.as_str()),
                None => failure,
            }
        }
        StoreError::RefreshClosed { refresh, .. } => {
            Failure::new(ErrorCode::RefreshAbandoned, message)
                .suggest("start a new refresh")
                .detail("refreshId", refresh.as_str())
        }
        StoreError::Busy { .. } => Failure::new(ErrorCode::StoreUnavailable, message)
            .suggest("another process holds the artifact; try again, or look for a stopped `od`"),
        StoreError::ForeignWitness => Failure::new(ErrorCode::Internal, message),
        StoreError::Unavailable { outcome, .. } => {
            let failure = Failure::new(ErrorCode::StoreUnavailable, message);
            match outcome {
                Outcome::NotDone => failure.suggest(CHECK_STORE),
                Outcome::Unknown => failure.suggest(READ_FIRST).detail("outcome", "unknown"),
            }
        }
        StoreError::Io { .. } => {
            Failure::new(ErrorCode::LiveArtifactStorageFailed, message).suggest(CHECK_DISK)
        }
    }
}

/// Turns an error of the registry of services into a failure.
pub(crate) fn service_registry(err: &RegistryError) -> Failure {
    let message = err.to_string();
    match err {
        RegistryError::Full => Failure::new(ErrorCode::Conflict, message)
            .suggest("remove one that nothing reads any more: `od sources remove NAME`"),
        RegistryError::Damaged { .. } | RegistryError::Unavailable { .. } => {
            Failure::new(ErrorCode::Internal, message)
                .suggest("look at connectors/services.json in OD_HOME; `od doctor` checks the home")
        }
    }
}

/// Turns an error of the registry of webhooks into a failure.
pub(crate) fn webhooks(err: &WebhooksError) -> Failure {
    let message = err.to_string();
    match err {
        WebhooksError::Full => Failure::new(ErrorCode::Conflict, message)
            .suggest("remove one that nobody listens at any more: `od webhooks remove NAME`"),
        WebhooksError::Damaged { .. } | WebhooksError::Unavailable { .. } => {
            Failure::new(ErrorCode::Internal, message)
                .suggest("look at connectors/webhooks.json in OD_HOME; `od doctor` checks the home")
        }
    }
}

/// Turns an error of the project registry into a failure.
pub(crate) fn registry(err: ProjectError) -> Failure {
    let message = err.to_string();
    match err {
        ProjectError::Exists { project } => Failure::new(ErrorCode::Conflict, message)
            .suggest("choose another id, or use the project that is there")
            .detail("projectId", project.as_str()),
        ProjectError::NotFound { project } => unknown_project(&project),
        ProjectError::Damaged { .. } => Failure::new(ErrorCode::LiveArtifactStorageFailed, message)
            .suggest("mend or remove the project's project.json"),
        ProjectError::RootOutside { .. } => {
            Failure::new(ErrorCode::BadRequest, message).suggest(SUGGEST_OTHER_DATA_DIR)
        }
        ProjectError::Unavailable { .. } => {
            Failure::new(ErrorCode::StoreUnavailable, message).suggest(CHECK_STORE)
        }
        ProjectError::Io { .. } => {
            Failure::new(ErrorCode::LiveArtifactStorageFailed, message).suggest(CHECK_DISK)
        }
    }
}

/// Turns an error of the vault into a failure. It names files of the home, never their content.
pub(crate) fn vault(err: &VaultError) -> Failure {
    let failure = Failure::new(ErrorCode::ConnectorExecutionFailed, err.to_string());
    match err {
        VaultError::NotPrivate { .. } => failure
            .retry(Retry::NotRetryable)
            .suggest("make the files in `connectors` of the home readable by their owner only"),
        VaultError::Damaged { .. } => failure.retry(Retry::NotRetryable).suggest(
            "remove `connectors/credentials.enc` from the home and connect the connectors again",
        ),
        VaultError::Unavailable { .. } => failure.suggest("check the disk, then try again"),
    }
}

/// Turns an error of the keeper of signers into a failure. It names files of the home, never their content.
pub(crate) fn signers(err: &SignersError) -> Failure {
    let failure = Failure::new(ErrorCode::StoreUnavailable, err.to_string());
    match err {
        SignersError::Damaged { .. } => failure
            .retry(Retry::NotRetryable)
            .suggest("move `keys/bundle.key` or `keys/signers.json` of the home away"),
        SignersError::Full => failure
            .retry(Retry::NotRetryable)
            .suggest("move `keys/signers.json` of the home away: signers are then met anew"),
        SignersError::Unavailable { .. } => failure.suggest("check the disk, then try again"),
    }
}

/// Refuses a project that is not there, or that the caller may not see.
pub(crate) fn unknown_project(project: &ProjectId) -> Failure {
    Failure::new(ErrorCode::ProjectNotFound, format!("no project `{project}`"))
        .suggest("list the projects, or make one with `od init`")
        .detail("projectId", project.as_str())
}

/// Refuses an artifact that is not there, or that the caller may not see.
pub(crate) fn unknown_artifact(artifact: &ArtifactId) -> Failure {
    Failure::new(ErrorCode::LiveArtifactNotFound, format!("no artifact `{artifact}` here"))
        .suggest("list the artifacts of the project")
        .detail("artifactId", artifact.as_str())
}

/// Refuses a connector that no provider answers for; the message names it.
pub(crate) fn unknown_connector(message: String) -> Failure {
    Failure::new(ErrorCode::ConnectorNotFound, message)
        .suggest("list the connectors with `od connectors list`")
}

/// Refuses to put an artifact where one of its id is.
pub(crate) fn id_taken(artifact: &ArtifactId) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("artifact `{artifact}` exists already"))
        .suggest("an artifact of this id is there; delete it first or leave it")
}

/// Refuses a change that was based on another revision than the present one.
pub(crate) fn revision_conflict(
    artifact: &ArtifactId,
    expected: Revision,
    actual: Revision,
) -> Failure {
    let message = format!("artifact `{artifact}` is at revision {actual}, not {expected}");
    Failure::new(ErrorCode::RevisionConflict, message)
        .suggest("read the artifact again and base the change on its present revision")
        .detail("expectedRevision", expected.get())
        .detail("actualRevision", actual.get())
}

/// Refuses a refresh while another one of the artifact runs.
pub(crate) fn refresh_locked(artifact: &ArtifactId, running: Option<&RefreshId>) -> Failure {
    let message = format!("artifact `{artifact}` is being refreshed");
    let failure = Failure::new(ErrorCode::RefreshLocked, message)
        .suggest("wait until the running refresh ends, or cancel it");
    match running {
        Some(refresh) => failure.detail("refreshId", refresh.as_str()),
        None => failure,
    }
}

/// Refuses to write an artifact that is damaged or newer than this program, and says what helps.
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
