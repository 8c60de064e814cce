//! What a client sends to execute a tool.

use super::Purpose;
use crate::error::Issue;
use crate::fields::{Fields, Issues};
use crate::ids::{ConnectorId, ToolName};
use crate::json::{BoundedObject, Pointer, Value};

/// A request to execute a tool, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteRequest {
    /// The connector.
    pub connector_id: ConnectorId,
    /// The tool, qualified.
    pub tool_name: ToolName,
    /// The tool's input; its schema is checked when the tool is known.
    pub input: BoundedObject,
    /// Why; whether the caller may say so is for the use case to decide.
    pub purpose: Purpose,
}

impl ExecuteRequest {
    /// The fields of the request.
    pub(crate) const FIELDS: &[&str] = &["connectorId", "toolName", "input", "purpose"];

    /// Reads `{ connectorId, toolName, input?, purpose? }`; the purpose is `agent_preview` if absent.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        let mut issues = Issues::default();
        let request =
            Fields::open(value, Pointer::root(), Self::FIELDS, &mut issues).and_then(Self::read);
        issues.finish(request)
    }

    fn read(mut fields: Fields<'_, '_>) -> Option<Self> {
        fields.required("connectorId");
        fields.required("toolName");
        let connector_id: Option<ConnectorId> = fields.parsed("connectorId");
        let tool_name: Option<ToolName> = fields.parsed("toolName");
        let input = match fields.get("input") {
            Some(_) => fields.bounded("input"),
            None => Some(BoundedObject::default()),
        };
        let purpose = fields.word("purpose", Purpose::ALL, Purpose::as_str);
        let connector_id = connector_id?;
        let tool_name = match tool_name?.qualified(&connector_id) {
            Ok(qualified) => qualified,
            Err(error) => {
                let at = fields.at("toolName");
                fields.issues.push(crate::fields::malformed(&at, "a longer name", &error));
                return None;
            }
        };
        let purpose = purpose.unwrap_or(Purpose::AgentPreview);
        Some(Self { connector_id, tool_name, input: input?, purpose })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_qualified_and_every_fault_comes_at_once() {
        let request = ExecuteRequest::parse(&json!({
            "connectorId": "github", "toolName": "list_issues", "purpose": "agent_preview",
        }))
        .unwrap();
        assert_eq!(request.tool_name.as_str(), "github.list_issues");
        let issues = ExecuteRequest::parse(&json!({
            "connectorId": "no/pe", "input": [], "purpose": "curiosity",
        }))
        .unwrap_err();
        let paths: Vec<_> = issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(paths, ["/toolName", "/connectorId", "/input", "/purpose"]);
    }
}
