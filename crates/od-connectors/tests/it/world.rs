//! A whole daemon without its doors: real store, files, vault and connectors in a temporary place.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_app::refresh::run::{Cause, RefreshError, Refreshed, RunRefresh};
use od_app::{App, Caller, Mode, refresh};
use od_connectors::{
    Fence, Git, GitHub, GitHubConfig, HttpConnector, ProjectFilesConnector, PrometheusConnector,
    ServiceClient,
};
use od_core::artifact::{ArtifactState, Author, Source, SourcePin};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::json::{BoundedObject, Value};
use od_core::ledger::CommitKind;
use od_core::refresh::RefreshRecord;
use od_fs::{
    DataDir, DiskProjectFiles, FileArtifactStore, FileProjectRegistry, FileServiceRegistry,
    FileTokenAuthority, FileVault, SystemEntropy,
};
use od_ports::contract::sample;
use od_ports::fakes::{MemoryEvents, MemoryRunStore};
use od_ports::project_registry::{Project, ProjectRegistry as _};
use od_ports::system::Clock;
use od_ports::{CredentialVault, Ports, ServiceRegistry};
use serde_json::json;
use tempfile::TempDir;

use crate::scripted::ScriptedConnector;

/// A clock whose hands a test moves and whose sleeps are real, shortened by a factor.
#[derive(Debug)]
pub(crate) struct TestClock {
    now_ms: AtomicI64,
    divisor: u32,
}

impl TestClock {
    pub(crate) fn advance_ms(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.now_ms.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration / self.divisor).await;
    }
}

pub(crate) struct World {
    place: TempDir,
    pub(crate) app: Arc<App>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) events: Arc<MemoryEvents>,
    pub(crate) script: Arc<ScriptedConnector>,
}

