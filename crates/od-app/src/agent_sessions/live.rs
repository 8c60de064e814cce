//! The sessions that have a process in this daemon, and what listeners are told of them.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use od_core::agent::{
    AgentSession, Change, Choice, Content, Effect, MadeArtifact, Rejected, SessionState, Signal,
    ToolServer, Transcript, Usage, step,
};
use od_core::credential::Scrubber;
use od_core::event::{AgentChange, AgentEvent, Event};
use od_core::ids::{AgentSessionId, ProjectId, RunId, Timestamp};
use od_core::limits::{AGENT_BUNDLE, AGENT_SESSIONS_LIVE};
use od_ports::EventSink;
use od_ports::agents::QuestionKey;
use od_ports::store::Stored;
use tokio::sync::{Notify, watch};

/// The artifacts of one session that are shown as made in it.
const MADE_MAX: usize = 20;

/// Every session with a process in this daemon.
#[derive(Debug, Default)]
pub(crate) struct LiveSessions {
    running: Mutex<HashMap<AgentSessionId, Arc<Live>>>,
}

impl LiveSessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<AgentSessionId, Arc<Live>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, session: &AgentSessionId) -> Option<Arc<Live>> {
        self.lock().get(session).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        self.lock().values().cloned().collect()
    }

    /// Adds one, if there is room and it does not run already.
    pub(super) fn enter(&self, live: &Arc<Live>) -> Result<(), NoRoom> {
        let id = live.lock().session.id.clone();
        let mut running = self.lock();
        if running.contains_key(&id) {
            return Err(NoRoom::Running);
        }
        if !AGENT_SESSIONS_LIVE.allows(running.len() + 1) {
            return Err(NoRoom::Full);
        }
        running.insert(id, Arc::clone(live));
        Ok(())
    }

    pub(super) fn leave(&self, session: &AgentSessionId) {
        self.lock().remove(session);
    }

    /// Notes that the agent of a run made or changed an artifact, if the run is a session's.
    pub(crate) fn note_made(&self, events: &dyn EventSink, run: &RunId, stored: &Stored) {
        let of_run = |live: &Arc<Live>| live.lock().session.run_id.as_ref() == Some(run);
        let Some(live) = self.all().into_iter().find(of_run) else { return };
        let mut inner = live.lock();
        let made = &mut inner.session.made;
        made.retain(|made| made.artifact_id != stored.id);
        let title = stored.summary.heading.title.clone();
        made.push(MadeArtifact { artifact_id: stored.id.clone(), title });
        let surplus = made.len().saturating_sub(MADE_MAX);
        made.drain(..surplus);
        inner.note_session();
        inner.flush(events);
    }
}

/// Why a session does not get a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoRoom {
    /// As many as may run do.
    Full,
    /// It has one.
    Running,
}

/// One session with a process.
#[derive(Debug)]
pub(crate) struct Live {
    pub(super) directory: PathBuf,
    pub(super) tools_url: String,
    inner: Mutex<Inner>,
    /// Wakes the driver: there is a task.
    pub(super) wake: Notify,
    /// Whether its end is kept, and another process may go on with it.
    pub(super) left: watch::Sender<bool>,
}

/// One thing that the driver has to do.
#[derive(Debug)]
pub(super) enum Task {
    /// What the machine asked for.
    Effect(Effect),
    /// An answer of a person.
    Answer(QuestionKey, Choice),
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) session: AgentSession,
    pub(super) state: SessionState,
    pub(super) transcript: Transcript,
    /// The adapter's names of open questions, by their entry.
    pub(super) questions: HashMap<u32, QuestionKey>,
    pub(super) tasks: VecDeque<Task>,
    /// The prompt that the agent gets next.
    pub(super) prompt: Option<String>,
    /// Whether a turn has begun whose end is not in the transcript.
    pub(super) in_turn: bool,
    pub(super) server: ToolServer,
    pub(super) secrets: Scrubber,
    outbox: Outbox,
}

/// Changes that listeners have not heard of.
#[derive(Debug, Default)]
struct Outbox {
    entries: Vec<Change>,
    session: bool,
    usage: bool,
    /// More changed than is told: listeners have to read everything again.
    overflow: bool,
}

