//! Connectors and their tools, as the catalog lists them.

use super::{RegisteredService, ToolSafety};
use crate::ids::{ConnectorId, ToolName};
use crate::json::Value;
use crate::words::words;

words! {
    /// What a connector is about.
    Category {
        /// Source code and its hosting.
        Code = "code",
        /// Written documents.
        Docs = "docs",
        /// Files.
        Files = "files",
        /// Numbers and events.
        Analytics = "analytics",
        /// Anything else.
        Custom = "custom",
    }
}

words! {
    /// Whether a connector can be used.
    ConnectorStatus {
        /// It could be connected.
        Available = "available",
        /// It is connected.
        Connected = "connected",
        /// It was connected and fails.
        Error = "error",
        /// It is switched off.
        Disabled = "disabled",
    }
}

words! {
    /// The least approval any tool of a connector needs.
    MinimumApproval {
        /// Read-only tools run without asking.
        ReadOnlyAuto = "read_only_auto",
        /// Writing tools need a person's word.
        ConfirmWrite = "confirm_write",
        /// No tool runs.
        Disabled = "disabled",
    }
}

words! {
    /// Why a tool is executed.
    Purpose {
        /// An agent looks at the data.
        AgentPreview = "agent_preview",
        /// A refresh runs its source.
        ArtifactRefresh = "artifact_refresh",
    }
}

/// One connector of the catalog, with its connection's state.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Connector {
    /// The connector.
    pub id: ConnectorId,
    /// What a person calls it.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
    /// Who provides it.
    #[schemars(length(min = 1, max = 200))]
    pub provider: String,
    /// What it is about.
    pub category: Category,
    /// What it is for, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Whether it can be used.
    pub status: ConnectorStatus,
    /// The account it is connected to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
    /// Why it fails, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub last_error: Option<String>,
    /// Its tools.
    #[schemars(length(max = 100))]
    pub tools: Vec<Tool>,
    /// The tools that may run.
    #[schemars(length(max = 100))]
    pub allowed_tool_names: Vec<ToolName>,
    /// The tools shown first.
    #[schemars(length(max = 100))]
    pub featured_tool_names: Vec<ToolName>,
    /// The least approval any of its tools needs.
    pub minimum_approval: MinimumApproval,
    /// How it is connected.
    pub auth: ConnectorAuth,
    /// The registered services that its tools may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub services: Vec<RegisteredService>,
}

/// How a connector is connected.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorAuth {
    /// What kind of secret it takes, such as `none` or `token`.
    #[schemars(length(min = 1, max = 200))]
    pub provider: String,
    /// Whether it has what it needs.
    pub configured: bool,
}

/// One tool of a connector.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The tool, qualified.
    pub name: ToolName,
    /// What a person calls it.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// What it does, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// What its input must look like, in the documented subset of JSON Schema.
    pub input_schema: Value,
    /// Earlier input schemas that this one only widened: a source pinned to one of them has not drifted.
    #[serde(skip)]
    pub former_input_schemas: Vec<Value>,
    /// The permissions it needs where it needs any, in the provider's own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), inner(length(max = 200)))]
    pub scopes: Vec<String>,
    /// How safe it is.
    pub safety: ToolSafety,
    /// Whether it may be the source of a refresh.
    pub refresh_eligible: bool,
}
