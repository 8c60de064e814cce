//! Live artifacts: what is stored, what may be sent in, and every rule between the two.

mod change;
mod check;
mod create_input;
mod default_page;
mod document_input;
mod drawing;
mod health;
mod mapping_input;
mod origin;
mod provenance;
mod provenance_input;
mod readable;
mod record;
mod source;
mod source_input;
mod status;
mod target;
mod template_input;
mod update_input;

pub use crate::fields::DAEMON_OWNED;
pub use crate::shape::{CreateShape, ToolUpdateShape, UpdateShape, ValidateShape};
pub use change::{
    Birth, Changed, SourceChange, UpdateRefused, apply_update, new_artifact, source_change,
};
pub use check::{check_data, check_provenance, check_state, check_targets};
pub use create_input::{CreateInput, CreateRequest};
pub use default_page::default_template;
pub use document_input::{DocumentInput, DocumentPatch, Patch};
pub use drawing::{compile, draw};
pub use health::{Health, HealthReason, HealthState};
pub use origin::{Told, origin_of, provenance_of, source_label};
pub use provenance::{GeneratedBy, Provenance, ProvenanceSource, ProvenanceSourceType};
pub use provenance_input::ProvenanceInput;
pub use readable::Readable;
pub use record::{
    Artifact, ArtifactState, ArtifactSummary, Attempt, Author, DataFile, Digests, Document,
    DocumentFormat, FileDigests, GeneratedPreviewPath, Heading, TemplatePath,
};
pub use source::{
    ApprovalPolicy, ConnectorRef, DataPath, OutputMapping, RefreshPermission, Source, SourcePin,
    SourceType, Transform,
};
pub use source_input::FILE_SELECTORS;
pub use status::{
    Preview, PreviewEntry, PreviewType, RefreshStatus, SchemaVersion, Status, UnknownSchemaVersion,
};
pub use update_input::{HeadingPatch, UpdateInput, UpdateRequest};
