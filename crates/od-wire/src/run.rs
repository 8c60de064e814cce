//! Runs of agents.

use od_core::ids::{AgentName, ProjectId, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Starts a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartRun {
    /// The project it may work in.
    pub project_id: ProjectId,
    /// The program that the agent is, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

/// One run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// The run.
    pub run_id: RunId,
    /// Its project.
    pub project_id: ProjectId,
    /// The program that the agent is, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Whether its token is honoured.
    pub live: bool,
    /// Until when, unless it is renewed.
    pub lease_expires_at: Timestamp,
}

/// `{ run }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct RunAnswer {
    /// The run.
    pub run: RunView,
}

/// A run that has just started, with the one copy of its token.
#[derive(Clone, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// The run.
    pub run: RunView,
    /// What the agent's environment carries as `OD_TOOL_TOKEN`; it is kept nowhere else.
    #[schemars(length(max = 8192))]
    pub tool_token: String,
}

impl std::fmt::Debug for StartedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartedRun").field("run", &self.run).finish_non_exhaustive()
    }
}
