//! Where refreshed data comes from.

use super::status::Status;
use super::{FILE_SELECTORS, Health, HealthState};
use crate::connector::ContractParts;
use crate::ids::{ConnectorId, Digest, MappingPath, ToolName};
use crate::json::{BoundedObject, Value};
use crate::words::words;

words! {
    /// What kind of source it is.
    SourceType {
        /// Reads JSON from a file of the project.
        LocalFile = "local_file",
        /// Runs one of the daemon's local tools.
        DaemonTool = "daemon_tool",
        /// Runs a tool of a connector.
        ConnectorTool = "connector_tool",
    }
}

words! {
    /// How a source's output becomes data.
    Transform {
        /// Takes the value as it is.
        Identity = "identity",
        /// Makes a small table of rows and scalar columns.
        CompactTable = "compact_table",
        /// Makes one metric: label, value, unit, delta, source.
        MetricSummary = "metric_summary",
    }
}

words! {
    /// Whether the source may be refreshed.
    RefreshPermission {
        /// It may not.
        None = "none",
        /// A person or the agent may start a read-only refresh.
        Manual = "manual_refresh_granted_for_read_only",
    }
}

words! {
    /// How a connector call of a source was approved.
    ApprovalPolicy {
        /// Read-only tools run without asking.
        ReadOnlyAuto = "read_only_auto",
        /// Read-only tools run when a refresh is started by hand.
        Manual = "manual_refresh_granted_for_read_only",
    }
}

/// A source as it is stored: `document.sourceJson`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// What kind of source it is.
    #[serde(rename = "type")]
    pub kind: SourceType,
    /// The tool that runs, qualified (`github.list_releases`); absent for a local file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    /// The input of the tool, or the file to read.
    #[serde(default)]
    pub input: BoundedObject,
    /// The connector the tool belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<ConnectorRef>,
    /// How the output becomes data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_mapping: Option<OutputMapping>,
    /// Whether the source may be refreshed.
    #[serde(default = "RefreshPermission::default_value")]
    pub refresh_permission: RefreshPermission,
}

impl Source {
    /// Returns whether an artifact that has this source may be refreshed: active, healthy, and
    /// permitted.
    #[must_use]
    pub fn may_refresh(&self, status: Status, health: &Health) -> bool {
        status == Status::Active
            && health.state == HealthState::Healthy
            && self.refresh_permission == RefreshPermission::Manual
    }

    /// Returns whether another source runs the same: whether it may run is no part of that.
    #[must_use]
    pub fn runs_as(&self, other: &Self) -> bool {
        let refresh_permission = self.refresh_permission;
        *self == Self { refresh_permission, ..other.clone() }
    }

    /// Returns the file the source names, if it does: the first of the selectors that is there.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        let named = FILE_SELECTORS.iter().find_map(|key| self.input.object().get(*key));
        named.and_then(Value::as_str)
    }

    /// Names where the data comes from, in a few words: the file, or the tool.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        let tool = self.connector.as_ref().map(|connector| &connector.tool_name);
        match self.kind {
            SourceType::LocalFile => self.file().map(str::to_owned),
            SourceType::DaemonTool | SourceType::ConnectorTool => {
                tool.or(self.tool_name.as_ref()).map(ToString::to_string)
            }
        }
    }
}

impl RefreshPermission {
    const fn default_value() -> Self {
        Self::None
    }
}

/// Which connector, account and tool a source runs; never a credential.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorRef {
    /// The connector.
    pub connector_id: ConnectorId,
    /// The account the connector must be connected to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
    /// The tool, qualified.
    pub tool_name: ToolName,
    /// How the call was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<ApprovalPolicy>,
}

/// How a source's output becomes data.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct OutputMapping {
    /// Which parts of the output go where; without it the output's top-level keys replace those of
    /// the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub data_paths: Option<Vec<DataPath>>,
    /// What is done to each value on the way; `identity` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<Transform>,
}

/// One arrow of a mapping.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DataPath {
    /// Where the value stands in the output.
    pub from: MappingPath,
    /// Where it replaces what stands in the data.
    pub to: MappingPath,
}

/// What a source was when it was set: the tool's contract and the account, kept by the daemon.
///
/// A refresh whose tool or account is another is refused until a person accepts the drift.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SourcePin {
    /// The connector.
    pub connector_id: ConnectorId,
    /// The tool, qualified.
    pub tool_name: ToolName,
    /// The digest of the tool's contract.
    pub contract_digest: Digest,
    /// The digests of the contract's parts, so that a drift can say what changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract_parts: Option<ContractParts>,
    /// The account the connector was connected to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
}
