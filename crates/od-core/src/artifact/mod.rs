//! Live artifacts: what is stored, what may be sent in, and every rule between the two.

mod check;
mod create;
mod document;
mod heading;
mod health;
mod mapping;
mod page;
mod provenance;
mod record;
mod source;
mod status;
mod update;

pub use crate::input::{DAEMON_OWNED, Patch};
pub use check::{check_data, check_provenance, check_state, check_targets};
pub use create::{CreateInput, CreateRequest, UpdateInput};
pub use document::{
    DataFile, Document, DocumentFormat, DocumentInput, DocumentPatch, FixedNames,
    GeneratedPreviewPath, ReadableParts, TemplatePath,
};
pub use heading::{Heading, HeadingPatch};
pub use health::{Health, HealthReason, HealthState};
pub use mapping::{DataPath, OutputMapping};
pub use page::{PageRefused, check_page, default_template, render_page, render_stored};
pub use provenance::{
    GeneratedBy, Provenance, ProvenanceInput, ProvenanceSource, ProvenanceSourceType, origin_of,
    provenance_of, source_label,
};
pub use record::{Artifact, ArtifactState, ArtifactSummary, Attempt, Author, Digests, FileDigests};
pub use source::{
    ApprovalPolicy, ConnectorRef, FILE_SELECTORS, RefreshPermission, Source, SourcePin, SourceType,
    Transform,
};
pub use status::{
    Preview, PreviewEntry, PreviewType, RefreshStatus, SchemaVersion, Status, UnknownSchemaVersion,
};
pub use update::{ToolUpdateRequest, UpdateRequest};
