//! Starts the agent of a session: its process, its run and token, its conversation.

use std::sync::Arc;

use od_core::agent::{SessionState, Signal, Update};
use od_core::credential::Scrubber;
use od_core::limits::AGENT_OPEN;
use od_ports::access::credential_vault::Secret;
use od_ports::agents::{
    AgentError, AgentProcess, AgentSignal, LaunchError, OpenConversation, Opened,
};
use tokio::time::{Instant, sleep_until};

use super::driver::Driver;
use crate::{App, Caller, runs};

/// Why an agent is not ready.
pub(super) enum StartError {
    Launch(LaunchError),
    Agent(AgentError),
    Run(runs::StartRunError),
    /// A person closed the session meanwhile.
    Unwanted,
}

impl StartError {
    fn told(&self) -> Option<(String, Option<String>)> {
        match self {
            Self::Launch(error) => {
                let line = match error {
                    LaunchError::NotInstalled { install, .. } => {
                        Some(format!("install it with `{install}`"))
                    }
                    LaunchError::Unknown { .. } => Some("choose an agent of the list".to_owned()),
                    LaunchError::Failed { .. } => Some("start it once in a terminal".to_owned()),
                };
                Some((error.to_string(), line))
            }
            Self::Agent(error) => Some((error.to_string(), Some(error.suggestion()))),
            Self::Run(error) => Some((error.to_string(), None)),
            Self::Unwanted => None,
        }
    }
}

impl Driver {
    /// Starts the agent and opens the conversation.
    pub(super) async fn start(
        &self,
        app: &App,
    ) -> Result<Arc<dyn AgentProcess>, (StartError, Option<Arc<dyn AgentProcess>>)> {
        let (agent, project, resume, server) = {
            let inner = self.live.lock();
            let session = &inner.session;
            let resume = session.agent_session.clone();
            (session.agent.clone(), session.project_id.clone(), resume, inner.server.clone())
        };
        let request = runs::StartRun { project, agent: Some(agent.clone()) };
        let started = runs::start(app, &Caller::Person, request).await;
        let started = started.map_err(|error| (StartError::Run(error), None))?;
        {
            let mut inner = self.live.lock();
            inner.session.run_id = Some(started.run.id.clone());
            inner.secrets = Scrubber::new([started.token.as_str()]);
        }
        self.keep(app).await;
        let Ok(token) = Secret::parse(&started.token) else {
            let error =
                AgentError::Refused { name: "od".to_owned(), message: "no token".to_owned() };
            return Err((StartError::Agent(error), None));
        };
        // After the run is kept: a daemon that ends in between finds it and ends it.
        let launched = app.ports.agents.launch(&agent, &self.live.directory, &token).await;
        let process = launched.map_err(|error| (StartError::Launch(error), None))?;
        let conversation = OpenConversation {
            directory: self.live.directory.clone(),
            server,
            tools_url: self.live.tools_url.clone(),
            token,
            resume,
        };
        match self.open(app, process.as_ref(), conversation).await {
            Ok(opened) => {
                self.ready(app, opened);
                // By the agent's id the conversation goes on, whatever happens to this daemon.
                self.keep(app).await;
                Ok(process)
            }
            Err(error) => Err((error, Some(process))),
        }
    }

    fn ready(&self, app: &App, opened: Opened) {
        let mut inner = self.live.lock();
        inner.session.agent_session = Some(opened.agent_session);
        inner.session.resumable = opened.resumable;
        let now = app.ports.clock.now();
        // Closed in this very moment: then the loop ends the process at once.
        let is_ready = inner.take(Signal::Opened, now).is_ok();
        if is_ready && inner.prompt.is_some() {
            let _ = inner.take(Signal::Prompted, now);
        }
        inner.flush(app.ports.events.as_ref());
    }

    async fn open(
        &self,
        app: &App,
        process: &dyn AgentProcess,
        conversation: OpenConversation,
    ) -> Result<Opened, StartError> {
        let name = self.live.lock().session.agent.to_string();
        let opening = process.open(conversation);
        tokio::pin!(opening);
        let too_late = sleep_until(Instant::now() + AGENT_OPEN.duration());
        tokio::pin!(too_late);
        loop {
            tokio::select! {
                opened = &mut opening => return opened.map_err(StartError::Agent),
                () = &mut too_late => {
                    return Err(StartError::Agent(AgentError::TimedOut { name }));
                }
                () = self.live.wake.notified() => {
                    if self.live.lock().state != SessionState::Starting {
                        return Err(StartError::Unwanted);
                    }
                }
                // Read on: an agent that tells much before it is ready must not wait for us.
                signal = process.next() => match signal {
                    AgentSignal::Updated(Update::Title(title)) => self.title(app, &title),
                    AgentSignal::Asked { key, .. } => {
                        let _ = process.answer(key, None).await;
                    }
                    AgentSignal::Gone { last_words } => {
                        return Err(StartError::Agent(AgentError::Ended { name, last_words }));
                    }
                    AgentSignal::Updated(_) | AgentSignal::TurnEnded(_) => {}
                },
            }
        }
    }

    pub(super) fn failed(&self, app: &App, error: &StartError) {
        let mut inner = self.live.lock();
        if let Some((message, suggestion)) = error.told() {
            let change = inner.transcript.problem(&message, suggestion);
            inner.note(change);
        }
        let _ = inner.take(Signal::Gone, app.ports.clock.now());
        inner.flush(app.ports.events.as_ref());
    }
}
