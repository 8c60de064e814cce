//! The request to execute a tool.

use super::Purpose;
use crate::error::Issue;
use crate::ids::{ConnectorId, ToolName};
use crate::input::{Fields, FreeForm, Input as _, input, malformed, one_of, parsed, schema_of};
use crate::json::{BoundedObject, Value};

input! {
    /// A request to execute a tool, checked.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExecuteRequest "executes a read-only tool of a connector" then qualify {
        /// The connector.
        required connector_id: ConnectorId = "connectorId", parsed(), "the connector";
        /// The tool, qualified.
        required tool_name: ToolName = "toolName", parsed(), "the tool, qualified or short";
        /// The tool's input; its schema is checked when the tool is known.
        default(BoundedObject::default()) input: BoundedObject
            = "input", FreeForm::Unstored, "free-form: what the tool's own inputSchema asks for; bounded like all stored JSON";
        /// Why; whether the caller may say so is for the use case to decide.
        default(Purpose::AgentPreview) purpose: Purpose
            = "purpose", one_of(Purpose::ALL).telling(&[Purpose::AgentPreview]), "why; agents say agent_preview";
    }
}

schema_of!(ExecuteRequest);

impl ExecuteRequest {
    /// Reads the body of an execute request.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        Self::read_whole(value).map(|(request, _)| request)
    }
}

/// Qualifies the name of the tool with its connector's.
fn qualify(mut request: ExecuteRequest, fields: &mut Fields<'_, '_>) -> Option<ExecuteRequest> {
    match request.tool_name.qualified(&request.connector_id) {
        Ok(qualified) => request.tool_name = qualified,
        Err(error) => {
            let issue = malformed(&fields.at("toolName"), "a longer name", &error);
            fields.issues.push(issue);
            return None;
        }
    }
    Some(request)
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
