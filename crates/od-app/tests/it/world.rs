//! Every port in memory, and the use cases over them.

use std::sync::Arc;

use od_app::App;
use od_app::artifacts::{self, CreateArtifact, Reading};
use od_app::projects::{self, CreateProject};
use od_app::{Caller, Mode, runs};
use od_core::ids::{ArtifactId, ProjectId, RunId};
use od_core::ledger::Door;
use od_ports::Ports;
use od_ports::contract::sample;
use od_ports::fakes::{
    CountingEntropy, EchoQueryEngine, MemoryArtifactStore, MemoryEvents, MemoryNotifier,
    MemoryProjectFiles, MemoryProjectRegistry, MemoryRunStore, MemoryServiceRegistry, MemoryTokens,
    MemoryVault, MemoryWebhooks, PathSender, ScriptedConnector, StillClock,
};
use serde_json::{Value, json};

pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) clock: Arc<StillClock>,
    pub(crate) projects: Arc<MemoryProjectRegistry>,
    pub(crate) files: Arc<MemoryProjectFiles>,
    pub(crate) artifacts: Arc<MemoryArtifactStore>,
    pub(crate) runs: Arc<MemoryRunStore>,
    pub(crate) tokens: Arc<MemoryTokens>,
    pub(crate) events: Arc<MemoryEvents>,
    pub(crate) script: Arc<ScriptedConnector>,
    pub(crate) notifier: Arc<MemoryNotifier>,
    pub(crate) sender: Arc<PathSender>,
}

impl World {
    /// Makes a world in which the project `web` exists and has a root.
    pub(crate) async fn new() -> Self {
        let world = Self::empty();
        world.create_project("web").await;
        world
    }

    /// Makes a world without projects. The store knows `web` and `app`, the registry does not.
    pub(crate) fn empty() -> Self {
        let clock = Arc::new(StillClock::at(sample::now()));
        let projects = Arc::new(MemoryProjectRegistry::default());
        let files = Arc::new(MemoryProjectFiles::new(projects.clone()));
        let artifacts = Arc::new(MemoryArtifactStore::with_projects([id("web"), id("app")]));
        let (runs, tokens) =
            (Arc::new(MemoryRunStore::default()), Arc::new(MemoryTokens::default()));
        let events = Arc::new(MemoryEvents::default());
        let script = Arc::new(ScriptedConnector::default());
        let notifier = Arc::new(MemoryNotifier::default());
        let sender = Arc::new(PathSender::default());
        let app = App::new(Ports {
            artifacts: artifacts.clone(),
            refresh_log: artifacts.clone(),
            revisions: artifacts.clone(),
            trash: artifacts.clone(),
            maintenance: artifacts.clone(),
            projects: projects.clone(),
            files: files.clone(),
            runs: runs.clone(),
            clock: clock.clone(),
            entropy: Arc::new(CountingEntropy::default()),
            events: events.clone(),
            tokens: tokens.clone(),
            connectors: vec![script.clone()],
            vault: Arc::new(MemoryVault::default()),
            queries: Arc::new(EchoQueryEngine),
            services: Arc::new(MemoryServiceRegistry::default()),
            sessions: Arc::new(od_ports::fakes::MemoryConsoleSessions::default()),
            agent_catalog: Arc::new(od_ports::fakes::ScriptedAgents::default()),
            agents: Arc::new(od_ports::fakes::ScriptedAgents::default()),
            agent_sessions: Arc::new(od_ports::fakes::MemoryAgentSessions::default()),
            signers: Arc::new(od_ports::fakes::MemorySignerKeys::default()),
            notifier: notifier.clone(),
            webhooks: Arc::new(MemoryWebhooks::default()),
            webhook_sender: sender.clone(),
        });
        Self {
            app,
            clock,
            projects,
            files,
            artifacts,
            runs,
            tokens,
            events,
            script,
            notifier,
            sender,
        }
    }

    /// Returns the use cases of another process over the same store and the same clock.
    pub(crate) fn another_process(&self) -> App {
        App::new(self.app.ports.clone())
    }

    pub(crate) async fn create_project(&self, name: &str) -> ProjectId {
        let request = CreateProject {
            id: Some(id(name)),
            name: name.to_owned(),
            root: Some("/somewhere".into()),
        };
        projects::create(&self.app, &Caller::Person, request).await.unwrap().id
    }

    /// Creates an artifact in `web` whose source is the scripted connector.
    pub(crate) async fn create_artifact(&self, title: &str) -> ArtifactId {
        let request =
            CreateArtifact { project: id("web"), body: body(title).into(), reading: Reading::Now };
        let created = artifacts::create(&self.app, &Caller::Person, request, Mode::Commit).await;
        created.unwrap_or_else(|err| panic!("{err}: {err:?}")).stored.id.clone()
    }

    pub(crate) async fn start_run(&self) -> runs::StartedRun {
        runs::start(&self.app, &Caller::Person, runs::StartRun { project: id("web"), agent: None })
            .await
            .unwrap()
    }
}

pub(crate) fn body(title: &str) -> Value {
    json!({
        "input": {
            "title": title,
            "document": {
                "dataJson": { "title": title },
                "sourceJson": {
                    "type": "connector_tool",
                    "input": {},
                    "connector": { "connectorId": "script", "toolName": "script.list_things" },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": "<!doctype html><title>T</title><p>{{data.title}}</p>",
    })
}

pub(crate) fn id(name: &str) -> ProjectId {
    name.parse().unwrap()
}

/// The agent of a run in a project.
pub(crate) fn agent(project: &str) -> Caller {
    Caller::Agent { run: RunId::generate([9; 16]), project: id(project), door: Door::ToolShell }
}
