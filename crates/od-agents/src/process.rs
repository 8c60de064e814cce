//! The process of an agent, below a supervisor that ends all of it.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use od_core::agent::Choice;
use od_core::limits::{AGENT_END, AGENT_STDERR};
use od_ports::agents::{
    AgentError, AgentGone, AgentProcess, AgentSignal, OpenConversation, Opened, QuestionKey,
};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};
use tokio::sync::watch;

use crate::acp::message::Answer;
use crate::acp::outgoing::{self, VERSION};
use crate::acp::peer::Peer;
use crate::catalogue::{KnownAgent, ResumeKind};
use crate::supervisor::SUPERVISOR_VERB;

/// The time that a supervisor has to end what it supervises: once kindly, once not, and the rest.
const SUPERVISOR_END: Duration = AGENT_END.duration().saturating_mul(2);
/// What is left in the pipe when the process is gone may still be read.
const DRAIN: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A program to start.
pub(crate) struct Start<'a> {
    pub(crate) supervisor: &'a Path,
    pub(crate) program: &'a Path,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) directory: &'a Path,
}

/// A running agent.
#[derive(Debug)]
pub(crate) struct AcpProcess {
    agent: &'static KnownAgent,
    peer: Peer,
    group: Pid,
    exited: watch::Receiver<bool>,
    over: watch::Receiver<bool>,
    last_words: Arc<Mutex<Vec<u8>>>,
    session: Mutex<Option<String>>,
}

impl AcpProcess {
    /// Starts the program of an agent. It is in a process group of its own, and has nothing of the
    /// daemon's environment but what is given.
    pub(crate) fn start(
        agent: &'static KnownAgent,
        start: Start<'_>,
    ) -> Result<Self, std::io::Error> {
        let mut child = Command::new(start.supervisor)
            .arg(SUPERVISOR_VERB)
            .arg(std::process::id().to_string())
            .arg(start.program)
            .args(&agent.command[1..])
            .env_clear()
            .envs(start.env)
            .current_dir(start.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let missing = || std::io::Error::other("the process has no pipes");
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = id.ok_or_else(missing)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(missing());
        };
        let (peer, mut reader) = Peer::start(agent, stdout, stdin);
        let last_words = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(keep_end(stderr, Arc::clone(&last_words)));
        let (exit, exited) = watch::channel(false);
        let (finish, over) = watch::channel(false);
        tokio::spawn(async move {
            // A process that is lost to us has exited too.
            let _ = child.wait().await;
            gone(group).await;
            exit.send_replace(true);
            // Something that got away from its group may hold the pipe open.
            if tokio::time::timeout(DRAIN, &mut reader).await.is_err() {
                reader.abort();
                let _ = reader.await;
            }
            finish.send_replace(true);
        });
        let session = Mutex::new(None);
        Ok(Self { agent, peer, group, exited, over, last_words, session })
    }

    async fn exits_within(&self, time: Duration) -> bool {
        let mut exited = self.exited.clone();
        let exits = exited.wait_for(|exited| *exited);
        tokio::time::timeout(time, exits).await.is_ok()
    }

    fn session(&self) -> String {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.clone().unwrap_or_default()
    }

