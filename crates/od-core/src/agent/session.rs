//! A session: one conversation of a person with an agent in a project, as it is kept and served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::credential::redact_text;
use crate::ids::{AgentName, AgentSessionId, ArtifactId, ProjectId, RunId, Timestamp};
use crate::words::words;

words! {
    /// The state of a session, as clients know it.
    SessionStatus {
        /// The agent is being started.
        Starting = "starting",
        /// The agent waits for a prompt.
        Idle = "idle",
        /// The agent works.
        Working = "working",
        /// The agent is being stopped.
        Stopping = "stopping",
        /// A person stopped the agent; a prompt goes on with it.
        Stopped = "stopped",
        /// The agent or the daemon ended unasked; a prompt goes on with it.
        Interrupted = "interrupted",
        /// A person closed the session; a prompt goes on with it.
        Closed = "closed",
        /// The agent did not start.
        Failed = "failed",
    }
}

/// One conversation with an agent.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSession {
    /// The session's id.
    pub id: AgentSessionId,
    /// The project it works in.
    pub project_id: ProjectId,
    /// The agent.
    pub agent: AgentName,
    /// A title: the agent's, or the beginning of the first prompt.
    pub title: String,
    /// Its state.
    pub status: SessionStatus,
    /// The agent's own id of the conversation, by which it is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<String>,
    /// Whether the agent can go on with it in a new process.
    pub resumable: bool,
    /// The run whose token the agent has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The artifacts that were made in it, oldest first.
    #[serde(default)]
    pub made: Vec<MadeArtifact>,
    /// What it has used, as far as the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The number of changes that listeners were told of.
    pub changes: u64,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something was last asked or answered in it.
    pub updated_at: Timestamp,
}

/// An artifact that an agent made or changed in a session.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeArtifact {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its title then.
    pub title: String,
}

/// What a session has used, as far as the agent says.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of the model's context that are in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// Tokens that the context holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_size: Option<u64>,
    /// What it cost so far, such as `0.0007 USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// An agent that od knows, and what this machine has of it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentListing {
    /// The name that a session is opened with.
    pub id: AgentName,
    /// The name that people know.
    pub name: String,
    /// Where its program is, if it is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The installed version, if its package says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version that od was tried with; absent if it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested_version: Option<String>,
    /// The line that installs it.
    pub install: String,
    /// The line that signs a person in.
    pub login: String,
}

/// A short title for a session that has none yet: the first line of its first prompt.
#[must_use]
pub fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("New chat");
    // A prompt may hold a key; titles are stored, and listed beside others.
    crate::limits::cut(redact_text(line).into_owned(), crate::limits::AGENT_TITLE)
}
