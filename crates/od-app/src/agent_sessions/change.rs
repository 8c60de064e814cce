//! Open a session, prompt its agent, answer what it asks, stop it, close it.

use std::sync::Arc;

use od_core::agent::{
    AgentSession, AnswerError, Change, SessionState, SessionStatus, Signal, Speaker, ToolServer,
    Transcript, title_of,
};
use od_core::ids::{AgentName, AgentSessionId, ProjectId};
use od_core::limits::AGENT_PROMPT;

use super::driver::{Driver, PERSON};
use super::live::{Live, NoRoom, Task};
use super::read::find;
use super::refusal::{ChangeSessionError, OpenSessionError};
use crate::projects;
use crate::{App, Caller};

/// A session to open.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// The project it works in.
    pub project: ProjectId,
    /// The agent.
    pub agent: AgentName,
    /// What it is asked first, if anything yet.
    pub prompt: Option<String>,
    /// Where od's tools are for it.
    pub tools_url: String,
}

/// Opens a session; only a person may. Its agent starts once the driver runs.
///
/// # Errors
///
/// Fails without a trace; an agent that does not start leaves a session that says why.
pub async fn open(
    app: &App,
    caller: &Caller,
    request: OpenSession,
) -> Result<(AgentSession, Driver), OpenSessionError> {
    caller.require_person()?;
    let OpenSession { project, agent, prompt, tools_url } = request;
    if let Some(prompt) = &prompt {
        check_prompt(prompt)?;
    }
    let found = projects::get(app, caller, project.clone()).await?;
    let Some(directory) = found.root else { return Err(OpenSessionError::NoFolder { project }) };
    let (mut entropy, mut server) = ([0; 6], [0; 4]);
    app.ports.entropy.fill(&mut entropy)?;
    app.ports.entropy.fill(&mut server)?;
    let now = app.ports.clock.now();
    let session = AgentSession {
        id: AgentSessionId::generate(entropy),
        project_id: project,
        agent,
        title: title_of(prompt.as_deref().unwrap_or_default()),
        status: SessionStatus::Starting,
        agent_session: None,
        resumable: false,
        run_id: None,
        made: Vec::new(),
        usage: None,
        changes: 0,
        created_at: now,
        updated_at: now,
    };
    let server = ToolServer::generate(server);
    let live = Live::new(session, Transcript::default(), server, directory, tools_url);
    enter(app, &live)?;
    let kept = live.lock().session.clone();
    if let Err(error) = app.ports.agent_sessions.put(&kept).await {
        app.agent_sessions.leave(&kept.id);
        return Err(error.into());
    }
    Ok((begin(app, &live, prompt), Driver { live }))
}

/// A prompt of a person.
#[derive(Clone, Debug)]
pub struct PromptSession {
    /// The session.
    pub session: AgentSessionId,
    /// The prompt.
    pub text: String,
    /// Where od's tools are, for a session whose agent has to be started again.
    pub tools_url: String,
}

/// A session that took a prompt.
#[derive(Debug)]
pub struct Prompted {
    /// As it is now.
    pub session: AgentSession,
    /// To be run, if the agent had to be started again.
    pub driver: Option<Driver>,
}

/// Hands a prompt to the agent; one that is gone is started again, with its conversation.
///
/// # Errors
///
/// Fails while the agent works, and where it cannot go on with the conversation.
pub async fn prompt(
    app: &App,
    caller: &Caller,
    request: PromptSession,
) -> Result<Prompted, OpenSessionError> {
    caller.require_person()?;
    let PromptSession { session, text, tools_url } = request;
    check_prompt(&text)?;
    if let Some(live) = app.agent_sessions.get(&session) {
        let is_over = matches!(live.lock().state, SessionState::Over(_));
        if !is_over {
            let session = prompt_live(app, &live, text)?;
            return Ok(Prompted { session, driver: None });
        }
        // Its end is being kept: the sender lives as long as `live`, so waiting cannot fail.
        let _ = live.left.subscribe().wait_for(|left| *left).await;
    }
    let kept = find(app, caller, &session).await?;
    if kept.agent_session.is_some() && !kept.resumable {
        return Err(OpenSessionError::NotResumable { session });
    }
    let found = projects::get(app, caller, kept.project_id.clone()).await?;
    let Some(directory) = found.root else {
        return Err(OpenSessionError::NoFolder { project: kept.project_id });
    };
    let mut server = [0; 4];
    app.ports.entropy.fill(&mut server)?;
    let entries = app.ports.agent_sessions.entries(&kept.project_id, &session).await?;
    let transcript = Transcript::of(entries);
    let server = ToolServer::generate(server);
    let again = AgentSession { status: SessionStatus::Starting, ..kept };
    let live = Live::new(again, transcript, server, directory, tools_url);
    enter(app, &live)?;
    let session = begin(app, &live, Some(text));
    // Kept by the driver as soon as it has a run: what a crash leaves before that is as it was.
    Ok(Prompted { session, driver: Some(Driver { live }) })
}

/// An answer of a person to a question.
#[derive(Clone, Debug)]
pub struct AnswerQuestion {
    /// The session.
    pub session: AgentSessionId,
    /// The number of the question's entry.
    pub question: u32,
    /// The id of the choice.
    pub choice: String,
}