impl Live {
    pub(super) fn new(
        session: AgentSession,
        transcript: Transcript,
        server: ToolServer,
        directory: PathBuf,
        tools_url: String,
    ) -> Arc<Self> {
        let inner = Inner {
            session,
            state: SessionState::Starting,
            transcript,
            questions: HashMap::new(),
            tasks: VecDeque::new(),
            prompt: None,
            in_turn: false,
            server,
            secrets: Scrubber::new([]),
            outbox: Outbox::default(),
        };
        let (inner, wake) = (Mutex::new(inner), Notify::new());
        Arc::new(Self { directory, tools_url, inner, wake, left: watch::Sender::new(false) })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn project(&self) -> ProjectId {
        self.lock().session.project_id.clone()
    }
}

impl Inner {
    /// Takes a signal: moves on, and leaves the driver what is to be done.
    pub(super) fn take(&mut self, signal: Signal, now: Timestamp) -> Result<(), Rejected> {
        let (next, effects) = step(self.state, signal)?;
        self.state = next;
        self.tasks.extend(effects.iter().copied().map(Task::Effect));
        self.session.status = next.status();
        self.session.updated_at = now;
        self.note_session();
        Ok(())
    }

    pub(super) fn note(&mut self, change: Change) {
        let outbox = &mut self.outbox;
        let number = number_of(change);
        match outbox.entries.iter().position(|known| number_of(*known) == number) {
            // What was added is part of what is told of the entry anyway.
            Some(_) if matches!(change, Change::Grew { .. }) => {}
            Some(index) => outbox.entries[index] = change,
            None if AGENT_BUNDLE.allows(outbox.entries.len() + 1) => outbox.entries.push(change),
            None => outbox.overflow = true,
        }
    }

    pub(super) fn note_session(&mut self) {
        self.outbox.session = true;
    }

    pub(super) fn note_usage(&mut self, usage: Usage) {
        // Some agents tell the cost in one update and the context in another.
        let known = self.session.usage.get_or_insert_default();
        known.context_used = usage.context_used.or(known.context_used);
        known.context_size = usage.context_size.or(known.context_size);
        known.cost = usage.cost.or_else(|| known.cost.take());
        self.outbox.usage = true;
    }

    pub(super) fn has_news(&self) -> bool {
        let Outbox { entries, session, usage, overflow } = &self.outbox;
        !entries.is_empty() || *session || *usage || *overflow
    }

    /// Tells listeners what changed since the last time. The session's lock is held: the numbers of
    /// changes go up in the order in which they are published.
    pub(super) fn flush(&mut self, events: &dyn EventSink) {
        let Outbox { entries, session, usage, overflow } = std::mem::take(&mut self.outbox);
        if overflow {
            // A gap in the numbers says that there is more than was told.
            self.session.changes += 1;
            self.publish(events, AgentChange::Session { session: self.told() });
            return;
        }
        for change in entries {
            if let Some(change) = self.change(change) {
                self.publish(events, change);
            }
        }
        if session {
            self.publish(events, AgentChange::Session { session: self.told() });
        } else if usage {
            let usage = self.session.usage.clone().unwrap_or_default();
            self.publish(events, AgentChange::Usage { usage });
        }
    }

    /// Returns the session as listeners are told of it: the number is that of this very change.
    fn told(&self) -> AgentSession {
        AgentSession { changes: self.session.changes + 1, ..self.session.clone() }
    }

    fn publish(&mut self, events: &dyn EventSink, what: AgentChange) {
        self.session.changes += 1;
        events.publish(Event::Agent(Box::new(AgentEvent {
            project_id: self.session.project_id.clone(),
            session_id: self.session.id.clone(),
            change: self.session.changes,
            what,
        })));
    }

    fn change(&self, change: Change) -> Option<AgentChange> {
        let entry = self.transcript.entry(number_of(change))?;
        if let (Change::Grew { number, from }, Content::Text(text)) = (change, &entry.content) {
            let added = text.text.get(from..).unwrap_or_default();
            let text = self.secrets.scrub_text(added).unwrap_or_else(|| added.to_owned());
            let Content::Text(whole) = &entry.content else { return None };
            return Some(AgentChange::Words { number, speaker: whole.speaker, text });
        }
        let mut entry = entry.clone();
        entry.content = entry.content.redacted(&self.secrets);
        Some(AgentChange::Entry { entry })
    }
}

fn number_of(change: Change) -> u32 {
    match change {
        Change::Grew { number, .. } | Change::Entry(number) => number,
    }
}
