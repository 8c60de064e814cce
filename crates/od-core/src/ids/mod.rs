//! Names and small values, checked once where they enter.
//!
//! Whoever holds one of these never checks it again. Ids are also file names: their alphabet is the
//! defence against path traversal.

mod digest;
mod mapping_path;
mod part_id;
mod refresh_id;
mod rel_path;
mod revision;
mod slug;
mod text_id;
mod timestamp;

pub use digest::Digest;
pub use mapping_path::{MappingPath, Segment};
pub use part_id::{CheckId, SourceId};
pub use refresh_id::RefreshId;
pub use rel_path::RelPath;
pub use revision::Revision;
pub use slug::Slug;
pub use text_id::{
    AgentName, AgentSessionId, ArtifactId, AttemptId, Audience, ConnectorId, ConsoleSessionId,
    ID_PATTERN, InstanceId, ParseIdError, ProjectId, RunId, SessionId, TokenId, ToolName,
};
pub(crate) use text_id::{hex, string_newtype};
pub use timestamp::Timestamp;