/// Answers a question of permission, once.
///
/// # Errors
///
/// Fails for a question of another session, one that has an answer, and a choice that is not offered.
pub async fn answer(
    app: &App,
    caller: &Caller,
    request: AnswerQuestion,
) -> Result<AgentSession, ChangeSessionError> {
    caller.require_person()?;
    let AnswerQuestion { session, question, choice } = request;
    let live = live(app, caller, &session).await?;
    let mut inner = live.lock();
    let asked = inner.transcript.entry(question).and_then(|entry| match &entry.content {
        od_core::agent::Content::Permission(asked) => Some(asked),
        od_core::agent::Content::Text(_)
        | od_core::agent::Content::Tool(_)
        | od_core::agent::Content::Plan(_)
        | od_core::agent::Content::Problem(_)
        | od_core::agent::Content::TurnEnd(_) => None,
    });
    let Some(asked) = asked else { return Err(AnswerError::Unknown.into()) };
    let Some(chosen) = asked.choices.iter().find(|offered| offered.id == choice).cloned() else {
        return Err(AnswerError::NoSuchChoice.into());
    };
    inner.transcript.answer(question, PERSON, chosen.clone())?;
    if let Some(key) = inner.questions.remove(&question) {
        inner.tasks.push_back(Task::Answer(key, chosen));
    }
    inner.note(Change::Entry(question));
    inner.flush(app.ports.events.as_ref());
    live.wake.notify_one();
    Ok(inner.session.clone())
}

/// Stops the turn: every program of the agent is gone before the session is said to be stopped.
///
/// # Errors
///
/// Fails if nothing runs that could be stopped.
pub async fn cancel(
    app: &App,
    caller: &Caller,
    session: AgentSessionId,
) -> Result<AgentSession, ChangeSessionError> {
    caller.require_person()?;
    let live = live(app, caller, &session).await?;
    signal(app, &live, Signal::StopAsked)
}

/// Closes a session. One that is over is closed already.
///
/// # Errors
///
/// Fails if there is no such session.
pub async fn close(
    app: &App,
    caller: &Caller,
    session: AgentSessionId,
) -> Result<AgentSession, ChangeSessionError> {
    caller.require_person()?;
    match live(app, caller, &session).await {
        Ok(live) => signal(app, &live, Signal::CloseAsked),
        Err(ChangeSessionError::NotRunning { session }) => Ok(find(app, caller, &session).await?),
        Err(error) => Err(error),
    }
}

/// Ends every agent of this process, without waiting for its turn: the daemon stops.
pub fn close_all(app: &App) {
    for live in app.agent_sessions.all() {
        let now = app.ports.clock.now();
        let mut inner = live.lock();
        // One that is being stopped already is only hurried.
        let _ = inner.take(Signal::CloseAsked, now);
        let _ = inner.take(Signal::Overdue, now);
        live.wake.notify_one();
    }
}

fn signal(app: &App, live: &Live, signal: Signal) -> Result<AgentSession, ChangeSessionError> {
    let mut inner = live.lock();
    inner.take(signal, app.ports.clock.now())?;
    inner.flush(app.ports.events.as_ref());
    live.wake.notify_one();
    Ok(inner.session.clone())
}

fn enter(app: &App, live: &Arc<Live>) -> Result<(), OpenSessionError> {
    app.agent_sessions.enter(live).map_err(|error| match error {
        NoRoom::Full => OpenSessionError::TooMany,
        NoRoom::Running => OpenSessionError::Busy { session: live.lock().session.id.clone() },
    })
}

/// Shows the prompt, and keeps it for the agent until that is ready.
fn begin(app: &App, live: &Live, prompt: Option<String>) -> AgentSession {
    let mut inner = live.lock();
    if let Some(prompt) = prompt {
        say(&mut inner, prompt);
    }
    inner.note_session();
    inner.flush(app.ports.events.as_ref());
    inner.session.clone()
}

fn say(inner: &mut super::live::Inner, prompt: String) {
    inner.transcript.begin_turn();
    if let Some(change) = inner.transcript.words(Speaker::Person, None, &prompt) {
        inner.note(change);
    }
    inner.transcript.begin_turn();
    inner.in_turn = true;
    inner.prompt = Some(prompt);
}

fn prompt_live(app: &App, live: &Live, text: String) -> Result<AgentSession, OpenSessionError> {
    let mut inner = live.lock();
    let session = inner.session.id.clone();
    match inner.state {
        SessionState::Starting if inner.prompt.is_none() => say(&mut inner, text),
        SessionState::Idle => {
            say(&mut inner, text);
            let taken = inner.take(Signal::Prompted, app.ports.clock.now());
            taken.map_err(|_| OpenSessionError::Busy { session })?;
        }
        SessionState::Starting
        | SessionState::Working
        | SessionState::Stopping(_)
        | SessionState::Over(_) => return Err(OpenSessionError::Busy { session }),
    }
    if inner.session.title == title_of("") {
        let title = inner.prompt.as_deref().map(title_of);
        inner.session.title = title.unwrap_or_default();
        inner.note_session();
    }
    inner.flush(app.ports.events.as_ref());
    live.wake.notify_one();
    Ok(inner.session.clone())
}

/// Returns a session with a process; one that has none is at least known.
async fn live(
    app: &App,
    caller: &Caller,
    session: &AgentSessionId,
) -> Result<Arc<Live>, ChangeSessionError> {
    if let Some(live) = app.agent_sessions.get(session)
        && caller.may_see(&live.project())
    {
        return Ok(live);
    }
    find(app, caller, session).await?;
    Err(ChangeSessionError::NotRunning { session: session.clone() })
}

fn check_prompt(prompt: &str) -> Result<(), OpenSessionError> {
    if prompt.trim().is_empty() {
        return Err(OpenSessionError::EmptyPrompt);
    }
    if !AGENT_PROMPT.allows(prompt.len()) {
        return Err(OpenSessionError::LongPrompt { len: prompt.len() });
    }
    Ok(())
}
