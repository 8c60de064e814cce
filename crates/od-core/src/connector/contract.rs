//! The contract of a tool, as one digest.

use super::Tool;
use crate::error::Issue;
use crate::ids::Digest;
use crate::json::Value;
use crate::schema::DataSchema;

/// Digests a tool's contract: its name, its input schema, and its safety. A change of any is drift.
#[must_use]
pub fn contract_digest(tool: &Tool) -> Digest {
    Digest::of_json(&serde_json::json!({
        "name": tool.name.as_str(),
        "inputSchema": tool.input_schema,
        "sideEffect": tool.safety.side_effect.as_str(),
        "approval": tool.safety.approval.as_str(),
        "refreshEligible": tool.refresh_eligible,
    }))
}

/// The digests of the parts of a tool's contract.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ContractParts {
    /// Of its input schema.
    pub input_schema: Digest,
    /// Of its safety: what it does, and what it needs before it runs.
    pub safety: Digest,
}

impl ContractParts {
    /// Digests the parts of a tool's contract.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        Self {
            input_schema: Digest::of_json(&tool.input_schema),
            safety: Digest::of_json(&serde_json::json!([
                tool.safety.side_effect.as_str(),
                tool.safety.approval.as_str(),
                tool.refresh_eligible,
            ])),
        }
    }

    /// Names the parts that are different now.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<&'static str> {
        let parts = [
            (self.input_schema != now.input_schema, "input schema"),
            (self.safety != now.safety, "safety"),
        ];
        parts.into_iter().filter_map(|(differs, part)| differs.then_some(part)).collect()
    }
}

/// Checks a tool's input against its schema; every issue at once.
///
/// # Errors
///
/// Returns the input's issues; or, if the schema itself is not one this build can check, what is
/// wrong with it, for then no input may pass.
pub fn check_input(tool: &Tool, input: &Value) -> Result<(), Vec<Issue>> {
    let issues = DataSchema::compile(&tool.input_schema)?.check(input);
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}
