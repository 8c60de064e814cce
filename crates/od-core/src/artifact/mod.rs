//! Live artifacts: what is stored, what may be sent in, and every rule between the two.

mod change;
mod create_input;
mod document_input;
mod health;
mod mapping_input;
mod provenance;
mod provenance_input;
mod record;
mod source;
mod source_input;
mod status;
mod template_input;
mod update_input;

pub use crate::fields::DAEMON_OWNED;
pub use crate::shape::{CreateShape, ToolUpdateShape, UpdateShape};
pub use change::{Birth, Changed, apply_update, check_data, new_artifact};
pub use create_input::{CreateInput, CreateRequest};
pub use document_input::{DocumentInput, DocumentPatch, Patch};
pub use health::{Health, HealthReason, HealthState};
pub use provenance::{GeneratedBy, Provenance, ProvenanceSource, ProvenanceSourceType};
pub use provenance_input::ProvenanceInput;
pub use record::{
    Artifact, ArtifactState, ArtifactSummary, Attempt, Author, DataFile, Digests, Document,
    DocumentFormat, FileDigests, GeneratedPreviewPath, TemplatePath,
};
pub use source::{
    ApprovalPolicy, ConnectorRef, DataPath, OutputMapping, RefreshPermission, Source, SourcePin,
    SourceType, Transform,
};
pub use source_input::FILE_SELECTORS;
pub use status::{
    Preview, PreviewEntry, PreviewType, RefreshStatus, SchemaVersion, Status, UnknownSchemaVersion,
};
pub use update_input::{UpdateInput, UpdateRequest};
