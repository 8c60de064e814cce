//! Events: what happens to artifacts, declared once for the use cases that publish, the stream that
//! carries, and the clients and pages that listen.
//!
//! ```
//! use od_core::event::Event;
//!
//! // One declaration serves those who publish and those who listen.
//! fn project(event: &Event) -> &str {
//!     event.project().as_str()
//! }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentSession, Content, Entry, Speaker, Usage};
use crate::artifact::RefreshStatus;
use crate::checks::{CheckResult, CheckState};
use crate::error::ErrorCode;
use crate::ids::{AgentSessionId, ArtifactId, ProjectId, RefreshId, RunId};
use crate::refresh::{Notice, Phase, RecordStep};
use crate::words::words;

/// A change that listeners hear of once it is durable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// An artifact changed.
    Artifact(ArtifactEvent),
    /// A refresh moved.
    Refresh(RefreshEvent),
    /// A check is in another state.
    Check(CheckEvent),
    /// A session of an agent changed.
    Agent(Box<AgentEvent>),
}

impl Event {
    /// Returns the project it belongs to.
    #[must_use]
    pub const fn project(&self) -> &ProjectId {
        match self {
            Self::Artifact(event) => &event.project_id,
            Self::Refresh(event) => &event.project_id,
            Self::Check(event) => &event.project_id,
            Self::Agent(event) => &event.project_id,
        }
    }
}

words! {
    /// The change that an artifact went through.
    ArtifactAction {
        /// It is new, or back from the trash.
        Created = "created",
        /// It has another revision.
        Updated = "updated",
        /// It is in the trash.
        Deleted = "deleted",
    }
}

/// The data of a `live_artifact` event.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactEvent {
    /// What happened.
    pub action: ArtifactAction,
    /// Where.
    pub project_id: ProjectId,
    /// To which artifact.
    pub artifact_id: ArtifactId,
    /// Its title.
    #[schemars(length(max = 200))]
    pub title: String,
    /// Its refresh status.
    pub refresh_status: RefreshStatus,
    /// The run of the agent that did it; absent if a person or a schedule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
}

/// The data of a `live_artifact_check` event.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckEvent {
    /// Where.
    pub project_id: ProjectId,
    /// Of which artifact.
    pub artifact_id: ArtifactId,
    /// Its title.
    #[schemars(length(max = 200))]
    pub title: String,
    /// The state before; absent if the check is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<CheckState>,
    /// What it comes to now.
    pub check: CheckResult,
}

/// The data of a `live_artifact_refresh` event.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshEvent {
    /// How far it is.
    pub phase: Phase,
    /// Where.
    pub project_id: ProjectId,
    /// Of which artifact.
    pub artifact_id: ArtifactId,
    /// Which refresh.
    pub refresh_id: RefreshId,
    /// The step that just ended, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<RecordStep>,
    /// Whether the data changed, once it has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The code of a failed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// What went wrong, without any payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub error_message: Option<String>,
}

impl RefreshEvent {
    /// Makes the event of a notice that the refresh machine wants published.
    #[must_use]
    pub fn new(
        project_id: ProjectId,
        artifact_id: ArtifactId,
        refresh_id: RefreshId,
        notice: Notice,
    ) -> Self {
        let phase = notice.phase();
        let (step, changed, error) = match notice {
            Notice::Started => (None, None, None),
            Notice::SourceRan => (Some(RecordStep::Source), None, None),
            Notice::Succeeded { changed } => (None, Some(changed), None),
            Notice::Failed(error) => (None, None, Some(error)),
        };
        Self {
            phase,
            project_id,
            artifact_id,
            refresh_id,
            step,
            changed,
            error_code: error.as_ref().map(|error| error.code),
            error_message: error.map(|error| error.message),
        }
    }
}

/// The data of the `agent_*` events: one change of one session.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEvent {
    /// Where.
    pub project_id: ProjectId,
    /// In which session.
    pub session_id: AgentSessionId,
    /// The number of the change. After a gap the session has to be read again.
    pub change: u64,
    /// What changed.
    pub what: AgentChange,
}

/// One change of a session.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentChange {
    /// The session itself.
    Session {
        /// As it is now.
        session: AgentSession,
    },
    /// Words were added to an entry that there is already.
    Words {
        /// The entry.
        number: u32,
        /// Whose words.
        speaker: Speaker,
        /// The words.
        text: String,
    },
    /// An entry is new, or another than before.
    Entry {
        /// As it is now.
        entry: Entry,
    },
    /// What was used so far.
    Usage {
        /// As it is now.
        usage: Usage,
    },
}

impl AgentChange {
    /// Returns what the change is about, by which its event is named.
    #[must_use]
    pub const fn subject(&self) -> AgentSubject {
        match self {
            Self::Session { .. } => AgentSubject::Session,
            Self::Words { .. } => AgentSubject::Message,
            Self::Usage { .. } => AgentSubject::Usage,
            Self::Entry { entry } => match entry.content {
                Content::Text(_) => AgentSubject::Message,
                Content::Tool(_) => AgentSubject::Tool,
                Content::Plan(_) => AgentSubject::Plan,
                Content::Permission(_) => AgentSubject::Permission,
                Content::Problem(_) | Content::TurnEnd(_) => AgentSubject::Error,
            },
        }
    }
}

words! {
    /// What a change of a session is about.
    AgentSubject {
        /// The session itself.
        Session = "session",
        /// The conversation.
        Message = "message",
        /// A call of a tool.
        Tool = "tool",
        /// The plan.
        Plan = "plan",
        /// A question of permission.
        Permission = "permission",
        /// What was used.
        Usage = "usage",
        /// Something that went wrong, or a turn that did not end by itself.
        Error = "error",
    }
}
