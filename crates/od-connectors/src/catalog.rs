//! Builders for the catalogue entries of this crate.

use od_core::connector::{Approval, SideEffect, Tool, ToolSafety};
use od_core::ids::{ConnectorId, ToolName};
use od_core::json::Value;

/// Describes a tool that only reads. The execution service classifies it again at every call.
pub(crate) fn read_only(
    name: &'static str,
    title: &str,
    description: &str,
    input_schema: Value,
    reason: &str,
) -> Tool {
    Tool {
        name: tool_name(name),
        title: title.to_owned(),
        description: Some(description.to_owned()),
        input_schema,
        former_input_schemas: Vec::new(),
        scopes: Vec::new(),
        safety: ToolSafety {
            side_effect: SideEffect::Read,
            approval: Approval::Auto,
            reason: reason.to_owned(),
        },
        refresh_eligible: true,
    }
}

/// Makes a tool name from a literal of ours.
pub(crate) fn tool_name(name: &'static str) -> ToolName {
    name.parse().expect("tool names of this crate fit the alphabet; a test walks all catalogs")
}

/// Names tools, in order.
pub(crate) fn names(tools: &[&Tool]) -> Vec<ToolName> {
    tools.iter().map(|tool| tool.name.clone()).collect()
}

/// Makes a connector id from a literal of ours.
pub(crate) fn connector_id(name: &'static str) -> ConnectorId {
    name.parse().expect("connector ids of this crate fit the alphabet; a test walks all catalogs")
}
