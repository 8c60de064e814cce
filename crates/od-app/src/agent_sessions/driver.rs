//! Drives one session: starts its agent, listens to it, and ends it.

use std::sync::Arc;
use std::time::Duration;

use od_core::agent::{
    Answerer, Change, Choice, Effect, Reply, SessionState, Signal, ToolUpdate, TurnOutcome, Update,
    choose, cut_bytes, decide,
};
use od_core::credential::redact_text;
use od_core::limits::{
    AGENT_CANCEL, AGENT_FLUSH, AGENT_SAVE, AGENT_TITLE, AGENT_TOOL_TEXT, RUN_LEASE, cut,
};
use od_ports::agents::{AgentProcess, AgentSignal, QuestionKey, Turn};
use tokio::time::{Instant, sleep_until};

use super::live::{Live, Task};
use crate::{App, Caller, runs};

/// Drives one session until its agent is gone. Whoever opened the session has to run it.
#[derive(Debug)]
#[must_use = "a session whose driver does not run stays where it is"]
pub struct Driver {
    pub(super) live: Arc<Live>,
}

/// When what is due that no agent says.
struct Deadlines {
    flush: Option<Instant>,
    flushed: Instant,
    save: Option<Instant>,
    overdue: Option<Instant>,
    renew: Instant,
}

impl Driver {
    /// Runs the session. Returns once no process of its agent is left and its end is kept.
    pub async fn run(self, app: &App) {
        let process = match self.start(app).await {
            Ok(process) => Some(process),
            Err((error, process)) => {
                if let Some(process) = process {
                    process.stop().await;
                }
                self.failed(app, &error);
                None
            }
        };
        if let Some(process) = process {
            self.listen(app, process.as_ref()).await;
        }
        self.save(app).await;
        let id = self.live.lock().session.id.clone();
        app.agent_sessions.leave(&id);
        self.live.left.send_replace(true);
    }

    /// Listens to the agent until it is gone.
    async fn listen(&self, app: &App, process: &dyn AgentProcess) {
        let now = Instant::now();
        let lease = RUN_LEASE.duration() / 3;
        let mut due = Deadlines {
            flush: None,
            // Long enough ago: the first word is told at once.
            flushed: now.checked_sub(AGENT_FLUSH.duration()).unwrap_or(now),
            save: None,
            overdue: None,
            renew: now + lease,
        };
        loop {
            self.perform(app, process, &mut due).await;
            self.tell(app, &mut due);
            if matches!(self.live.lock().state, SessionState::Over(_)) {
                return;
            }
            let next = [due.flush, due.save, due.overdue, Some(due.renew)];
            let next = next.into_iter().flatten().min().unwrap_or(due.renew);
            tokio::select! {
                signal = process.next() => {
                    self.hear(app, process, signal).await;
                    due.save.get_or_insert_with(|| Instant::now() + AGENT_SAVE.duration());
                }
                () = self.live.wake.notified() => {}
                () = sleep_until(next) => self.on_time(app, &mut due, lease).await,
            }
        }
    }

    async fn on_time(&self, app: &App, due: &mut Deadlines, lease: Duration) {
        let now = Instant::now();
        if due.save.is_some_and(|at| at <= now) {
            due.save = None;
            self.save_entries(app).await;
            self.keep(app).await;
        }
        if due.overdue.is_some_and(|at| at <= now) {
            due.overdue = None;
            // Rejected only where the turn has ended after all.
            let _ = self.live.lock().take(Signal::Overdue, app.ports.clock.now());
        }
        if due.renew <= now {
            due.renew = now + lease;
            let run = self.live.lock().session.run_id.clone();
            if let Some(run) = run {
                // A run that is over for good makes od's tools refuse; the conversation goes on.
                let _ = runs::renew(app, &Caller::Person, run).await;
            }
        }
    }

