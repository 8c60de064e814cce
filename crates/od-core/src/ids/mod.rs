//! Names and small values, checked once where they enter.
//!
//! Whoever holds one of these never checks it again. Ids are also file names: their alphabet is the
//! defence against path traversal.
//!
//! ```
//! use od_core::ids::{ArtifactId, Slug, Timestamp};
//!
//! assert_eq!(Slug::from_title("Übersicht ✓").as_str(), "ubersicht");
//! assert!("../page".parse::<ArtifactId>().is_err());
//! assert_eq!(Timestamp::from_unix_ms(0).to_string(), "1970-01-01T00:00:00.000Z");
//! ```

#[cfg(feature = "artifacts")]
mod digest;
mod mapping_path;
mod part_id;
mod refresh_id;
mod rel_path;
mod revision;
mod slug;
mod text_id;
mod timestamp;

#[cfg(feature = "artifacts")]
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
