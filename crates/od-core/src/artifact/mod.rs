//! Live artifacts: what is stored, what may be sent in, and every rule between the two.
//!
//! ```
//! use od_core::artifact::CreateRequest;
//! use od_core::json::parse_message;
//!
//! let body = br#"{ "input": { "titel": "T", "document": { "dataJson": { "n": 1 } } } }"#;
//! let issues = CreateRequest::parse(&parse_message(body).unwrap()).unwrap_err();
//! assert_eq!(issues[0].path, "/input/titel");
//! ```

mod check;
mod create;
mod default_page;
mod digests;
mod document;
mod freshness;
mod heading;
mod health;
/// Lists of artifacts: a page of one, and how many there are.
mod listing {
    mod page;
    mod tally;

    pub use page::{
        CompactPage, ListCursor, ListPage, ListQuery, ListRow, PageRows, SearchText, Shown,
    };
    pub use tally::ListTally;
}
mod outline;
mod page;
mod provenance;
mod record;
mod status;
mod update;

pub use crate::input::{DAEMON_OWNED, Patch};
pub use check::{check_data, check_design, check_provenance, check_state, check_targets};
pub use create::{CreateInput, CreateRequest, UpdateInput};
pub use default_page::default_template;
pub use digests::{Digests, FileDigests};
pub(crate) use document::Target;
pub use document::{
    ApprovalPolicy, ConnectorRef, DataFile, DataPath, Document, DocumentFormat, DocumentInput,
    DocumentPatch, FILE_SELECTORS, FixedNames, GeneratedPreviewPath, NamedSource, OnFailure,
    OutputMapping, Pins, ReadableParts, RefreshPermission, Source, SourcePin, SourceRef,
    SourceType, StaleSource, TemplatePath, Transform,
};
pub use freshness::Freshness;
pub use heading::{Heading, HeadingPatch};
pub use health::{Health, HealthReason, HealthState};
pub use listing::{
    CompactPage, ListCursor, ListPage, ListQuery, ListRow, ListTally, PageRows, SearchText, Shown,
};
pub use outline::{DataView, NoValue};
pub use page::{PageRefused, PageSettings, check_page, page_grammar, render_page, render_stored};
pub use provenance::{
    GeneratedBy, Provenance, ProvenanceInput, ProvenanceSource, ProvenanceSourceType, origin_of,
    provenance_of, source_call, source_label,
};
pub use record::{Artifact, ArtifactState, ArtifactSummary, Attempt, Author, Restored};
pub use status::{
    Preview, PreviewEntry, PreviewType, RefreshStatus, SchemaVersion, Status, UnknownSchemaVersion,
};
pub use update::{ToolUpdateRequest, UpdateRequest};
