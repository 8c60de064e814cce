//! The closed words of an artifact.

use std::fmt;

use crate::input::{input, one_of};
use crate::words::words;

words! {
    /// Whether an artifact is in use.
    Status {
        /// In use.
        Active = "active",
        /// Put away by a person or an agent.
        Archived = "archived",
        /// Marked by the daemon.
        Error = "error",
    }
}

words! {
    /// How the last refresh of an artifact went.
    RefreshStatus {
        /// Written by older daemons for artifacts never refreshed.
        Never = "never",
        /// No refresh has run yet, or none is running.
        Idle = "idle",
        /// A refresh is running.
        Running = "running",
        /// The last refresh succeeded.
        Succeeded = "succeeded",
        /// The last refresh failed; the data before it is kept.
        Failed = "failed",
    }
}

words! {
    /// What a preview is made of.
    PreviewType {
        /// A rendered HTML page, the one type `html_template_v1` has.
        Html = "html",
    }
}

input! {
    /// How an artifact is shown.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct Preview "how it is shown; may be left out, for it has one value" {
        /// The type of the preview.
        #[serde(rename = "type")]
        default(PreviewType::Html) kind: PreviewType
            = "type", one_of(PreviewType::ALL), "a rendered page";
        /// The file that is shown.
        default(PreviewEntry::IndexHtml) entry: PreviewEntry
            = "entry", one_of(PreviewEntry::ALL), "the rendered page";
    }
}

words! {
    /// The file a preview shows.
    PreviewEntry {
        /// The rendered page.
        IndexHtml = "index.html",
    }
}

impl Preview {
    /// Returns the preview of every `html_template_v1` artifact.
    #[must_use]
    pub const fn html() -> Self {
        Self { kind: PreviewType::Html, entry: PreviewEntry::IndexHtml }
    }
}

/// The version of the stored shape; one that is not known is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct SchemaVersion(u64);

impl SchemaVersion {
    /// At most one source, and no query.
    pub const FIRST: Self = Self(1);
    /// The newest version that this build reads and writes: several sources, and queries. An artifact
    /// that uses neither is written in the first, so that older builds go on reading it.
    pub const NEWEST: Self = Self(2);
}

impl schemars::JsonSchema for SchemaVersion {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaVersion".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "integer",
            "minimum": 1,
            "maximum": Self::NEWEST.0,
            "description": "the version of the stored shape",
        })
    }
}

impl TryFrom<u64> for SchemaVersion {
    type Error = UnknownSchemaVersion;
    fn try_from(version: u64) -> Result<Self, UnknownSchemaVersion> {
        if (Self::FIRST.0..=Self::NEWEST.0).contains(&version) {
            Ok(Self(version))
        } else {
            Err(UnknownSchemaVersion { version })
        }
    }
}

impl From<SchemaVersion> for u64 {
    fn from(version: SchemaVersion) -> Self {
        version.0
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The stored shape has a version this build does not know.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("schema version {version} is not known; this build reads versions 1 and 2")]
pub struct UnknownSchemaVersion {
    /// The version found.
    pub version: u64,
}
