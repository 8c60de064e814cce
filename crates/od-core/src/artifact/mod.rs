//! Live artifacts: what is stored, what may be sent in, and every rule between the two.

mod health;
mod provenance;
mod record;
mod source;
mod status;

pub use health::{Health, HealthReason, HealthState};
pub use provenance::{GeneratedBy, Provenance, ProvenanceSource, ProvenanceSourceType};
pub use record::{
    Artifact, ArtifactState, ArtifactSummary, Attempt, Author, DataFile, Digests, Document,
    DocumentFormat, FileDigests, GeneratedPreviewPath, TemplatePath,
};
pub use source::{
    ApprovalPolicy, ConnectorRef, DataPath, OutputMapping, RefreshPermission, Source, SourcePin,
    SourceType, Transform,
};
pub use status::{
    Preview, PreviewEntry, PreviewType, RefreshStatus, SchemaVersion, Status, UnknownSchemaVersion,
};
