//! Whether an artifact's files are sound.

use crate::words::words;

words! {
    /// How sound an artifact is. Only `healthy` may be written.
    HealthState {
        /// Everything fits.
        Healthy = "healthy",
        /// The current state fits; what follows it, the history or an unfinished commit, does not.
        CorruptTail = "corrupt_tail",
        /// The current state does not fit; the last good preview is served.
        CorruptHead = "corrupt_head",
        /// A newer daemon wrote it.
        UnknownVersion = "unknown_version",
    }
}

words! {
    /// Why an artifact is not healthy.
    HealthReason {
        /// `artifact.json` is missing or cannot be read.
        PointerUnreadable = "pointer_unreadable",
        /// `artifact.json` is not a valid artifact.
        PointerInvalid = "pointer_invalid",
        /// The schema version is not known.
        SchemaVersionUnknown = "schema_version_unknown",
        /// A file the pointer names is missing.
        FileMissing = "file_missing",
        /// A file the pointer names cannot be read.
        FileUnreadable = "file_unreadable",
        /// A pending commit cannot be read.
        PendingUnreadable = "pending_unreadable",
        /// An edited `template.html` is not a valid template.
        TemplateInvalid = "template_invalid",
        /// An edited `data.json` breaks the limits, the schema, or the template.
        DataInvalid = "data_invalid",
        /// An edited `provenance.json` is not valid.
        ProvenanceInvalid = "provenance_invalid",
        /// A record of the history does not follow from the one before it.
        AuditChainBroken = "audit_chain_broken",
        /// A record of the history cannot be read.
        AuditUnreadable = "audit_unreadable",
        /// The history says less than the pointer, or more.
        AuditContradictsPointer = "audit_contradicts_pointer",
        /// A stored snapshot cannot be read.
        SnapshotUnreadable = "snapshot_unreadable",
        /// Something that od did not write stands where od has to write.
        Obstructed = "obstructed",
        /// A commit could not be finished; it is served, and nothing more is written until it is.
        RecoveryFailed = "recovery_failed",
    }
}

/// How sound an artifact is, and why if it is not.
#[derive(
    Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// How sound it is.
    pub state: HealthState,
    /// Why it is not healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<HealthReason>,
}

impl Health {
    /// The health of an artifact where everything fits.
    pub const HEALTHY: Self = Self { state: HealthState::Healthy, reason: None };

    /// Makes the health of an artifact that is not sound.
    #[must_use]
    pub const fn unsound(state: HealthState, reason: HealthReason) -> Self {
        Self { state, reason: Some(reason) }
    }

    /// Returns whether the artifact may be written.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.state == HealthState::Healthy
    }
}