    /// Does what the machine and people asked for, in their order.
    async fn perform(&self, app: &App, process: &dyn AgentProcess, due: &mut Deadlines) {
        loop {
            let Some(task) = self.live.lock().tasks.pop_front() else { return };
            match task {
                Task::Answer(key, choice) => {
                    let _ = process.answer(key, Some(choice)).await;
                }
                Task::Effect(Effect::SendPrompt) => {
                    let prompt = self.live.lock().prompt.take();
                    if let Some(prompt) = prompt {
                        // An agent that is gone says so by its next signal.
                        let _ = process.prompt(&prompt).await;
                    }
                }
                Task::Effect(Effect::CancelPermissions) => self.cancel_questions(process).await,
                Task::Effect(Effect::CancelTurn) => {
                    due.overdue = Some(Instant::now() + AGENT_CANCEL.duration());
                    let _ = process.cancel().await;
                }
                Task::Effect(Effect::EndProcess) => {
                    due.overdue = None;
                    process.stop().await;
                    // Before anybody hears of it: who is told "stopped" knows the token to be dead.
                    self.end_run(app).await;
                    self.gone(app, "");
                }
                Task::Effect(Effect::EndRun) => self.end_run(app).await,
            }
        }
    }

    async fn cancel_questions(&self, process: &dyn AgentProcess) {
        let keys: Vec<QuestionKey> = {
            let mut inner = self.live.lock();
            for number in inner.transcript.cancel_pending() {
                inner.note(Change::Entry(number));
            }
            inner.questions.drain().map(|(_, key)| key).collect()
        };
        for key in keys {
            let _ = process.answer(key, None).await;
        }
    }

    async fn hear(&self, app: &App, process: &dyn AgentProcess, signal: AgentSignal) {
        match signal {
            AgentSignal::Updated(update) => self.fold(app, update),
            AgentSignal::Asked { key, call, tool, choices } => {
                if let Some(answer) = self.ask(key, call, tool.as_deref(), choices) {
                    let _ = process.answer(key, answer).await;
                }
            }
            AgentSignal::TurnEnded(turn) => self.turn_ended(app, turn),
            AgentSignal::Gone { last_words } => self.gone(app, &last_words),
        }
    }

    fn fold(&self, app: &App, update: Update) {
        let mut inner = self.live.lock();
        let change = match update {
            Update::Words { speaker, message, text } => {
                inner.transcript.words(speaker, message, &text)
            }
            Update::Tool(update) => Some(inner.transcript.tool(update)),
            Update::Plan(steps) => Some(inner.transcript.plan(steps)),
            Update::Usage(usage) => {
                inner.note_usage(usage);
                None
            }
            Update::Title(title) => {
                drop(inner);
                self.title(app, &title);
                return;
            }
        };
        if let Some(change) = change {
            inner.note(change);
        }
    }

    pub(super) fn title(&self, app: &App, title: &str) {
        let mut inner = self.live.lock();
        // Before the cut: half a secret is not recognised any more.
        let scrubbed = inner.secrets.scrub_text(title);
        let title = redact_text(scrubbed.as_deref().unwrap_or(title));
        let title = cut(title.trim().to_owned(), AGENT_TITLE);
        if !title.is_empty() && inner.session.title != title {
            inner.session.title = title;
            inner.session.updated_at = app.ports.clock.now();
            inner.note_session();
        }
    }

    /// Asks the person; or returns the answer, where the policy has one or nobody can be asked.
    fn ask(
        &self,
        key: QuestionKey,
        call: ToolUpdate,
        tool: Option<&str>,
        choices: Vec<Choice>,
    ) -> Option<Option<Choice>> {
        let mut inner = self.live.lock();
        if inner.state != SessionState::Working {
            return Some(None);
        }
        if let Some(choice) = decide(&inner.server, tool, &choices).cloned() {
            // The call is shown like any other; only the question is not.
            let change = inner.transcript.tool(call);
            inner.note(change);
            return Some(Some(choice));
        }
        let no = choose(Reply::Reject, &choices).cloned();
        match inner.transcript.ask(call, choices) {
            Ok(number) => {
                inner.questions.insert(number, key);
                inner.note(Change::Entry(number));
                None
            }
            Err(_) => Some(no),
        }
    }

