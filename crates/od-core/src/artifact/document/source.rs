//! Where refreshed data comes from.

use super::mapping::OutputMapping;
use crate::connector::{ContractParts, LocalTool};
use crate::error::{Issue, nearest_name};
use crate::ids::{ConnectorId, Digest, RelPath, ToolName};
use crate::input::{Fields, FreeForm, input, malformed, object, one_of, parsed, text, wrong_type};
use crate::json::{BoundedObject, Value};
use crate::limits;
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

input! {
    /// A source as it is stored: `document.sourceJson`.
    #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Source
    "where refreshed data comes from: a file of the project, a local tool, or a connector's tool"
    then check_kind {
        /// What kind of source it is.
        #[serde(rename = "type")]
        required kind: SourceType = "type", one_of(SourceType::ALL), "what kind of source it is";
        /// The tool that runs, qualified (`github.list_releases`); absent for a local file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional tool_name: ToolName
            = "toolName", parsed(), "the tool that runs; required for daemon_tool, absent for local_file";
        /// The input of the tool, or the file to read.
        #[serde(default)]
        default(BoundedObject::default()) input: BoundedObject
            = "input", FreeForm::Redacted, "free-form: the tool's input, or {\"path\": …} for a file of the project; bounded like all stored JSON; credentials are redacted";
        /// The connector the tool belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional connector: ConnectorRef = "connector", object();
        /// How the output becomes data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional output_mapping: OutputMapping = "outputMapping", object();
        /// Whether the source may be refreshed.
        #[serde(default = "RefreshPermission::default_value")]
        default(RefreshPermission::None) refresh_permission: RefreshPermission
            = "refreshPermission", one_of(RefreshPermission::ALL), "whether a refresh may run the source; none if absent";
    }
}

