//! One conversation at a terminal: what the agent says, what the person types, what is asked.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use od_client::{CallError, Client, EventReader};
use od_core::agent::{
    Choice, Content, Entry, Permission, Reply, SessionStatus, Speaker, ToolStatus, TurnOutcome,
    choose,
};
use od_core::error::ErrorCode;
use od_core::event::{AgentChange, Event};
use od_core::ids::ProjectId;
use od_wire::Empty;
use od_wire::agent::{AgentSessionAnswer, AgentTranscriptAnswer, AnswerPermission, PromptAgent};
use od_wire::event::StreamEvent;
use od_wire::route::Operation;
use rustix::termios::{QueueSelector, tcflush};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::verb::shown;
use crate::output::{CommandError, escape};

/// One conversation at a terminal.
pub(super) struct Conversation<'c> {
    pub(super) client: &'c Client,
    pub(super) follower: &'c Client,
    pub(super) project: ProjectId,
    pub(super) id: String,
    pub(super) events: EventReader,
    pub(super) last_event: Option<String>,
    pub(super) view: View,
    /// The question that the person is asked.
    pub(super) asking: Option<Asking>,
    pub(super) can_ask: bool,
    pub(super) is_quiet: bool,
}

/// What is on the terminal.
pub(super) struct View {
    pub(super) change: u64,
    /// The bytes of each entry's text that were printed; of other entries, what was said of them.
    pub(super) printed: BTreeMap<u32, usize>,
    pub(super) status: SessionStatus,
    /// Whether the agent may have asked something, or been answered, since the questions were last read.
    pub(super) has_questions: bool,
}

/// A question on the terminal that waits for its answer.
pub(super) struct Asking {
    number: u32,
    choices: Vec<Choice>,
    since: Instant,
}

impl View {
    pub(super) fn skip(&mut self, entries: &[Entry]) {
        self.printed = entries.iter().map(|entry| (entry.number, usize::MAX)).collect();
    }
}