    fn turn_ended(&self, app: &App, turn: Turn) {
        let mut inner = self.live.lock();
        let is_stopping = matches!(inner.state, SessionState::Stopping(_));
        if inner.take(Signal::TurnEnded, app.ports.clock.now()).is_err() || is_stopping {
            // The end of a stopped turn is told once the process is gone.
            return;
        }
        inner.in_turn = false;
        let outcome = match turn {
            Turn::Finished => None,
            Turn::Ended(outcome) => Some(outcome),
            Turn::Failed(error) => {
                let change = inner.transcript.problem(&error.to_string(), Some(error.suggestion()));
                inner.note(change);
                None
            }
        };
        for change in inner.transcript.end_turn(outcome) {
            inner.note(change);
        }
    }

    fn gone(&self, app: &App, last_words: &str) {
        let mut inner = self.live.lock();
        let was_asked = matches!(inner.state, SessionState::Stopping(_));
        if inner.take(Signal::Gone, app.ports.clock.now()).is_err() {
            return;
        }
        if !was_asked {
            let (last_words, _) = cut_bytes(last_words.trim(), AGENT_TOOL_TEXT.max());
            let message = match last_words.as_str() {
                "" => "the agent ended".to_owned(),
                words => format!("the agent ended: {words}"),
            };
            let suggestion = "ask again: the chat goes on in a new process".to_owned();
            let change = inner.transcript.problem(&message, Some(suggestion));
            inner.note(change);
        }
        for number in inner.transcript.cancel_pending() {
            inner.note(Change::Entry(number));
        }
        if inner.in_turn {
            inner.in_turn = false;
            let outcome = if was_asked { TurnOutcome::Cancelled } else { TurnOutcome::Interrupted };
            for change in inner.transcript.end_turn(Some(outcome)) {
                inner.note(change);
            }
        }
    }

    async fn end_run(&self, app: &App) {
        let run = self.live.lock().session.run_id.clone();
        if let Some(run) = run {
            // Its lease ends it if the store cannot.
            let _ = runs::end(app, &Caller::Person, run).await;
        }
    }

    /// Tells listeners what changed: at once after a pause, and in bundles while much does.
    fn tell(&self, app: &App, due: &mut Deadlines) {
        let mut inner = self.live.lock();
        if !inner.has_news() {
            due.flush = None;
            return;
        }
        let now = Instant::now();
        let at = due.flushed + AGENT_FLUSH.duration();
        if at <= now {
            inner.flush(app.ports.events.as_ref());
            due.flushed = now;
            due.flush = None;
        } else {
            due.flush = Some(at);
        }
    }

    async fn save_entries(&self, app: &App) {
        let (project, id, entries) = {
            let mut inner = self.live.lock();
            let unsaved = inner.transcript.take_unsaved();
            let entries: Vec<_> = unsaved
                .into_iter()
                .map(|mut entry| {
                    entry.content = entry.content.redacted(&inner.secrets);
                    entry
                })
                .collect();
            (inner.session.project_id.clone(), inner.session.id.clone(), entries)
        };
        if !entries.is_empty() {
            // A full disk does not end a conversation; its history lacks what could not be kept.
            let _ = app.ports.agent_sessions.append(&project, &id, &entries).await;
        }
    }

    pub(super) async fn keep(&self, app: &App) {
        let session = self.live.lock().session.clone();
        let _ = app.ports.agent_sessions.put(&session).await;
    }

    /// Does what an end leaves to do, and keeps it.
    async fn save(&self, app: &App) {
        let tasks: Vec<Task> = self.live.lock().tasks.drain(..).collect();
        for task in tasks {
            match task {
                Task::Effect(Effect::EndRun) => self.end_run(app).await,
                Task::Effect(
                    Effect::SendPrompt
                    | Effect::CancelPermissions
                    | Effect::CancelTurn
                    | Effect::EndProcess,
                )
                | Task::Answer(..) => {}
            }
        }
        self.live.lock().flush(app.ports.events.as_ref());
        self.save_entries(app).await;
        self.keep(app).await;
    }
}

/// The one who answers through a door.
pub(super) const PERSON: Answerer = Answerer::Person;