impl Source {
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

input! {
    /// Which connector, account and tool a source runs; never a credential.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct ConnectorRef
    "which connector and account the tool belongs to; required for connector_tool" {
        /// The connector.
        required connector_id: ConnectorId = "connectorId", parsed(), "the connector";
        /// The account the connector must be connected to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::SHORT_TEXT.allowed))]
        optional account_label: String
            = "accountLabel", text(&limits::SHORT_TEXT), "the account the connector must be connected to";
        /// The tool, qualified.
        required tool_name: ToolName = "toolName", parsed(), "the tool, qualified or short";
        /// How the call was approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional approval_policy: ApprovalPolicy
            = "approvalPolicy", one_of(ApprovalPolicy::ALL), "how the call was approved";
    }
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
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub account_label: Option<String>,
}

/// The keys of an input that name the file to read, the first one present wins.
pub const FILE_SELECTORS: &[&str] = &["path", "file", "name"];

/// Checks the rules between the fields of a source: which of them its kind has, and what they name.
fn check_kind(mut source: Source, fields: &mut Fields<'_, '_>) -> Option<Source> {
    if fields.is_refused("input") {
        return None;
    }
    let kind = source.kind;
    match kind {
        SourceType::LocalFile => {
            tolerate_own_tool(fields, source.tool_name.as_ref());
            refuse_field(fields, "connector", kind);
            check_selector(fields, &source.input);
            (source.tool_name, source.connector) = (None, None);
        }
        SourceType::DaemonTool => {
            refuse_field(fields, "connector", kind);
            source.tool_name = check_daemon_tool(fields, source.tool_name, &source.input);
            source.connector = None;
        }
        SourceType::ConnectorTool => {
            fields.require("connector");
            source.connector = qualify(fields, source.connector, source.tool_name.as_ref());
            source.tool_name = source.connector.as_ref().map(|tool| tool.tool_name.clone());
        }
    }
    Some(source)
}

/// Qualifies the tool's name, and checks that the outer one, if given, is the same.
fn qualify(
    fields: &mut Fields<'_, '_>,
    connector: Option<ConnectorRef>,
    outer: Option<&ToolName>,
) -> Option<ConnectorRef> {
    let mut connector = connector?;
    let at = fields.at("connector").key("toolName");
    match connector.tool_name.qualified(&connector.connector_id) {
        Ok(qualified) => connector.tool_name = qualified,
        Err(error) => {
            let shown = connector.tool_name.to_string();
            fields.issues.push(malformed(&at, &shown, &error));
            return None;
        }
    }
    let is_other = outer.is_some_and(|outer| {
        outer.qualified(&connector.connector_id).as_ref() != Ok(&connector.tool_name)
    });
    if is_other {
        let issue = Issue::new(
            fields.at("toolName").as_str(),
            "tool_name_differs",
            "`toolName` and `connector.toolName` name different tools",
        )
        .want(connector.tool_name.as_str())
        .fix("remove the outer `toolName`");
        fields.issues.push(issue);
    }
    Some(connector)
}

fn check_daemon_tool(
    fields: &mut Fields<'_, '_>,
    tool_name: Option<ToolName>,
    input: &BoundedObject,
) -> Option<ToolName> {
    fields.require("toolName");
    let tool_name = tool_name?;
    let Some(local) = LocalTool::from_word(tool_name.as_str()) else {
        let known: Vec<&str> = LocalTool::ALL.iter().map(|tool| tool.as_str()).collect();
        let near = nearest_name(tool_name.as_str(), known.iter().copied());
        let fix = near.map_or_else(
            || "use one of them, or a `connector_tool` source".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let issue = Issue::new(
            fields.at("toolName").as_str(),
            "unknown_tool",
            "the daemon has no such local tool",
        )
        .got(tool_name.as_str())
        .want(known.join(", "))
        .fix(fix);
        fields.issues.push(issue);
        return None;
    };
    match local {
        LocalTool::ReadJson => check_selector(fields, input),
        // The others have no other names for their inputs: their schemas say all.
        LocalTool::SearchFiles
        | LocalTool::ReadJsonFolder
        | LocalTool::ReadTable
        | LocalTool::ReadData
        | LocalTool::SqliteQuery
        | LocalTool::SqliteSchema
        | LocalTool::GitSummary
        | LocalTool::GitLog
        | LocalTool::GitFileHistory
        | LocalTool::GitBlameSummary
        | LocalTool::GitCodeSearch => {}
    }
    Some(tool_name)
}

/// Checks that an input names the file to read, and that the name stays inside the project.
fn check_selector(fields: &mut Fields<'_, '_>, input: &BoundedObject) {
    let at = fields.at("input");
    let selector = FILE_SELECTORS
        .iter()
        .find_map(|key| input.object().get(*key).map(|value| (at.clone().key(key), value)));
    let Some((at, value)) = selector else {
        let issue =
            Issue::new(at.as_str(), "file_not_named", "the input does not name the file to read")
                .want("`path` (or `file`, or `name`): a path inside the project")
                .fix("add `path`, such as {\"path\": \"data/report.json\"}");
        fields.issues.push(issue);
        return;
    };
    match value.as_str().map(str::parse::<RelPath>) {
        Some(Ok(_)) => {}
        Some(Err(error)) => {
            let shown = value.as_str().unwrap_or_default();
            fields.issues.push(malformed(&at, shown, &error));
        }
        None => fields.issues.push(wrong_type(&at, value, "a string")),
    }
}

/// Drops the tool's name of a `local_file` with a remark if it names the tool that reads the file
/// anyway; another one is refused.
fn tolerate_own_tool(fields: &mut Fields<'_, '_>, tool_name: Option<&ToolName>) {
    let own = LocalTool::ReadJson.as_str();
    let short = own.rsplit('.').next().unwrap_or(own);
    match tool_name.map(ToolName::as_str) {
        Some(name) if name == own || name == short => {
            let message = "a `local_file` source needs no `toolName`: it was left out";
            let at = fields.at("toolName");
            let warning = Issue::new(at.as_str(), "tool_name_left_out", message).got(name);
            fields.issues.warn(warning.fix("remove `toolName`"));
        }
        Some(_) | None => refuse_field(fields, "toolName", SourceType::LocalFile),
    }
}

fn refuse_field(fields: &mut Fields<'_, '_>, key: &str, kind: SourceType) {
    if fields.has(key) {
        let issue = Issue::new(
            fields.at(key).as_str(),
            "field_of_another_type",
            format!("a `{kind}` source has no `{key}`"),
        )
        .fix(format!("remove `{key}`, or use another `type`"));
        fields.issues.push(issue);
    }
}
