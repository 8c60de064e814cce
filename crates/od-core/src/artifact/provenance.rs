//! Where the data of an artifact came from.

use crate::ids::Timestamp;
use crate::json::Map;
use crate::words::words;

words! {
    /// Who made the data.
    GeneratedBy {
        /// An agent, when it created or changed the artifact.
        Agent = "agent",
        /// The daemon, when it refreshed it.
        RefreshRunner = "refresh_runner",
    }
}

words! {
    /// What kind of origin it is.
    ProvenanceSourceType {
        /// A connector.
        Connector = "connector",
        /// A file of the project.
        LocalFile = "local_file",
        /// What the person said.
        UserInput = "user_input",
        /// Computed from other origins.
        Derived = "derived",
    }
}

/// Where the data came from: `provenance.json`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// When the data was made.
    pub generated_at: Timestamp,
    /// Who made it.
    pub generated_by: GeneratedBy,
    /// What the agent wants a reader to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub notes: Option<String>,
    /// The origins.
    #[schemars(length(max = 50))]
    pub sources: Vec<ProvenanceSource>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

/// One origin.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ProvenanceSource {
    /// What a reader should call it.
    #[schemars(length(min = 1, max = 1024))]
    pub label: String,
    /// What kind of origin it is.
    #[serde(rename = "type")]
    pub kind: ProvenanceSourceType,
    /// Which one: a tool, a file, an address without credentials.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reference: Option<String>,
    /// The account it was read with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
}
