//! Reading and checking a source.

use super::mapping_input::read_mapping;
use super::{ApprovalPolicy, ConnectorRef, RefreshPermission, Source, SourceType};
use crate::connector::LocalTool;
use crate::credential;
use crate::error::{Issue, nearest_name};
use crate::fields::{Fields, Issues, credential_issue};
use crate::ids::{ConnectorId, RelPath, ToolName};
use crate::json::{BoundedObject, Pointer, Value};
use crate::limits;

/// The keys of an input that name the file to read, the first one present wins.
pub const FILE_SELECTORS: &[&str] = &["path", "file", "name"];

const FIELDS: &[&str] =
    &["type", "toolName", "input", "connector", "outputMapping", "refreshPermission"];

/// Reads a source; what was redacted in its input is told in `warnings`.
pub(super) fn read_source(
    value: &Value,
    at: Pointer,
    issues: &mut Issues,
    warnings: &mut Vec<Issue>,
) -> Option<Source> {
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    fields.required("type");
    let kind = fields.word("type", SourceType::ALL, SourceType::as_str);
    let tool_name = fields.parsed("toolName");
    let input = match fields.get("input") {
        None => Some(BoundedObject::default()),
        Some(input) => {
            let at = fields.at("input");
            read_input(input, &at, fields.issues, warnings)
        }
    };
    let connector = fields.get("connector").and_then(|connector| {
        let at = fields.at("connector");
        read_connector(connector, at, fields.issues)
    });
    let output_mapping = fields.get("outputMapping").and_then(|mapping| {
        let at = fields.at("outputMapping");
        read_mapping(mapping, at, fields.issues)
    });
    let permissions = RefreshPermission::ALL;
    let refresh_permission =
        fields.word("refreshPermission", permissions, RefreshPermission::as_str);
    let (kind, input) = (kind?, input?);
    let (tool_name, connector) = match kind {
        SourceType::LocalFile => {
            refuse_field(&mut fields, "toolName", kind);
            refuse_field(&mut fields, "connector", kind);
            check_selector(&mut fields, &input);
            (None, None)
        }
        SourceType::DaemonTool => {
            refuse_field(&mut fields, "connector", kind);
            let tool_name = check_daemon_tool(&mut fields, tool_name, &input);
            (tool_name, None)
        }
        SourceType::ConnectorTool => {
            fields.required("connector");
            let connector = qualify(&mut fields, connector, tool_name.as_ref());
            (connector.as_ref().map(|connector| connector.tool_name.clone()), connector)
        }
    };
    let refresh_permission = refresh_permission.unwrap_or(RefreshPermission::None);
    Some(Source { kind, tool_name, input, connector, output_mapping, refresh_permission })
}

/// Reads the input of a source: what looks like a credential is redacted, and refused if redaction
/// does not take it all out.
fn read_input(
    value: &Value,
    at: &Pointer,
    issues: &mut Issues,
    warnings: &mut Vec<Issue>,
) -> Option<BoundedObject> {
    let mut value = value.clone();
    for place in credential::redact_json(&mut value) {
        warnings.push(
            Issue::new(
                format!("{}{}", at.as_str(), place.as_str()),
                "redacted",
                "a text that looks like a credential was replaced",
            )
            .want("inputs without credentials: the daemon adds them when it calls a connector")
            .fix("remove it from the input"),
        );
    }
    for (place, kind) in credential::find_in_json(&value, limits::JSON_FAULTS.max()) {
        issues.push(credential_issue(&place, kind).under(at.as_str()));
    }
    match BoundedObject::check(value) {
        Ok(input) => Some(input),
        Err(faults) => {
            issues.extend(faults.issues(at.as_str()));
            None
        }
    }
}

fn read_connector(value: &Value, at: Pointer, issues: &mut Issues) -> Option<ConnectorRef> {
    const FIELDS: &[&str] = &["connectorId", "accountLabel", "toolName", "approvalPolicy"];
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    fields.required("connectorId");
    fields.required("toolName");
    let connector_id: Option<ConnectorId> = fields.parsed("connectorId");
    let tool_name: Option<ToolName> = fields.parsed("toolName");
    let account_label = fields.text("accountLabel", &limits::SHORT_TEXT);
    let approval_policy =
        fields.word("approvalPolicy", ApprovalPolicy::ALL, ApprovalPolicy::as_str);
    Some(ConnectorRef {
        connector_id: connector_id?,
        account_label,
        tool_name: tool_name?,
        approval_policy,
    })
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
            fields.issues.push(crate::fields::malformed(&at, &shown, &error));
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
    fields.required("toolName");
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
        LocalTool::SearchFiles | LocalTool::ReadJsonFolder | LocalTool::GitSummary => {}
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
            fields.issues.push(crate::fields::malformed(&at, shown, &error));
        }
        None => fields.issues.push(crate::fields::wrong_type(&at, value, "a string")),
    }
}

fn refuse_field(fields: &mut Fields<'_, '_>, key: &str, kind: SourceType) {
    if fields.get(key).is_some() {
        let issue = Issue::new(
            fields.at(key).as_str(),
            "field_of_another_type",
            format!("a `{kind}` source has no `{key}`"),
        )
        .fix(format!("remove `{key}`, or use another `type`"));
        fields.issues.push(issue);
    }
}
