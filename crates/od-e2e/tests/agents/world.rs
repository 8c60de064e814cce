//! A daemon whose only agent is the fake one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use od_agents::AgentsConfig;
use od_app::agent_sessions::{
    self, AnswerQuestion, Driver, OpenSession, OpenedSession, PromptSession,
};
use od_app::projects::CreateProject;
use od_app::{App, Caller};
use od_core::agent::{AgentSession, Content, Entry, SessionStatus, Speaker};
use od_core::ids::{AgentSessionId, ProjectId};
use od_daemon::{ComposeOptions, LogSink, Port, RunningDaemon, ServeConfig, serve};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// The longest that anything here may take; a machine under load is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// The programs of the agents that this machine has; Codex is not installed on it.
const PROGRAMS: [&str; 5] = ["claude-agent-acp", "copilot", "gemini", "opencode", "qwen"];

pub(crate) struct World {
    pub(crate) daemon: RunningDaemon,
    pub(crate) dirs: Arc<TempDir>,
    pub(crate) project: ProjectId,
    driven: Mutex<Vec<JoinHandle<()>>>,
}

/// Returns the fake agent's program.
pub(crate) fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_od-fake-agent"))
}

/// Makes a folder in which the fake agent is the program of a real one.
pub(crate) fn path_with(dirs: &TempDir, names: &[&str]) -> PathBuf {
    let path = dirs.path().join("bin");
    std::fs::create_dir_all(&path).unwrap();
    for name in names {
        std::os::unix::fs::symlink(program(), path.join(name)).unwrap();
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), true).await
    }

    pub(crate) async fn start_in(dirs: Arc<TempDir>, is_new: bool) -> Self {
        let at = |name: &str| dirs.path().join(name);
        let project: ProjectId = "web".parse().unwrap();
        if is_new {
            path_with(&dirs, &PROGRAMS);
            std::fs::create_dir_all(at("agents-home")).unwrap();
            std::fs::create_dir_all(at("root")).unwrap();
        }
        let mut config = ServeConfig::new(at("home"), at("data"));
        config.port = Port::Any;
        config.access_log = LogSink::Off;
        // The system's own programs are found too: `fork` needs them.
        let path = std::env::join_paths([at("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
        config.options = ComposeOptions {
            agents: AgentsConfig {
                supervisor: Some(program()),
                path: Some(path),
                home: Some(at("agents-home")),
            },
            ..ComposeOptions::default()
        };
        let daemon = serve(config).await.unwrap();
        if is_new {
            let request = CreateProject {
                id: Some(project.clone()),
                name: "Web".to_owned(),
                root: Some(at("root")),
            };
            od_app::projects::create(daemon.app(), &Caller::Person, request).await.unwrap();
        }
        Self { daemon, dirs, project, driven: Mutex::default() }
    }

    /// Installs one more program for an agent.
    pub(crate) fn install(&self, name: &str) {
        std::os::unix::fs::symlink(program(), self.dirs.path().join("bin").join(name)).unwrap();
    }

    pub(crate) fn mode(&self, mode: &str) {
        std::fs::write(self.dirs.path().join("agents-home/mode"), mode).unwrap();
    }

    pub(crate) fn app(&self) -> &Arc<App> {
        self.daemon.app()
    }

    pub(crate) fn tools_url(&self) -> String {
        format!("{}/mcp", self.daemon.url())
    }

    fn drive(&self, driver: Driver) {
        let app = Arc::clone(self.app());
        let driven = tokio::spawn(async move { driver.run(&app).await });
        self.driven.lock().unwrap().push(driven);
    }

    /// Stops the daemon, and waits for the sessions as the daemon does for those of its routes.
    pub(crate) async fn end(self) {
        self.daemon.shutdown().await;
        for driven in self.driven.into_inner().unwrap() {
            driven.await.unwrap();
        }
    }

    pub(crate) async fn open(&self, prompt: &str) -> AgentSessionId {
        self.open_with("gemini", prompt).await
    }

    pub(crate) async fn open_with(&self, agent: &str, prompt: &str) -> AgentSessionId {
        let request = OpenSession {
            project: self.project.clone(),
            agent: agent.parse().unwrap(),
            prompt: Some(prompt.to_owned()),
            tools_url: self.tools_url(),
        };
        let opened = agent_sessions::open(self.app(), &Caller::Person, request).await;
        let (session, driver) = opened.unwrap();
        self.drive(driver);
        session.id
    }

    pub(crate) async fn prompt(&self, session: &AgentSessionId, text: &str) {
        let request = PromptSession {
            session: session.clone(),
            text: text.to_owned(),
            tools_url: self.tools_url(),
        };
        let prompted = agent_sessions::prompt(self.app(), &Caller::Person, request).await.unwrap();
        if let Some(driver) = prompted.driver {
            self.drive(driver);
        }
    }

    pub(crate) async fn answer(
        &self,
        session: &AgentSessionId,
        question: u32,
        choice: &str,
    ) -> Result<AgentSession, agent_sessions::ChangeSessionError> {
        let (session, choice) = (session.clone(), choice.to_owned());
        let request = AnswerQuestion { session, question, choice };
        agent_sessions::answer(self.app(), &Caller::Person, request).await
    }

    pub(crate) async fn cancel(&self, session: &AgentSessionId) {
        agent_sessions::cancel(self.app(), &Caller::Person, session.clone()).await.unwrap();
    }

    pub(crate) async fn shown(&self, session: &AgentSessionId) -> OpenedSession {
        agent_sessions::get(self.app(), &Caller::Person, session).await.unwrap()
    }

    /// Waits until the session is as wanted.
    pub(crate) async fn until(
        &self,
        session: &AgentSessionId,
        mut wanted: impl FnMut(&OpenedSession) -> bool,
    ) -> OpenedSession {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        let waiting = async {
            loop {
                let shown = self.shown(session).await;
                if wanted(&shown) {
                    return shown;
                }
                tick.tick().await;
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(shown) => shown,
            Err(_) => panic!("{:#?}", self.shown(session).await),
        }
    }

    pub(crate) async fn until_status(
        &self,
        session: &AgentSessionId,
        status: SessionStatus,
    ) -> OpenedSession {
        self.until(session, |shown| shown.session.status == status).await
    }
}

/// Returns everything the agent said.
pub(crate) fn said(shown: &OpenedSession) -> String {
    let words = shown.entries.iter().filter_map(|entry| match &entry.content {
        Content::Text(text) if text.speaker == Speaker::Agent => Some(text.text.as_str()),
        Content::Text(_)
        | Content::Tool(_)
        | Content::Plan(_)
        | Content::Permission(_)
        | Content::Problem(_)
        | Content::TurnEnd(_) => None,
    });
    words.collect()
}

/// Returns the number of the question that nobody has answered.
pub(crate) fn open_question(shown: &OpenedSession) -> Option<u32> {
    shown.entries.iter().find_map(|Entry { number, content }| match content {
        Content::Permission(asked) if asked.answer.is_none() => Some(*number),
        Content::Permission(_)
        | Content::Text(_)
        | Content::Tool(_)
        | Content::Plan(_)
        | Content::Problem(_)
        | Content::TurnEnd(_) => None,
    })
}

/// Returns the problems that a person is told of.
pub(crate) fn problems(shown: &OpenedSession) -> Vec<String> {
    let problems = shown.entries.iter().filter_map(|entry| match &entry.content {
        Content::Problem(problem) => {
            Some(format!("{} {}", problem.message, problem.suggestion.clone().unwrap_or_default()))
        }
        Content::Permission(_)
        | Content::Text(_)
        | Content::Tool(_)
        | Content::Plan(_)
        | Content::TurnEnd(_) => None,
    });
    problems.collect()
}

/// Returns whether a process runs.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Returns the processes that the agent says it started.
pub(crate) fn started(text: &str) -> Vec<u32> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .windows(2)
        .filter(|pair| pair[0] == "pid")
        .filter_map(|pair| pair[1].parse().ok())
        .collect()
}