    fn last_words(&self) -> String {
        let bytes = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// Puts the agent into the mode in which it asks. Its own settings may have another one.
    async fn ask_first(&self, session: &str, opened: &Answer) -> Result<(), AgentError> {
        let Some(mode) = self.agent.mode else { return Ok(()) };
        let known = opened.modes.as_ref().map(|modes| modes.current_mode_id.as_str());
        let option = opened.config_options.0.iter().find(|option| option.id == "mode");
        let current = known.or(option.map(|option| option.current_value.0.as_str()));
        if current == Some(mode) {
            return Ok(());
        }
        let (method, params) = if known.is_some() || option.is_none() {
            ("session/set_mode", json!({ "sessionId": session, "modeId": mode }))
        } else {
            let params = json!({ "sessionId": session, "configId": "mode", "value": mode });
            ("session/set_config_option", params)
        };
        let set = self.peer.call(method, &params).await;
        set.map(|_| ()).map_err(|_| AgentError::Mode {
            name: self.agent.name.to_owned(),
            mode: mode.to_owned(),
        })
    }

    async fn converse(&self, conversation: &OpenConversation) -> Result<Opened, AgentError> {
        let name = || self.agent.name.to_owned();
        let met = self.peer.call("initialize", &outgoing::initialize()).await?;
        match met.protocol_version {
            Some(VERSION) | None => {}
            Some(version) => return Err(AgentError::OtherVersion { name: name(), version }),
        }
        if !met.agent_capabilities.mcp_capabilities.http {
            return Err(AgentError::NoTools { name: name() });
        }
        let capabilities = &met.agent_capabilities;
        let resumable = match self.agent.resume {
            ResumeKind::Resume => capabilities.session_capabilities.resume.is_some(),
            ResumeKind::Load => capabilities.load_session,
        };
        let method = self.agent.opening(conversation);
        if conversation.resume.is_some() && !resumable {
            return Err(AgentError::NotResumable { name: name() });
        }
        self.peer.set_replaying(conversation.resume.is_some());
        let opened = self.peer.call(method, &outgoing::open(self.agent, conversation)).await;
        if conversation.resume.is_some() && self.agent.resume == ResumeKind::Load {
            self.peer.quiet().await;
        }
        self.peer.set_replaying(false);
        let opened = opened?;
        let session = conversation.resume.clone().or_else(|| opened.session_id.clone());
        let session = session.filter(|id| id.len() <= 1024).ok_or_else(|| AgentError::Refused {
            name: name(),
            message: "it gave the conversation no id".to_owned(),
        })?;
        self.ask_first(&session, &opened).await?;
        let mut known = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(session.clone());
        Ok(Opened { agent_session: session, resumable })
    }
}

#[async_trait]
impl AgentProcess for AcpProcess {
    async fn open(&self, conversation: OpenConversation) -> Result<Opened, AgentError> {
        match self.converse(&conversation).await {
            Err(AgentError::Ended { name, .. }) => {
                // What it wrote to its standard error comes by another pipe, and a little later.
                let mut over = self.over.clone();
                let _ = tokio::time::timeout(DRAIN, over.wait_for(|over| *over)).await;
                Err(AgentError::Ended { name, last_words: self.last_words() })
            }
            outcome => outcome,
        }
    }

    async fn prompt(&self, text: &str) -> Result<(), AgentGone> {
        let prompt = [json!({ "type": "text", "text": text })];
        self.peer.prompt(&json!({ "sessionId": self.session(), "prompt": prompt }))
    }

    async fn answer(&self, key: QuestionKey, choice: Option<Choice>) -> Result<(), AgentGone> {
        self.peer.answer(key, choice.as_ref())
    }

    async fn cancel(&self) -> Result<(), AgentGone> {
        self.peer.notify("session/cancel", &json!({ "sessionId": self.session() }))
    }

    async fn next(&self) -> AgentSignal {
        if let Some(signal) = self.peer.next().await {
            return signal;
        }
        // It says nothing more, and may still run.
        self.stop().await;
        AgentSignal::Gone { last_words: self.last_words() }
    }

    async fn stop(&self) {
        self.peer.close().await;
        if self.exits_within(AGENT_END.duration()).await {
            return;
        }
        // The supervisor ends what is below it, kindly and then not.
        let _ = kill_process(self.group, Signal::TERM);
        if self.exits_within(SUPERVISOR_END).await {
            return;
        }
        let _ = kill_process_group(self.group, Signal::KILL);
        let _ = self.exits_within(SUPERVISOR_END).await;
    }
}

impl Drop for AcpProcess {
    fn drop(&mut self) {
        // Whoever forgot to stop it must not leave it: the supervisor ends the rest.
        if !*self.exited.borrow() {
            let _ = kill_process(self.group, Signal::TERM);
        }
    }
}

/// Returns once no process of the group is left.
async fn gone(group: Pid) {
    while test_kill_process_group(group).is_ok() {
        let _ = kill_process_group(group, Signal::KILL);
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Keeps the end of what a process writes to its standard error.
async fn keep_end(mut from: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut part = [0; 4096];
    while let Ok(len) = from.read(&mut part).await
        && len > 0
    {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&part[..len]);
        let surplus = kept.len().saturating_sub(AGENT_STDERR.max());
        kept.drain(..surplus);
    }
}
