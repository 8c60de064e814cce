//! Serving the tools, and the entry with which an agent launches that.

use std::io::IsTerminal;
use std::sync::Arc;

use od_client::{Bearer, Client};
use od_core::error::{ErrorCode, Failure};
use od_daemon::{Answering, McpMessage, McpServer};
use od_mcp::launch::{Agent, Launch};
use od_mcp::{Door, GuidePage, Server};
use serde_json::json;

use super::standing::Standing;
use crate::args::Globals;
use crate::local;
use crate::output::{Answer, CommandError, Sink, Text};
use crate::settings::Settings;
use crate::skills::BUILTIN_FILES;
use crate::verbs::tools;

/// Serves the agent's tools on stdin and stdout until stdin closes.
///
/// Without a project, a token or a daemon it still serves: each call then says what to do.
pub(crate) async fn serve(
    globals: Globals,
    project: Option<String>,
    sink: Sink,
) -> Result<Answer, CommandError> {
    if std::io::stdin().is_terminal() {
        sink.remark(
            "this speaks MCP on stdin and stdout; `od mcp config --agent NAME` says how an agent starts it",
        );
    }
    // A named project is not the run's, whichever that is.
    let given = if project.is_none() { tools::client().ok() } else { None };
    let given = given.map(|client| client.through(od_core::ledger::Door::Mcp));
    let standing = Arc::new(Standing::new(globals, project, given));
    let door = Door::standing(standing.clone());
    let served = od_mcp::serve(Server::new(door, guide()), tokio::io::stdin(), tokio::io::stdout());
    let served = served.await;
    standing.end().await;
    match served {
        Ok(()) => Ok(Answer::silent()),
        Err(error) => Err(CommandError::new(ErrorCode::BadRequest, error.to_string())
            .suggest("an MCP client starts this program and speaks first")),
    }
}

/// The tools over HTTP: what the daemon of this program answers at `/mcp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpTools;

impl McpServer for HttpTools {
    fn answer<'a>(&'a self, message: McpMessage<'a>) -> Answering<'a> {
        Box::pin(async move {
            let McpMessage { daemon_url, token, body } = message;
            // Through the daemon's own endpoints, as over every other door: there the token's grants are
            // looked at for the very tool that is called.
            let client = Client::new(daemon_url, Bearer::Token(token.to_owned()))
                .map(|client| client.through(od_core::ledger::Door::Mcp))
                .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()));
            Server::new(Door::new(client), guide()).answer(body).await
        })
    }
}

/// Returns the pages of the built-in skill, the skill itself first.
fn guide() -> Vec<GuidePage> {
    let pages = BUILTIN_FILES.iter().filter(|file| file.path.ends_with(".md"));
    let page = |path: &'static str| if path == "SKILL.md" { "" } else { path };
    pages.map(|file| GuidePage { name: page(file.path), text: file.text }).collect()
}

/// Prints how an agent launches the server; writes to no configuration.
pub(crate) async fn config(
    globals: &Globals,
    agent: Agent,
    project: Option<String>,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::new(
            ErrorCode::Internal,
            format!("this program does not know its path: {error}"),
        )
    })?;
    if let Some(named) = &project {
        let settings = Settings::of_process(globals)?;
        if let Some(app) = local::open_existing(&settings)? {
            local::project(&app, &settings, Some(named)).await?;
        }
    }
    // The server finds the same data as this command, whatever the agent hands on to it.
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let variables = ["OD_HOME", "OD_DATA_DIR"].map(|name| Some((name.to_owned(), set(name)?)));
    let launch = Launch::standing(&program.to_string_lossy(), project.as_deref())
        .with_env(variables.into_iter().flatten());
    let text = launch.text(agent);
    sink.remark(&format!("put this into {}; it holds no secret", agent.place()));
    let json = json!({
        "agent": agent.as_str(),
        "place": agent.place(),
        "descriptor": launch.descriptor(agent),
        "text": text,
    });
    Ok(Answer::new(json, Text::new().block(&text)))
}
