//! Sessions of agents as they are kept.

use std::fmt;
use std::io;

use async_trait::async_trait;
use od_core::agent::{AgentSession, Entry};
use od_core::ids::{AgentSessionId, ProjectId};

/// Keeps sessions of agents and their entries.
///
/// # Contract
///
/// - `put` is atomic and durable before it returns.
/// - Of entries with one number the last that was added counts; `entries` returns each number once, in
///   order, and passes over what cannot be read.
/// - `list` returns the sessions of a project newest first, and leaves out what cannot be read.
/// - What is kept is bounded: the oldest sessions of a project give way, and the oldest entries of one.
#[async_trait]
pub trait AgentSessionStore: fmt::Debug + Send + Sync {
    /// Keeps the state of a session.
    async fn put(&self, session: &AgentSession) -> Result<(), AgentSessionsError>;
    /// Returns a session, or `None` if there is no such session in the project.
    async fn get(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<Option<AgentSession>, AgentSessionsError>;
    /// Returns the sessions of a project.
    async fn list(&self, project: &ProjectId) -> Result<Vec<AgentSession>, AgentSessionsError>;
    /// Adds entries to a session.
    async fn append(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
        entries: &[Entry],
    ) -> Result<(), AgentSessionsError>;
    /// Returns the entries of a session.
    async fn entries(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<Vec<Entry>, AgentSessionsError>;
    /// Forgets a session; one that is not there is forgotten already.
    async fn forget(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<(), AgentSessionsError>;
}

/// The sessions could not be kept or read.
#[derive(Debug, thiserror::Error)]
#[error("could not {action}")]
pub struct AgentSessionsError {
    /// The action that was tried.
    pub action: &'static str,
    /// The system's error.
    pub source: io::Error,
}
