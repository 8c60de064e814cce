//! Connectors.

use od_core::connector::{Connector, ToolSafety};
use od_core::credential::Redactions;
use od_core::ids::{ConnectorId, ToolName};
use od_core::json::{BoundedJson, BoundedObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connects a connector.
#[derive(Clone, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectConnector {
    /// What the provider gave the person; kept in the vault, given back to nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub secret: Option<String>,
}

impl std::fmt::Debug for ConnectConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectConnector").finish_non_exhaustive()
    }
}

/// `{ connector }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ConnectorAnswer {
    /// The connector.
    pub connector: Connector,
}

/// `{ connectors }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ConnectorsAnswer {
    /// The connectors.
    #[schemars(length(max = 100))]
    pub connectors: Vec<Connector>,
}

/// What a tool gave, protected.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteAnswer {
    /// Always true; a failure is an error.
    pub ok: bool,
    /// The connector.
    pub connector_id: ConnectorId,
    /// The account it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
    /// The tool, qualified.
    pub tool_name: ToolName,
    /// How safe it was found to be.
    pub safety: ToolSafety,
    /// Its output without anything that looks like a credential; of a large one, its columns with their
    /// types, how many rows it has, and the first 20.
    pub output: BoundedJson,
    /// Whether the output is only the shape and the first rows of what the tool gave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What was left out of the output or replaced in it.
    #[serde(default, skip_serializing_if = "Redactions::is_empty")]
    pub redactions: Redactions,
    /// Its output in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub output_summary: Option<String>,
    /// The provider's name for the execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub provider_execution_id: Option<String>,
    /// What may be recorded about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BoundedObject>,
}
