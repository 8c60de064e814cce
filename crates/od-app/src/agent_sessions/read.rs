//! Read sessions and agents, and put right what an earlier daemon left.

use od_core::agent::{
    AgentListing, AgentSession, Content, Entry, SessionStatus, TurnEnd, TurnOutcome,
};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{AgentSessionId, ProjectId};
use od_ports::agents::agent_sessions::AgentSessionsError;

use crate::projects::{self, ReadProjectError};
use crate::{App, Caller, runs};

/// A session with its stream.
#[derive(Clone, Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: AgentSession,
    /// Its entries, oldest first.
    pub entries: Vec<Entry>,
}

/// Returns the agents that od knows, and what this machine has of them.
pub async fn agents(app: &App) -> Vec<AgentListing> {
    app.ports.agent_catalog.list().await
}

/// Returns the sessions of one project, or of all, newest first.
///
/// # Errors
///
/// Fails if the project is unknown, or the store cannot be read.
pub async fn list(
    app: &App,
    caller: &Caller,
    project: Option<ProjectId>,
) -> Result<Vec<AgentSession>, FindSessionError> {
    let projects = match project {
        Some(project) => vec![projects::get(app, caller, project).await?.id],
        None => projects::list(app, caller).await?.into_iter().map(|project| project.id).collect(),
    };
    let mut sessions = Vec::new();
    for project in projects {
        sessions.extend(app.ports.agent_sessions.list(&project).await?);
    }
    for session in &mut sessions {
        // What runs is newer in memory.
        if let Some(live) = app.agent_sessions.get(&session.id) {
            *session = live.lock().session.clone();
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    Ok(sessions)
}

/// Returns one session with its stream.
///
/// # Errors
///
/// Fails if there is no such session, or the store cannot be read.
pub async fn get(
    app: &App,
    caller: &Caller,
    session: &AgentSessionId,
) -> Result<OpenedSession, FindSessionError> {
    if let Some(live) = app.agent_sessions.get(session)
        && caller.may_see(&live.project())
    {
        let inner = live.lock();
        let entries = inner.transcript.entries().cloned().map(|mut entry| {
            entry.content = entry.content.redacted(&inner.secrets);
            entry
        });
        let entries = entries.collect();
        return Ok(OpenedSession { session: inner.session.clone(), entries });
    }
    let found = find(app, caller, session).await?;
    let entries = app.ports.agent_sessions.entries(&found.project_id, session).await?;
    Ok(OpenedSession { session: found, entries })
}

/// Returns a session wherever it is.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    session: &AgentSessionId,
) -> Result<AgentSession, FindSessionError> {
    for project in projects::list(app, caller).await? {
        if let Some(found) = app.ports.agent_sessions.get(&project.id, session).await? {
            return Ok(found);
        }
    }
    Err(FindSessionError::Unknown { session: session.clone() })
}

/// Marks the sessions that an earlier daemon left running: their agents died with it.
///
/// # Errors
///
/// Fails if the projects cannot be read; a session that cannot be marked is left as it is.
pub async fn recover(app: &App) -> Result<(), FindSessionError> {
    for project in projects::list(app, &Caller::Person).await? {
        let Ok(sessions) = app.ports.agent_sessions.list(&project.id).await else { continue };
        for session in sessions {
            let was_working = match session.status {
                SessionStatus::Working | SessionStatus::Stopping | SessionStatus::Starting => true,
                SessionStatus::Idle => false,
                SessionStatus::Stopped
                | SessionStatus::Interrupted
                | SessionStatus::Closed
                | SessionStatus::Failed => continue,
            };
            if was_working {
                interrupt(app, &session).await;
            }
            if let Some(run) = session.run_id.clone() {
                let _ = runs::end(app, &Caller::Person, run).await;
            }
            let ended = AgentSession { status: SessionStatus::Interrupted, ..session };
            let _ = app.ports.agent_sessions.put(&ended).await;
        }
    }
    Ok(())
}

/// Says in the stream that the turn was cut off, and closes what was open.
async fn interrupt(app: &App, session: &AgentSession) {
    let (project, id) = (&session.project_id, &session.id);
    let kept = app.ports.agent_sessions.entries(project, id).await.unwrap_or_default();
    let number = kept.last().map_or(1, |entry| entry.number + 1);
    let outcome = TurnOutcome::Interrupted;
    let end = Entry { number, content: Content::TurnEnd(TurnEnd { outcome }) };
    let _ = app.ports.agent_sessions.append(project, id, &[end]).await;
}

/// Why a session was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindSessionError {
    /// There is none that the caller may see.
    #[error("there is no chat `{session}`")]
    Unknown {
        /// The id asked for.
        session: AgentSessionId,
    },
    /// The projects could not be read.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// The sessions could not be read.
    #[error(transparent)]
    Store(#[from] AgentSessionsError),
}

impl From<FindSessionError> for Failure {
    fn from(err: FindSessionError) -> Self {
        let message = err.to_string();
        match err {
            FindSessionError::Unknown { session } => Self::new(ErrorCode::NotFound, message)
                .suggest("the chats of a project are listed in the console and by `od chat --list`")
                .detail("sessionId", session.as_str()),
            FindSessionError::Project(err) => err.into(),
            FindSessionError::Store(_) => Self::new(ErrorCode::LiveArtifactStorageFailed, message)
                .suggest("check the permissions of the data directory"),
        }
    }
}
