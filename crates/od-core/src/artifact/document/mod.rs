//! The document of an artifact: its data's source, the mapping of the source's output, and the
//! fields that clients send.

#[expect(clippy::module_inception, reason = "the module's one noun")]
mod document;
mod mapping;
mod source;
mod sources;

pub use document::{
    DataFile, Document, DocumentFormat, DocumentInput, DocumentPatch, FixedNames,
    GeneratedPreviewPath, ReadableParts, TemplatePath,
};
pub(crate) use mapping::Target;
pub use mapping::{DataPath, OutputMapping};
pub use source::{
    ApprovalPolicy, ConnectorRef, FILE_SELECTORS, RefreshPermission, Source, SourcePin, SourceType,
    Transform,
};
pub use sources::{NamedSource, OnFailure, Pins, SourceRef, StaleSource};
pub(super) use sources::{blocked_targets, design_issues};