impl Conversation<'_> {
    pub(super) async fn run(&mut self, mut has_prompt: bool) -> Result<(), CommandError> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                let message = format!("cannot listen for signals: {error}");
                CommandError::new(ErrorCode::Internal, message)
            })
        };
        let mut interrupts = listen(SignalKind::interrupt())?;
        // A terminal that is closed ends the chat in order: its agent would go on running, and a third
        // such one would leave no room for another chat.
        let mut hangups = listen(SignalKind::hangup())?;
        let mut terminations = listen(SignalKind::terminate())?;
        let mut lines = self.can_ask.then(read_lines);
        self.catch_up().await?;
        let mut is_marked = false;
        loop {
            if has_prompt && !is_busy(self.view.status) {
                has_prompt = false;
                if !self.can_ask {
                    return Ok(());
                }
                say("\n");
            }
            let waits = !is_busy(self.view.status);
            if waits && self.can_ask && !is_marked {
                say("> ");
            }
            is_marked = waits;
            let listens = self.can_ask && (waits || self.asking.is_some());
            tokio::select! {
                event = self.events.next() => self.take(event).await?,
                _ = interrupts.recv() => {
                    if waits {
                        say("\n");
                        return Ok(());
                    }
                    // Also while something is asked: that is when a person wants to stop most.
                    self.asking = None;
                    self.stop().await?;
                }
                _ = hangups.recv() => return Ok(()),
                _ = terminations.recv() => return Ok(()),
                typed = next_line(&mut lines), if listens => match (typed, self.asking.take()) {
                    (None, _) => return Ok(()),
                    (Some(typed), Some(asking)) => self.reply(asking, &typed).await?,
                    (Some(Typed { line, .. }), None) => {
                        is_marked = false;
                        if !line.trim().is_empty() {
                            self.prompt(&line).await?;
                            has_prompt = true;
                        }
                    }
                },
            }
            self.ask().await?;
        }
    }

    pub(super) async fn prompt(&mut self, text: &str) -> Result<(), CommandError> {
        let call = self.client.call(Operation::PromptAgent).parameter(&self.id);
        let answer = call.json(&PromptAgent { text: text.to_owned() })?.send().await;
        let AgentSessionAnswer { session } = answer?;
        self.view.status = session.status;
        Ok(())
    }

    pub(super) async fn stop(&mut self) -> Result<(), CommandError> {
        say("\nstopping…\n");
        let call = self.client.call(Operation::CancelAgent).parameter(&self.id).json(&Empty {})?;
        match call.send::<AgentSessionAnswer>().await {
            // It ended in this very moment.
            Ok(_) | Err(CallError::Refused { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn take(
        &mut self,
        event: Result<Option<od_client::ReceivedEvent>, CallError>,
    ) -> Result<(), CommandError> {
        let Ok(Some(received)) = event else {
            // A stream ends with the token it was opened with; the next goes on where it was.
            let after = self.last_event.as_deref();
            self.events = self.follower.follow(Some(self.project.as_str()), after).await?;
            return self.catch_up().await;
        };
        self.last_event = Some(received.id);
        let StreamEvent::Happened(Event::Agent(event)) = received.event else { return Ok(()) };
        if event.session_id.as_str() != self.id || event.change <= self.view.change {
            return Ok(());
        }
        if event.change > self.view.change + 1 {
            return self.catch_up().await;
        }
        self.view.change = event.change;
        match event.what {
            AgentChange::Session { session } => self.view.status = session.status,
            AgentChange::Words { number, speaker, text } => {
                let printed = self.view.printed.entry(number).or_default();
                *printed = printed.saturating_add(text.len());
                self.words(speaker, &text);
            }
            AgentChange::Entry { entry } => {
                self.view.has_questions |= matches!(entry.content, Content::Permission(_));
                self.entry(&entry);
            }
            AgentChange::Usage { .. } => {}
        }
        Ok(())
    }

    /// Prints what there is and is not on the terminal yet.
    async fn catch_up(&mut self) -> Result<(), CommandError> {
        let AgentTranscriptAnswer { session, entries } = shown(self.client, &self.id).await?;
        self.view.change = session.changes;
        self.view.status = session.status;
        self.view.has_questions = true;
        for entry in &entries {
            self.entry(entry);
        }
        Ok(())
    }

    fn words(&self, speaker: Speaker, text: &str) {
        match speaker {
            Speaker::Agent if !self.is_quiet => say(&escaped(text)),
            // The person's own words stand there already; thoughts are in the console.
            Speaker::Agent | Speaker::Person | Speaker::Thought => {}
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let printed = self.view.printed.get(&entry.number).copied().unwrap_or_default();
        let mark = match &entry.content {
            Content::Text(text) => {
                let rest = text.text.get(printed.min(text.text.len())..).unwrap_or_default();
                if printed == 0 && text.speaker == Speaker::Agent && !self.is_quiet {
                    say("\n");
                }
                self.words(text.speaker, rest);
                text.text.len().max(printed)
            }
            Content::Tool(call) => {
                let mark = match call.status {
                    ToolStatus::Pending | ToolStatus::InProgress => 1,
                    ToolStatus::Completed | ToolStatus::Failed => 2,
                };
                if mark > printed {
                    self.remark(&format!("· {} ({})", call.title, call.status));
                }
                mark.max(printed)
            }
            Content::Problem(problem) if printed == 0 => {
                let fix = problem.suggestion.as_deref().unwrap_or_default();
                self.remark(&format!("! {} {fix}", problem.message));
                1
            }
            Content::TurnEnd(end) if printed == 0 => {
                self.remark(match end.outcome {
                    TurnOutcome::Cancelled => "· stopped; no program of the agent is left",
                    TurnOutcome::Refused => "· the model refused",
                    TurnOutcome::Limit => "· the agent reached a limit of its own",
                    TurnOutcome::Interrupted => "· interrupted",
                });
                1
            }
            Content::Problem(_) | Content::TurnEnd(_) => printed,
            Content::Plan(_) | Content::Permission(_) => printed,
        };
        self.view.printed.insert(entry.number, mark);
    }

    fn remark(&self, words: &str) {
        if !self.is_quiet {
            say(&format!("\n{}\n", escape(words)));
        }
    }

    /// Puts what the agent asks to the person, one question at a time. Where nobody can be asked, the
    /// answer is no.
    async fn ask(&mut self) -> Result<(), CommandError> {
        if self.view.status != SessionStatus::Working {
            self.asking = None;
            return Ok(());
        }
        if !std::mem::take(&mut self.view.has_questions) {
            return Ok(());
        }
        let AgentTranscriptAnswer { entries, .. } = shown(self.client, &self.id).await?;
        let open = entries.iter().filter_map(|entry| match &entry.content {
            Content::Permission(asked @ Permission { answer: None, .. }) => {
                Some((entry.number, asked))
            }
            Content::Permission(_)
            | Content::Text(_)
            | Content::Tool(_)
            | Content::Plan(_)
            | Content::Problem(_)
            | Content::TurnEnd(_) => None,
        });
        let open: Vec<(u32, &Permission)> = open.collect();
        if !self.can_ask {
            for (number, asked) in open {
                self.remark(&format!("refused, nobody can be asked: {}", asked.call.title));
                if let Some(no) = choose(Reply::Reject, &asked.choices).cloned() {
                    self.send_answer(number, no).await?;
                }
            }
            return Ok(());
        }
        let is_open = |asking: &Asking| open.iter().any(|(number, _)| *number == asking.number);
        if self.asking.as_ref().is_some_and(|asking| !is_open(asking)) {
            self.asking = None;
            say("\n(answered in the console)\n");
        }
        if self.asking.is_none()
            && let Some((number, asked)) = open.first()
        {
            self.asking = Some(put(*number, asked));
        }
        Ok(())
    }

    /// Takes what was typed as the answer to a question.
    async fn reply(&mut self, asking: Asking, typed: &Typed) -> Result<(), CommandError> {
        let Asking { number, choices, since } = &asking;
        let line = typed.line.trim();
        let chosen = match line {
            _ if typed.at < *since => {
                say("(typed before the question, not taken)\n");
                None
            }
            "y" | "yes" => choose(Reply::Allow, choices).cloned(),
            "n" | "no" => choose(Reply::Reject, choices).cloned(),
            _ => line.parse::<usize>().ok().and_then(|n| choices.get(n.checked_sub(1)?).cloned()),
        };
        match chosen {
            Some(choice) => {
                self.send_answer(*number, choice).await?;
                self.view.has_questions = true;
            }
            None => {
                say(ANSWERS);
                self.asking = Some(asking);
            }
        }
        Ok(())
    }

    async fn send_answer(&self, question: u32, choice: Choice) -> Result<(), CommandError> {
        let call = self.client.call(Operation::AnswerPermission);
        let call = call.parameter(&self.id).parameter(question);
        match call.json(&AnswerPermission { choice: choice.id })?.send::<AgentSessionAnswer>().await
        {
            // Answered in the console, or stopped meanwhile.
            Ok(_) | Err(CallError::Refused { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The question at the end of what is asked.
const ANSWERS: &str = "y, n or a number: ";

/// Shows what an agent asks, with the input as it would run.
fn put(number: u32, asked: &Permission) -> Asking {
    let input = asked.call.input.as_deref().unwrap_or("(the agent shows no input)");
    let cut = if asked.input_cut { "\n(the rest is not shown)" } else { "" };
    say(&format!("\nThe agent asks: {}\n{}{cut}\n", escape(&asked.call.title), escaped(input)));
    for (index, choice) in asked.choices.iter().enumerate() {
        say(&format!("  {}  {} ({})\n", index + 1, escape(&choice.name), choice.kind));
    }
    // What was typed before the question was there answers nothing: words of the agent can look
    // like a question, and the real one, five seconds later, would have taken the answer to it.
    let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    say(ANSWERS);
    Asking { number, choices: asked.choices.clone(), since: Instant::now() }
}

fn is_busy(status: SessionStatus) -> bool {
    match status {
        SessionStatus::Starting | SessionStatus::Working | SessionStatus::Stopping => true,
        SessionStatus::Idle
        | SessionStatus::Stopped
        | SessionStatus::Interrupted
        | SessionStatus::Closed
        | SessionStatus::Failed => false,
    }
}

/// A line that the person typed, and when it was read.
struct Typed {
    line: String,
    at: Instant,
}

/// Lines that the person types.
type Lines = mpsc::Receiver<Typed>;

/// Reads lines in a thread of their own: a read of a terminal cannot be given up.
fn read_lines() -> Lines {
    let (send, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if send.blocking_send(Typed { line, at: Instant::now() }).is_err() {
                return;
            }
        }
    });
    lines
}

async fn next_line(lines: &mut Option<Lines>) -> Option<Typed> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}

/// Escapes a text of several lines: its line breaks are its own.
fn escaped(text: &str) -> String {
    text.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

/// Writes to the terminal at once.
pub(super) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody reads: then nobody is told.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
