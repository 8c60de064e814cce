//! Agents that do what a test says, and their sessions in memory.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use async_trait::async_trait;
use od_core::agent::{AgentListing, AgentSession, Choice, Entry};
use od_core::ids::{AgentName, AgentSessionId, ProjectId};
use od_core::limits;

use crate::access::credential_vault::Secret;
use crate::agents::agent_sessions::{AgentSessionStore, AgentSessionsError};
use crate::agents::{
    AgentCatalog, AgentError, AgentGone, AgentLauncher, AgentProcess, AgentSignal, LaunchError,
    OpenConversation, Opened, QuestionKey,
};

/// Keeps sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryAgentSessions {
    kept: Mutex<BTreeMap<(ProjectId, AgentSessionId), Kept>>,
}

type Kept = (Option<AgentSession>, BTreeMap<u32, Entry>);

impl MemoryAgentSessions {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<(ProjectId, AgentSessionId), Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl AgentSessionStore for MemoryAgentSessions {
    async fn put(&self, session: &AgentSession) -> Result<(), AgentSessionsError> {
        let mut kept = self.kept();
        let key = (session.project_id.clone(), session.id.clone());
        kept.entry(key).or_default().0 = Some(session.clone());
        let mut own: Vec<_> = kept
            .values()
            .filter_map(|(kept, _)| kept.as_ref())
            .filter(|kept| kept.project_id == session.project_id)
            .map(|kept| (kept.updated_at, kept.id.clone()))
            .collect();
        own.sort();
        let surplus = own.len().saturating_sub(limits::AGENT_SESSIONS_KEPT.max());
        for (_, id) in own.into_iter().take(surplus) {
            kept.remove(&(session.project_id.clone(), id));
        }
        Ok(())
    }

    async fn get(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<Option<AgentSession>, AgentSessionsError> {
        let key = (project.clone(), session.clone());
        Ok(self.kept().get(&key).and_then(|(session, _)| session.clone()))
    }

    async fn list(&self, project: &ProjectId) -> Result<Vec<AgentSession>, AgentSessionsError> {
        let kept = self.kept();
        let mut own: Vec<_> = kept
            .values()
            .filter_map(|(session, _)| session.clone())
            .filter(|session| session.project_id == *project)
            .collect();
        own.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
        Ok(own)
    }

    async fn append(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
        entries: &[Entry],
    ) -> Result<(), AgentSessionsError> {
        let mut kept = self.kept();
        let (_, known) = kept.entry((project.clone(), session.clone())).or_default();
        known.extend(entries.iter().map(|entry| (entry.number, entry.clone())));
        Ok(())
    }

    async fn entries(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<Vec<Entry>, AgentSessionsError> {
        let key = (project.clone(), session.clone());
        let kept = self.kept();
        Ok(kept.get(&key).map(|(_, known)| known.values().cloned().collect()).unwrap_or_default())
    }

    async fn forget(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<(), AgentSessionsError> {
        self.kept().remove(&(project.clone(), session.clone()));
        Ok(())
    }
}

/// An agent that says what a test puts into it, and remembers what it is told.
#[derive(Debug, Default)]
pub struct ScriptedAgent {
    state: Mutex<Scripted>,
}

#[derive(Debug, Default)]
struct Scripted {
    says: VecDeque<AgentSignal>,
    heard: Vec<Heard>,
    refuses: Option<AgentError>,
    gone: bool,
    waiting: Vec<Waker>,
}

impl Scripted {
    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

/// One thing that a scripted agent was told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Heard {
    /// To open a conversation, or to go on with the one of this id.
    Open(Option<String>),
    /// A prompt.
    Prompt(String),
    /// An answer.
    Answer(QuestionKey, Option<Choice>),
    /// To end the turn.
    Cancel,
    /// To end.
    Stop,
}

impl ScriptedAgent {
    fn state(&self) -> MutexGuard<'_, Scripted> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it say something.
    pub fn say(&self, signal: AgentSignal) {
        let mut state = self.state();
        state.says.push_back(signal);
        state.wake();
    }

    /// Makes it refuse to open a conversation.
    pub fn refuse(&self, error: AgentError) {
        self.state().refuses = Some(error);
    }

    /// Makes it end unasked.
    pub fn crash(&self) {
        let mut state = self.state();
        state.gone = true;
        state.wake();
    }

    /// Returns what it was told so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.state().heard.clone()
    }

    fn hear(&self, heard: Heard) -> Result<(), AgentGone> {
        let mut state = self.state();
        if state.gone {
            return Err(AgentGone);
        }
        state.heard.push(heard);
        Ok(())
    }
}

#[async_trait]
impl AgentProcess for ScriptedAgent {
    async fn open(&self, conversation: OpenConversation) -> Result<Opened, AgentError> {
        let _ = self.hear(Heard::Open(conversation.resume.clone()));
        let refuses = self.state().refuses.take();
        match refuses {
            Some(error) => Err(error),
            None => Ok(Opened {
                agent_session: conversation.resume.unwrap_or_else(|| "agent-1".to_owned()),
                resumable: true,
            }),
        }
    }

    async fn prompt(&self, text: &str) -> Result<(), AgentGone> {
        self.hear(Heard::Prompt(text.to_owned()))
    }

    async fn answer(&self, key: QuestionKey, choice: Option<Choice>) -> Result<(), AgentGone> {
        self.hear(Heard::Answer(key, choice))
    }

    async fn cancel(&self) -> Result<(), AgentGone> {
        self.hear(Heard::Cancel)
    }

    async fn next(&self) -> AgentSignal {
        std::future::poll_fn(|context| {
            let mut state = self.state();
            if let Some(signal) = state.says.pop_front() {
                return Poll::Ready(signal);
            }
            if state.gone {
                return Poll::Ready(AgentSignal::Gone { last_words: "scripted".to_owned() });
            }
            state.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    async fn stop(&self) {
        let _ = self.hear(Heard::Stop);
        self.crash();
    }
}

/// Starts scripted agents, the next of a list each time.
#[derive(Debug, Default)]
pub struct ScriptedAgents {
    ready: Mutex<VecDeque<Arc<ScriptedAgent>>>,
}

impl ScriptedAgents {
    /// Adds the agent that a later launch starts.
    pub fn add(&self) -> Arc<ScriptedAgent> {
        let agent = Arc::new(ScriptedAgent::default());
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready.push_back(Arc::clone(&agent));
        agent
    }
}

#[async_trait]
impl AgentLauncher for ScriptedAgents {
    async fn launch(
        &self,
        agent: &AgentName,
        _: &Path,
        _token: &Secret,
    ) -> Result<Arc<dyn AgentProcess>, LaunchError> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        match ready.pop_front() {
            Some(agent) => Ok(agent),
            None => Err(LaunchError::NotInstalled {
                name: agent.to_string(),
                install: "nothing installs it".to_owned(),
            }),
        }
    }
}

#[async_trait]
impl AgentCatalog for ScriptedAgents {
    async fn list(&self) -> Vec<AgentListing> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sessions_in_memory_keep_the_contract() {
        let project: ProjectId = "p1".parse().expect("an id");
        crate::contract::check_agent_sessions(&MemoryAgentSessions::default(), &project).await;
    }
}
