//! A person's own agents: which there are, and the processes that they run as.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::agent::{AgentListing, Choice, ToolServer, ToolUpdate, TurnOutcome, Update};
use od_core::ids::AgentName;

use crate::access::credential_vault::Secret;

/// Knows the agents that a session can be opened with.
///
/// # Contract
///
/// - The list comes with the program and from nothing that a project holds.
/// - `list` starts no agent.
#[async_trait]
pub trait AgentCatalog: fmt::Debug + Send + Sync {
    /// Returns every known agent, and what this machine has of it.
    async fn list(&self) -> Vec<AgentListing>;
}

/// Starts agents.
///
/// # Contract
///
/// - A launch starts at most one process group; nothing of it outlives the daemon.
/// - Neither prompt nor token is part of an argument of any process: whoever has an account on the machine
///   reads those. A prompt is part of no variable either; a token is one only of an agent that would make
///   an argument of it if it were told it.
#[async_trait]
pub trait AgentLauncher: fmt::Debug + Send + Sync {
    /// Starts the program of an agent in a directory, for a run with this token. It has not said anything
    /// yet.
    async fn launch(
        &self,
        agent: &AgentName,
        directory: &std::path::Path,
        token: &Secret,
    ) -> Result<Arc<dyn AgentProcess>, LaunchError>;
}

/// The conversation to begin, or to go on with.
#[derive(Debug)]
pub struct OpenConversation {
    /// The directory that the agent works in.
    pub directory: PathBuf,
    /// The name that od's tools stand under.
    pub server: ToolServer,
    /// Where od's tools are.
    pub tools_url: String,
    /// The token of the session's run.
    pub token: Secret,
    /// The agent's own id of the conversation to go on with; a new one if absent.
    pub resume: Option<String>,
}

/// A conversation that an agent is ready for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Opened {
    /// The agent's own id of it.
    pub agent_session: String,
    /// Whether the agent can go on with it in another process.
    pub resumable: bool,
}

/// The adapter's name of one question of permission.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct QuestionKey(pub u64);

/// One thing that an agent says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AgentSignal {
    /// Something for the stream.
    Updated(Update),
    /// It wants to know whether it may do something, and waits.
    Asked {
        /// By which it is answered.
        key: QuestionKey,
        /// The call it is about.
        call: ToolUpdate,
        /// The full name of the tool, if the agent says it where no model writes.
        tool: Option<String>,
        /// The answers it offers.
        choices: Vec<Choice>,
    },
    /// It has answered the prompt.
    TurnEnded(Turn),
    /// No process of it is left.
    Gone {
        /// The end of what it wrote to its standard error.
        last_words: String,
    },
}

/// The way a turn ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Turn {
    /// By itself.
    Finished,
    /// In another way.
    Ended(TurnOutcome),
    /// With an error of the agent.
    Failed(AgentError),
}

/// A running agent.
///
/// # Contract
///
/// - `next` returns what the agent says in the order it was said; a turn's last word comes before its
///   `TurnEnded`, and after `Gone` there is nothing but `Gone`. It loses nothing when it is dropped.
/// - `answer` is sent once for each question; for a key that is not open it does nothing.
/// - `stop` returns once no process of the agent is left, however the agent takes it, within seconds.
#[async_trait]
pub trait AgentProcess: fmt::Debug + Send + Sync {
    /// Agrees on a version and begins the conversation, or goes on with one.
    async fn open(&self, conversation: OpenConversation) -> Result<Opened, AgentError>;
    /// Hands a prompt over. Its answer comes by [`Self::next`].
    async fn prompt(&self, text: &str) -> Result<(), AgentGone>;
    /// Answers a question; `None` says that the turn was cancelled.
    async fn answer(&self, key: QuestionKey, choice: Option<Choice>) -> Result<(), AgentGone>;
    /// Tells the agent to end the turn.
    async fn cancel(&self) -> Result<(), AgentGone>;
    /// Waits for the next thing the agent says.
    async fn next(&self) -> AgentSignal;
    /// Ends the process and whatever it started.
    async fn stop(&self);
}

/// The agent's process does not take anything any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the agent is gone")]
pub struct AgentGone;

/// Why an agent did not start.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// The catalogue has no such agent.
    #[error("no agent is called `{agent}`")]
    Unknown {
        /// The name asked for.
        agent: AgentName,
    },
    /// Its program is not on this machine.
    #[error("{name} is not installed, or not in the PATH of your login shell")]
    NotInstalled {
        /// The agent's name.
        name: String,
        /// The line that installs it.
        install: String,
    },
    /// The system did not start it.
    #[error("{name} could not be started: {message}")]
    Failed {
        /// The agent's name.
        name: String,
        /// What the system said.
        message: String,
    },
}

/// Why an agent does not do what it was asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// The person is not signed in with it.
    #[error("you are not signed in to {name}")]
    NotSignedIn {
        /// The agent's name.
        name: String,
        /// The line that signs in.
        login: String,
    },
    /// It speaks another version of the protocol.
    #[error("{name} speaks version {version} of the Agent Client Protocol, od speaks 1")]
    OtherVersion {
        /// The agent's name.
        name: String,
        /// Its version.
        version: u64,
    },
    /// It takes no tool server over HTTP, so od's tools cannot be handed to it.
    #[error("{name} takes no tool server over HTTP")]
    NoTools {
        /// The agent's name.
        name: String,
    },
    /// It cannot go on with a conversation in a new process.
    #[error("{name} cannot go on with this conversation")]
    NotResumable {
        /// The agent's name.
        name: String,
    },
    /// It does not go into the mode in which it asks first.
    #[error("{name} cannot be put into the mode `{mode}`, in which it asks before it acts")]
    Mode {
        /// The agent's name.
        name: String,
        /// The mode.
        mode: String,
    },
    /// It was not ready in time.
    #[error("{name} was not ready in time")]
    TimedOut {
        /// The agent's name.
        name: String,
    },
    /// It ended.
    #[error("{name} ended: {last_words}")]
    Ended {
        /// The agent's name.
        name: String,
        /// The end of what it wrote to its standard error.
        last_words: String,
    },
    /// It refused.
    #[error("{name} says: {message}")]
    Refused {
        /// The agent's name.
        name: String,
        /// Its words.
        message: String,
    },
}

impl AgentError {
    /// Returns what the person can do about it.
    #[must_use]
    pub fn suggestion(&self) -> String {
        match self {
            Self::NotSignedIn { login, .. } => {
                format!("run `{login}` in a terminal, then try again")
            }
            Self::OtherVersion { .. } | Self::NoTools { .. } | Self::Mode { .. } => {
                "update the agent, or use another one".to_owned()
            }
            Self::NotResumable { .. } => "start a new chat".to_owned(),
            Self::TimedOut { .. } | Self::Ended { .. } => {
                "start it once in a terminal: it may want to be set up or updated".to_owned()
            }
            Self::Refused { .. } => "try again, or look at it in a terminal".to_owned(),
        }
    }
}
