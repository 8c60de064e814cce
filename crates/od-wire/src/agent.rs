//! Agents, and sessions with them.

use od_core::agent::{AgentListing, AgentSession, Entry};
use od_core::ids::{AgentName, ProjectId};
use od_core::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `{ agents }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct AgentsAnswer {
    /// The agents that od knows, installed or not.
    pub agents: Vec<AgentListing>,
}

/// `{ sessions }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct AgentSessionsAnswer {
    /// The sessions, newest first.
    pub sessions: Vec<AgentSession>,
}

/// Opens a session.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenAgentSession {
    /// The project it works in, which has to have a folder.
    pub project_id: ProjectId,
    /// The agent.
    pub agent: AgentName,
    /// What it is asked first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AGENT_PROMPT.allowed))]
    pub prompt: Option<String>,
}

/// Asks the agent of a session for something.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PromptAgent {
    /// The prompt.
    #[schemars(length(max = limits::AGENT_PROMPT.allowed))]
    pub text: String,
}

/// Answers a question of permission.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerPermission {
    /// The id of one of the question's choices.
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub choice: String,
}

/// `{ session }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct AgentSessionAnswer {
    /// The session as it is now.
    pub session: AgentSession,
}

/// `{ session, entries }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct AgentTranscriptAnswer {
    /// The session as it is now.
    pub session: AgentSession,
    /// Its stream, oldest first.
    pub entries: Vec<Entry>,
}