/// The parts of a world that tests vary.
pub(crate) struct Plan {
    pub(crate) github: String,
    /// Sleeps are this many times shorter than asked for.
    pub(crate) hurry: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { github: "http://127.0.0.1:1".to_owned(), hurry: 1 }
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Plan::default()).await
    }

    pub(crate) async fn with(plan: Plan) -> Self {
        Self::at(TempDir::new().unwrap(), plan).await
    }

    /// Makes a second daemon over the same places, as after a restart.
    pub(crate) async fn restarted(self) -> Self {
        let Self { place, app, .. } = self;
        drop(app);
        Self::at(place, Plan::default()).await
    }

    async fn at(place: TempDir, plan: Plan) -> Self {
        let clock =
            Arc::new(TestClock { now_ms: AtomicI64::new(1_777_507_200_000), divisor: plan.hurry });
        let events = Arc::new(MemoryEvents::default());
        let script = Arc::new(ScriptedConnector::default());
        let home = place.path().join("home");
        let data = DataDir::open(&place.path().join("root/store")).unwrap();
        let registry = Arc::new(FileProjectRegistry::new(data.clone()));
        let project = Project {
            id: project(),
            name: "Web".to_owned(),
            root: Some(place.path().join("root")),
            created_at: clock.now(),
            allow_schedules: false,
        };
        if registry.get(&project.id).await.unwrap().is_none() {
            registry.create(project).await.unwrap();
        }
        let files = Arc::new(DiskProjectFiles::new(registry.clone(), data.clone()).closing(&home));
        let fence = Fence::around([home.clone(), data.path().to_path_buf()]);
        let store = Arc::new(FileArtifactStore::open(data, clock.clone()).unwrap());
        let github = GitHub::new(GitHubConfig::new(&plan.github).unwrap(), clock.clone());
        let services: Arc<dyn ServiceRegistry> = Arc::new(FileServiceRegistry::in_home(&home));
        let vault: Arc<dyn CredentialVault> = Arc::new(FileVault::in_home(&home));
        let client = Arc::new(ServiceClient::new(Arc::clone(&services), Arc::clone(&vault)));
        let ports = Ports {
            artifacts: store.clone(),
            refresh_log: store.clone(),
            revisions: store.clone(),
            trash: store.clone(),
            maintenance: store,
            projects: registry,
            files: files.clone(),
            runs: Arc::new(MemoryRunStore::default()),
            clock: clock.clone(),
            entropy: Arc::new(SystemEntropy::new()),
            events: events.clone(),
            connectors: vec![
                Arc::new(ProjectFilesConnector::new(files.clone(), fence.clone())),
                Arc::new(od_sql::SqliteConnector::new(files.clone())),
                Arc::new(Git::new(files, fence)),
                Arc::new(github),
                Arc::new(HttpConnector::new(Arc::clone(&client))),
                Arc::new(PrometheusConnector::new(client, clock.clone())),
                script.clone(),
            ],
            vault,
            queries: Arc::new(od_sql::SqliteEngine),
            services,
            sessions: Arc::new(od_fs::FileConsoleSessions::in_home(&home)),
            agent_catalog: Arc::new(od_ports::fakes::ScriptedAgents::default()),
            agents: Arc::new(od_ports::fakes::ScriptedAgents::default()),
            agent_sessions: Arc::new(od_ports::fakes::MemoryAgentSessions::default()),
            signers: Arc::new(od_fs::FileSignerKeys::in_home(&home)),
            notifier: Arc::new(od_ports::fakes::MemoryNotifier::default()),
            webhooks: Arc::new(od_fs::FileWebhooks::in_home(&home)),
            webhook_sender: Arc::new(od_connectors::HttpWebhookSender::default()),
            tokens: Arc::new(FileTokenAuthority::open(&home, &SystemEntropy::new()).unwrap()),
        };
        Self { place, app: Arc::new(App::new(ports)), clock, events, script }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    /// Everything the daemon could have written to.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn artifact_directory(&self, artifact: &ArtifactId) -> PathBuf {
        self.root().join("store/projects/web/.live-artifacts").join(artifact.as_str())
    }

    /// Adds an artifact with a source, pinned as create would.
    pub(crate) async fn create(&self, number: u32, source: Value) -> ArtifactId {
        self.create_with(number, source, |_| {}).await
    }

    pub(crate) async fn create_with(
        &self,
        number: u32,
        source: Value,
        change: impl FnOnce(&mut ArtifactState),
    ) -> ArtifactId {
        let id = sample::id(number);
        let mut state = sample::state(&project(), &id, "before");
        let source: Source = serde_json::from_value(source).unwrap();
        let pin = self.pin(&source).await;
        state.artifact.source_pin = Some(pin);
        state.artifact.permission_set_by = Some(Author::Agent);
        state.artifact.document.as_mut().unwrap().source_json = Some(source);
        state.provenance.notes = Some("from the agent".to_owned());
        change(&mut state);
        let page = sample::page("before");
        let new = Decision { state, page, ..sample::new(&project(), &id, "before") };
        let note = sample::note(CommitKind::Create);
        self.app.ports.artifacts.create(new, note).await.unwrap();
        id
    }

    async fn pin(&self, source: &Source) -> SourcePin {
        od_app::connectors::check_source(&self.app, &project(), source).await.unwrap()
    }

    pub(crate) async fn refresh(&self, artifact: &ArtifactId) -> Result<Refreshed, RefreshError> {
        refresh::run(&self.app, by_person(artifact), Mode::Commit).await
    }

    pub(crate) async fn records(&self, artifact: &ArtifactId) -> Vec<RefreshRecord> {
        let history = self.app.ports.refresh_log.history(&project(), artifact).await.unwrap();
        assert_eq!(history.broken, None);
        history.records.to_vec()
    }

    /// Returns the last records of refreshes, newest first.
    pub(crate) async fn terminal_records(&self, artifact: &ArtifactId) -> Vec<RefreshRecord> {
        let records = self.records(artifact).await;
        records.into_iter().filter(|record| record.step.is_last()).collect()
    }

    /// Returns the bytes that must not change when a refresh fails.
    pub(crate) async fn generation(&self, artifact: &ArtifactId) -> Vec<(String, Vec<u8>)> {
        // The visible copies of a commit are written when there is time; make that now.
        let directory = self.artifact_directory(artifact);
        let has_frames = || {
            let mut frames = std::fs::read_dir(directory.join("pending")).into_iter().flatten();
            frames.next().is_some() || !directory.join("last-good").exists()
        };
        while has_frames() {
            self.app.ports.maintenance.recover().await.unwrap();
        }
        let names =
            ["artifact.json", "template.html", "data.json", "provenance.json", "index.html"];
        names
            .iter()
            .map(|name| ((*name).to_owned(), std::fs::read(directory.join(name)).unwrap()))
            .collect()
    }

    pub(crate) async fn data(&self, artifact: &ArtifactId) -> Value {
        let stored = self.app.ports.artifacts.load(&project(), artifact).await.unwrap();
        stored.state.as_ref().unwrap().data.value().clone()
    }
}

pub(crate) fn project() -> ProjectId {
    "web".parse().unwrap()
}

pub(crate) fn by_person(artifact: &ArtifactId) -> RunRefresh {
    RunRefresh {
        caller: Caller::Person,
        project: project(),
        artifact: artifact.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    }
}

pub(crate) fn file_source(path: &str) -> Value {
    json!({
        "type": "local_file",
        "input": { "path": path },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

pub(crate) fn script_source() -> Value {
    json!({
        "type": "connector_tool",
        "toolName": "script.list_things",
        "input": {},
        "connector": { "connectorId": "script", "toolName": "script.list_things" },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

pub(crate) fn object(value: Value) -> BoundedObject {
    BoundedObject::check(value).unwrap()
}
