//! A daemon in a process of its own, with one session, that waits to be killed.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use od_agents::AgentsConfig;
use od_app::Caller;
use od_app::agent_sessions::{self, OpenSession};
use od_app::projects::CreateProject;
use od_core::agent::Content;
use od_core::ids::{AgentSessionId, ProjectId};
use od_daemon::{ComposeOptions, LogSink, Port, RunningDaemon, ServeConfig, serve};

/// Serves below a folder, opens a session whose agent forks and hangs, and prints what the agent has said
/// once that is kept: then it can be killed at any moment.
pub(crate) async fn run(words: &[OsString]) -> ExitCode {
    let [path, folder] = words else { return ExitCode::FAILURE };
    match open(path, Path::new(folder)).await {
        Some((_daemon, said)) => {
            let mut out = std::io::stdout();
            let _ = out.write_all(format!("{said}\n").as_bytes()).and_then(|()| out.flush());
            std::future::pending().await
        }
        None => ExitCode::FAILURE,
    }
}

async fn open(path: &OsString, folder: &Path) -> Option<(RunningDaemon, String)> {
    let at = |name: &str| folder.join(name);
    let mut config = ServeConfig::new(at("home"), at("data"));
    config.port = Port::Any;
    config.access_log = LogSink::Off;
    config.options = ComposeOptions {
        agents: AgentsConfig {
            supervisor: None,
            path: Some(path.clone()),
            home: Some(at("agents-home")),
        },
        ..ComposeOptions::default()
    };
    let daemon = serve(config).await.ok()?;
    let project: ProjectId = "web".parse().ok()?;
    let request =
        CreateProject { id: Some(project.clone()), name: "Web".to_owned(), root: Some(at("root")) };
    od_app::projects::create(daemon.app(), &Caller::Person, request).await.ok()?;
    let request = OpenSession {
        project: project.clone(),
        agent: "gemini".parse().ok()?,
        prompt: Some("say kept \nfork\nhang".to_owned()),
        tools_url: format!("{}/mcp", daemon.url()),
    };
    let (session, driver) =
        agent_sessions::open(daemon.app(), &Caller::Person, request).await.ok()?;
    let app = Arc::clone(daemon.app());
    tokio::spawn(async move { driver.run(&app).await });
    let mut tick = tokio::time::interval(Duration::from_millis(50));
    loop {
        tick.tick().await;
        let said = kept(&daemon, &project, &session.id).await;
        if said.matches("pid ").count() == 2 {
            return Some((daemon, said));
        }
    }
}

/// Returns the agent's words as they are on the disk.
async fn kept(daemon: &RunningDaemon, project: &ProjectId, session: &AgentSessionId) -> String {
    let store = &daemon.app().ports.agent_sessions;
    let entries = store.entries(project, session).await.unwrap_or_default();
    let words = entries.into_iter().filter_map(|entry| match entry.content {
        Content::Text(text) => Some(text.text.replace('\n', " ")),
        Content::Tool(_)
        | Content::Plan(_)
        | Content::Permission(_)
        | Content::Problem(_)
        | Content::TurnEnd(_) => None,
    });
    words.collect()
}
