//! `od chat`: a session with the person's own agent, as plain lines.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Read as _};

use od_client::{CallError, Client};
use od_core::agent::{AgentListing, AgentSession, Content};
use od_core::error::ErrorCode;
use od_core::ids::ProjectId;
use od_core::limits::AGENT_PROMPT;
use od_wire::Empty;
use od_wire::agent::{
    AgentSessionAnswer, AgentSessionsAnswer, AgentTranscriptAnswer, AgentsAnswer, OpenAgentSession,
};
use od_wire::route::{Operation, QueryName};
use serde_json::json;

use super::conversation::{Conversation, View, say};
use crate::args::Chat;
use crate::local;
use crate::output::{Answer, CommandError, Sink, Style, Table, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Chats until the person leaves, or answers one prompt where there is no terminal.
pub(crate) async fn chat(
    settings: &Settings,
    args: Chat,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let app = local::open_existing(settings)?;
    let project = match &app {
        Some(app) => local::project(app, settings, args.project.as_deref()).await?,
        None => None,
    };
    let project = project.ok_or_else(|| local::no_project(&settings.directory))?;
    let prompt = match args.prompt.as_deref() {
        Some("-") => Some(read_prompt()?),
        given => given.map(str::to_owned),
    };
    let starting = daemon::ensure(settings, None);
    let daemon = with_progress(sink, "starting the daemon", starting).await?;
    let client = daemon::person_client(settings, &daemon)?;
    if args.list {
        return list(&client, &project.id).await;
    }
    let can_ask = std::io::stdin().is_terminal() && args.prompt.as_deref() != Some("-");
    if prompt.is_none() && !can_ask {
        return Err(CommandError::new(ErrorCode::BadRequest, "there is no prompt")
            .suggest("`od chat PROMPT`, or `od chat -` to read it from standard input"));
    }
    // Before the session is there: nothing it says is missed.
    // On a connection of its own: a client has one, and a stream takes it for as long as it lasts.
    let follower = daemon::person_client(settings, &daemon)?;
    let events = follower.follow(Some(project.id.as_str()), None).await?;
    let session = match &args.resume {
        Some(id) => shown(&client, id).await?.session,
        None => open(&client, &project.id, args.agent.as_deref(), prompt.clone()).await?,
    };
    if !sink.json {
        say(&format!("{} in {}, chat {}\n", session.agent, project.name, session.id));
    }
    let mut chat = Conversation {
        client: &client,
        follower: &follower,
        project: project.id,
        id: session.id.to_string(),
        events,
        last_event: None,
        view: View {
            change: 0,
            printed: BTreeMap::new(),
            status: session.status,
            has_questions: true,
        },
        asking: None,
        can_ask,
        is_quiet: sink.json,
    };
    if args.resume.is_some() {
        chat.view.skip(&shown(&client, &chat.id).await?.entries);
        if let Some(prompt) = &prompt {
            chat.prompt(prompt).await?;
        }
    }
    let has_prompt = prompt.is_some();
    chat.run(has_prompt).await?;
    let closed = client.call(Operation::CloseAgentSession).parameter(&chat.id).json(&Empty {})?;
    let closed: AgentSessionAnswer = closed.send().await?;
    let shown = shown(&client, &chat.id).await?;
    // One prompt without a terminal is a command: what kept the agent from answering is its failure.
    let last = shown.entries.last().map(|entry| &entry.content);
    if let Some(Content::Problem(problem)) = last.filter(|_| !can_ask) {
        let error = CommandError::new(ErrorCode::ProgramUnavailable, problem.message.clone());
        return Err(match &problem.suggestion {
            Some(suggestion) => error.suggest(suggestion.clone()),
            None => error,
        });
    }
    let json = json!({ "session": closed.session, "entries": shown.entries });
    Ok(Answer::new(json, Text::new().line(&format!("chat {} is kept", chat.id))))
}

fn read_prompt() -> Result<String, CommandError> {
    let mut text = String::new();
    let most = AGENT_PROMPT.allowed + 1;
    let read = std::io::stdin().lock().take(most).read_to_string(&mut text);
    read.map(|_| text).map_err(|error| {
        CommandError::new(ErrorCode::BadRequest, format!("the prompt cannot be read: {error}"))
    })
}

async fn list(client: &Client, project: &ProjectId) -> Result<Answer, CommandError> {
    let AgentsAnswer { agents } = client.call(Operation::ListAgents).send().await?;
    let sessions = client.call(Operation::ListAgentSessions).query(QueryName::ProjectId, project);
    let AgentSessionsAnswer { sessions } = sessions.send().await?;
    let mut table = Table::new(&["AGENT", "VERSION", "TESTED", "INSTALL OR LOG IN WITH"]);
    for agent in &agents {
        let version = match (&agent.program, &agent.version) {
            (None, _) => "not installed",
            (Some(_), None) => "installed",
            (Some(_), Some(version)) => version,
        };
        let tested = agent.tested_version.as_deref().unwrap_or("no");
        let line = if agent.program.is_some() { &agent.login } else { &agent.install };
        table.row(&[agent.id.as_str(), version, tested, line].map(|cell| (Style::Plain, cell)));
    }
    let mut chats = Table::new(&["CHAT", "AGENT", "STATE", "TITLE"]);
    for session in &sessions {
        let status = session.status.as_str();
        let cells = [session.id.as_str(), session.agent.as_str(), status, &session.title];
        chats.row(&cells.map(|cell| (Style::Plain, cell)));
    }
    let text = table.lay_out().gap().then(chats.lay_out());
    Ok(Answer::new(json!({ "agents": agents, "sessions": sessions }), text))
}

async fn open(
    client: &Client,
    project: &ProjectId,
    agent: Option<&str>,
    prompt: Option<String>,
) -> Result<AgentSession, CommandError> {
    let agent = match agent {
        Some(name) => name.to_owned(),
        None => {
            let AgentsAnswer { agents } = client.call(Operation::ListAgents).send().await?;
            first_installed(&agents)?.id.to_string()
        }
    };
    let agent = agent.parse().map_err(|_| {
        CommandError::new(ErrorCode::BadRequest, format!("no agent is called `{agent}`"))
            .suggest("`od chat --list` shows them")
    })?;
    let request = OpenAgentSession { project_id: project.clone(), agent, prompt };
    let call = client.call(Operation::OpenAgentSession).json(&request)?;
    let AgentSessionAnswer { session } = call.send().await?;
    Ok(session)
}

fn first_installed(agents: &[AgentListing]) -> Result<&AgentListing, CommandError> {
    agents.iter().find(|agent| agent.program.is_some()).ok_or_else(|| {
        let line = agents.first().map_or("", |agent| agent.install.as_str());
        CommandError::new(ErrorCode::ProgramUnavailable, "no agent is installed")
            .suggest(format!("`od chat --list` shows which there are; `{line}` installs the first"))
    })
}

pub(super) async fn shown(client: &Client, id: &str) -> Result<AgentTranscriptAnswer, CallError> {
    client.call(Operation::ShowAgentSession).parameter(id).send().await
}
