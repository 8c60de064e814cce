//! The reasons for which a session is not opened, prompted or changed.

use od_core::agent::{AnswerError, Rejected};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{AgentSessionId, ProjectId};
use od_core::limits::{AGENT_PROMPT, AGENT_SESSIONS_LIVE};
use od_ports::agents::agent_sessions::AgentSessionsError;
use od_ports::system::EntropyError;

use super::read::FindSessionError;
use crate::PersonOnly;
use crate::projects::ReadProjectError;

/// Why a session was not opened, or took no prompt.
#[derive(Debug, thiserror::Error)]
pub enum OpenSessionError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such project, or it could not be read.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// There is no such session, or it could not be read.
    #[error(transparent)]
    Session(#[from] FindSessionError),
    /// The project has no folder that an agent could work in.
    #[error("project `{project}` has no folder for an agent to work in")]
    NoFolder {
        /// The project.
        project: ProjectId,
    },
    /// As many agents run as may.
    #[error("{} agents run already", AGENT_SESSIONS_LIVE.allowed)]
    TooMany,
    /// The agent is at work.
    #[error("the agent is at work in this chat")]
    Busy {
        /// The session.
        session: AgentSessionId,
    },
    /// The agent cannot go on with it.
    #[error("the agent cannot go on with this chat in a new process")]
    NotResumable {
        /// The session.
        session: AgentSessionId,
    },
    /// The prompt says nothing.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The prompt is too long.
    #[error("the prompt is {len} bytes long")]
    LongPrompt {
        /// Its length in bytes.
        len: usize,
    },
    /// There were no random bytes for an id.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The session could not be kept.
    #[error(transparent)]
    Store(#[from] AgentSessionsError),
}

impl From<OpenSessionError> for Failure {
    fn from(err: OpenSessionError) -> Self {
        let message = err.to_string();
        match err {
            OpenSessionError::PersonOnly(err) => err.into(),
            OpenSessionError::Project(err) => err.into(),
            OpenSessionError::Session(err) => err.into(),
            OpenSessionError::NoFolder { project } => Self::new(ErrorCode::Conflict, message)
                .suggest("give the project a folder, in the console or with `od projects rebind`")
                .detail("projectId", project.as_str()),
            OpenSessionError::TooMany => Self::new(ErrorCode::Conflict, message)
                .suggest("close a chat that you do not need now"),
            OpenSessionError::Busy { session } => Self::new(ErrorCode::Conflict, message)
                .suggest("wait for its answer, or stop it")
                .detail("sessionId", session.as_str()),
            OpenSessionError::NotResumable { session } => Self::new(ErrorCode::Conflict, message)
                .suggest("start a new chat")
                .detail("sessionId", session.as_str()),
            OpenSessionError::EmptyPrompt => {
                Self::new(ErrorCode::BadRequest, message).suggest("say what you want to see")
            }
            OpenSessionError::LongPrompt { .. } => Self::new(ErrorCode::BadRequest, message)
                .suggest(format!("{}; name a file instead", AGENT_PROMPT.want())),
            OpenSessionError::Entropy(_) => Self::new(ErrorCode::Internal, message),
            OpenSessionError::Store(_) => Self::new(ErrorCode::LiveArtifactStorageFailed, message)
                .suggest("check free space and permissions of the data directory"),
        }
    }
}

/// Why a session did not change.
#[derive(Debug, thiserror::Error)]
pub enum ChangeSessionError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such session, or it could not be read.
    #[error(transparent)]
    Session(#[from] FindSessionError),
    /// Its agent does not run.
    #[error("the agent of this chat does not run")]
    NotRunning {
        /// The session.
        session: AgentSessionId,
    },
    /// Its state does not take it.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The question was not answered.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

impl From<ChangeSessionError> for Failure {
    fn from(err: ChangeSessionError) -> Self {
        let message = err.to_string();
        match err {
            ChangeSessionError::PersonOnly(err) => err.into(),
            ChangeSessionError::Session(err) => err.into(),
            ChangeSessionError::NotRunning { session } => Self::new(ErrorCode::Conflict, message)
                .suggest("ask something: the chat goes on in a new process")
                .detail("sessionId", session.as_str()),
            ChangeSessionError::Rejected(_) => {
                Self::new(ErrorCode::Conflict, message).suggest("look at the chat again")
            }
            ChangeSessionError::Answer(AnswerError::Unknown) => {
                Self::new(ErrorCode::NotFound, message).suggest("look at the chat again")
            }
            ChangeSessionError::Answer(AnswerError::Answered) => {
                Self::new(ErrorCode::Conflict, message).suggest("a question takes one answer")
            }
            ChangeSessionError::Answer(AnswerError::NoSuchChoice) => {
                Self::new(ErrorCode::BadRequest, message)
                    .suggest("send the id of one of the question's choices")
            }
        }
    }
}
