//! Refusals and failures of the store.

use std::io;

use od_core::artifact::Health;
use od_core::ids::{ArtifactId, AttemptId, ProjectId, RefreshId, Revision};
use od_core::ledger::{Part, RefreshClosed, RefreshOvertaken, RevisionConflict};

/// A refusal or failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such project.
    #[error("no project `{project}`")]
    ProjectNotFound {
        /// The id asked for.
        project: ProjectId,
    },
    /// There is no such artifact in the project.
    #[error("no artifact `{artifact}` in project `{project}`")]
    NotFound {
        /// The project.
        project: ProjectId,
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// There is no such artifact in the trash.
    #[error("no artifact `{artifact}` in the trash of project `{project}`")]
    NotInTrash {
        /// The project.
        project: ProjectId,
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// There is no such snapshot.
    #[error("artifact `{artifact}` has no snapshot `{refresh}`")]
    SnapshotNotFound {
        /// The artifact.
        artifact: ArtifactId,
        /// The refresh asked for.
        refresh: RefreshId,
    },
    /// There is no such revision, or its contents are no longer kept.
    #[error("artifact `{artifact}` has no revision {revision} that is kept")]
    RevisionNotFound {
        /// The artifact.
        artifact: ArtifactId,
        /// The revision asked for.
        revision: Revision,
    },
    /// A content of the revision is damaged. Revisions that do not name it are not affected.
    #[error(
        "revision {revision} of artifact `{artifact}` is damaged: its {part} cannot be read back"
    )]
    RevisionDamaged {
        /// The artifact.
        artifact: ArtifactId,
        /// The revision asked for.
        revision: Revision,
        /// The content that is damaged or gone.
        part: Part,
    },
    /// The id is taken.
    #[error("artifact `{artifact}` exists already")]
    Exists {
        /// The id.
        artifact: ArtifactId,
    },
    /// The attempt was made before, for something else.
    #[error("attempt `{attempt}` made artifact `{artifact}` from another request")]
    AttemptConflict {
        /// The caller's name for it.
        attempt: AttemptId,
        /// The artifact it made.
        artifact: ArtifactId,
    },
    /// The attempt was made before, and what it made is in the trash.
    #[error("attempt `{attempt}` made artifact `{artifact}`, which is in the trash")]
    AttemptTrashed {
        /// The caller's name for it.
        attempt: AttemptId,
        /// The artifact it made.
        artifact: ArtifactId,
    },
    /// Someone else committed first.
    #[error("artifact `{artifact}` is at revision {actual}, not {expected}")]
    RevisionConflict {
        /// The artifact.
        artifact: ArtifactId,
        /// The revision the change was made for.
        expected: Revision,
        /// The one on disk.
        actual: Revision,
    },
    /// The artifact is damaged, or newer than this program; it can be read, not written.
    #[error("artifact `{artifact}` is not healthy: {}", describe(health))]
    NotHealthy {
        /// The artifact.
        artifact: ArtifactId,
        /// The fault.
        health: Health,
    },
    /// Another refresh of the artifact runs.
    #[error("artifact `{artifact}` is being refreshed")]
    RefreshLocked {
        /// The artifact.
        artifact: ArtifactId,
        /// The refresh that runs, if the log says.
        running: Option<RefreshId>,
    },
    /// Another refresh has begun since the log was read that a slot was worked out from: nothing begins.
    #[error("another refresh of artifact `{artifact}` has begun meanwhile")]
    RefreshOvertaken {
        /// The artifact.
        artifact: ArtifactId,
        /// The newest refresh.
        newest: Option<RefreshId>,
    },
    /// The refresh was closed by someone else, or a newer one exists: it may not write any more.
    #[error("refresh `{refresh}` of artifact `{artifact}` is closed")]
    RefreshClosed {
        /// The artifact.
        artifact: ArtifactId,
        /// The refresh.
        refresh: RefreshId,
    },
    /// Another process holds the lock for longer than a commit takes.
    #[error("artifact `{artifact}` was locked by another process for {waited_ms} ms")]
    Busy {
        /// The artifact.
        artifact: ArtifactId,
        /// The time waited.
        waited_ms: u64,
    },
    /// The witness belongs to another store.
    #[error("the write witness was made by another store")]
    ForeignWitness,
    /// A shared store cannot be reached, or did not answer in time.
    #[error("the shared store cannot be used: {reason}")]
    Unavailable {
        /// The fault, in words without data.
        reason: String,
        /// What is known of the change that was asked for.
        outcome: Outcome,
    },
    /// The disk refused. Nothing was acknowledged, and what was committed before still is.
    #[error("could not {action}: {source}")]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl StoreError {
    /// Returns the refusal for a revision conflict of an artifact.
    pub fn revision_conflict(artifact: &ArtifactId, conflict: RevisionConflict) -> Self {
        let RevisionConflict { expected, actual } = conflict;
        Self::RevisionConflict { artifact: artifact.clone(), expected, actual }
    }

    /// Returns the refusal for a refresh that may not write any more.
    pub fn refresh_closed(artifact: &ArtifactId, closed: RefreshClosed) -> Self {
        Self::RefreshClosed { artifact: artifact.clone(), refresh: closed.refresh }
    }

    /// Returns the refusal for a refresh whose slot was worked out from an older log.
    pub fn refresh_overtaken(artifact: &ArtifactId, overtaken: RefreshOvertaken) -> Self {
        Self::RefreshOvertaken { artifact: artifact.clone(), newest: overtaken.newest }
    }

    /// Returns the error of the system behind it, if there is one.
    pub const fn system_error(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::ProjectNotFound { .. }
            | Self::NotFound { .. }
            | Self::NotInTrash { .. }
            | Self::SnapshotNotFound { .. }
            | Self::RevisionNotFound { .. }
            | Self::RevisionDamaged { .. }
            | Self::Exists { .. }
            | Self::AttemptConflict { .. }
            | Self::AttemptTrashed { .. }
            | Self::RevisionConflict { .. }
            | Self::NotHealthy { .. }
            | Self::RefreshLocked { .. }
            | Self::RefreshOvertaken { .. }
            | Self::RefreshClosed { .. }
            | Self::Busy { .. }
            | Self::ForeignWitness
            | Self::Unavailable { .. } => None,
        }
    }
}

/// What is known of a change that a store was asked for and did not acknowledge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Nothing was changed.
    NotDone,
    /// The answer was lost, and the store could not be asked again in time.
    Unknown,
}

/// Puts a health in words.
fn describe(health: &Health) -> String {
    match health.reason {
        Some(reason) => format!("{} ({reason})", health.state),
        None => health.state.to_string(),
    }
}
