//! A small data directory to break, and the use cases over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use od_app::artifacts::{self, Address, CreateArtifact, Reading, UpdateArtifact};
use od_app::{App, Caller, Mode};
use od_core::error::Failure;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::json::Value;
use od_fs::{
    DataDir, DiskProjectFiles, FileArtifactStore, FileProjectRegistry, FileRunStore,
    FileTokenAuthority, Lane, SystemClock, SystemEntropy,
};
use od_ports::Ports;
use od_ports::fakes::{
    Act, EchoQueryEngine, MemoryEvents, MemoryServiceRegistry, MemoryVault, ScriptedConnector,
};
use od_ports::project_registry::{Project, ProjectRegistry};
use serde_json::json;

/// The artifact that gets hurt.
pub(crate) const SUBJECT: &str = "subject";
/// The one that must not notice.
pub(crate) const BYSTANDER: &str = "bystander";

/// Returns the one project.
pub(crate) fn project() -> ProjectId {
    "p1".parse().expect("a good id")
}

/// Makes a directory of its own for a part of the suite.
pub(crate) fn scratch_in(root: &Path) -> tempfile::TempDir {
    tempfile::Builder::new().prefix("part-").tempdir_in(root).expect("a scratch directory")
}

/// Opens the use cases as whoever checks does: a refresh brings generation `last`.
pub(crate) fn open(data_dir: &Path) -> Result<App, String> {
    open_with(data_dir, Act::Give(data("last")))
}

/// Opens the use cases over a data directory, every call on this thread. The source of every
/// artifact does what `source` says.
pub(crate) fn open_with(data_dir: &Path, source: Act) -> Result<App, String> {
    let home = data_dir.with_extension("home");
    let data_dir = DataDir::open(data_dir).map_err(|err| err.to_string())?;
    let clock = Arc::new(SystemClock);
    let store = FileArtifactStore::open_inline(data_dir.clone(), clock.clone())
        .map_err(|err| err.to_string())?;
    let entropy = Arc::new(SystemEntropy::new());
    let tokens =
        FileTokenAuthority::open(&home, entropy.as_ref()).map_err(|err| err.to_string())?;
    let connector = ScriptedConnector::default();
    connector.set(source);
    let projects = Arc::new(FileProjectRegistry::new(data_dir.clone()).on(Lane::Inline));
    let store = Arc::new(store);
    Ok(App::new(Ports {
        artifacts: store.clone(),
        refresh_log: store.clone(),
        revisions: store.clone(),
        trash: store.clone(),
        maintenance: store,
        files: Arc::new(DiskProjectFiles::new(projects.clone(), data_dir.clone())),
        projects,
        runs: Arc::new(FileRunStore::new(data_dir).on(Lane::Inline)),
        clock,
        entropy,
        events: Arc::new(MemoryEvents::default()),
        tokens: Arc::new(tokens),
        connectors: vec![Arc::new(connector)],
        vault: Arc::new(MemoryVault::default()),
        queries: Arc::new(EchoQueryEngine),
        services: Arc::new(MemoryServiceRegistry::default()),
        sessions: Arc::new(od_ports::fakes::MemoryConsoleSessions::default()),
        agent_catalog: Arc::new(od_ports::fakes::ScriptedAgents::default()),
        agents: Arc::new(od_ports::fakes::ScriptedAgents::default()),
        agent_sessions: Arc::new(od_ports::fakes::MemoryAgentSessions::default()),
        signers: Arc::new(od_ports::fakes::MemorySignerKeys::default()),
        notifier: Arc::new(od_ports::fakes::MemoryNotifier::default()),
        webhooks: Arc::new(od_ports::fakes::MemoryWebhooks::default()),
        webhook_sender: Arc::new(od_ports::fakes::PathSender::default()),
    }))
}

/// Runs a use case to its end. Every port works on the calling thread, so nothing ever waits.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
    }
}

/// Returns a request body in which every part says which generation it is of.
pub(crate) fn body(name: &str, generation: &str) -> Value {
    json!({
        "input": {
            "title": format!("{name} {generation}"),
            "document": {
                "dataJson": data(generation),
                "sourceJson": {
                    "type": "connector_tool",
                    "input": {},
                    "connector": { "connectorId": "script", "toolName": "script.list_things" },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": template(generation),
        "provenanceJson": { "notes": generation, "sources": [] },
    })
}

/// Returns data that says which generation it is of.
pub(crate) fn data(generation: &str) -> Value {
    json!({
        "generation": generation,
        "rows": (0..8).map(|n| json!({ "n": n, "of": generation })).collect::<Vec<_>>(),
    })
}

/// Returns a template that says which generation it is of.
pub(crate) fn template(generation: &str) -> String {
    format!(
        "<!doctype html><title>T</title><h1>template={generation}</h1>\
         <p>data={{{{data.generation}}}}</p>\
         <ul><li data-od-repeat=\"row in data.rows\">{{{{row.of}}}}</li></ul>\n"
    )
}

/// Makes a data directory with the subject and the bystander, both of generation `old`.
pub(crate) fn build(data_dir: &Path) {
    let made = DataDir::open(data_dir).expect("a data directory");
    let registry = FileProjectRegistry::new(made).on(Lane::Inline);
    let created_at = od_core::ids::Timestamp::from_unix_ms(1_777_000_000_000);
    let project = Project {
        id: project(),
        name: "One".to_owned(),
        root: None,
        created_at,
        allow_schedules: false,
    };
    wait(registry.create(project)).expect("a project");
    let app = open(data_dir).expect("the store opens");
    for name in [SUBJECT, BYSTANDER] {
        wait(create(&app, name, "old", None)).expect("a create works");
        let id = find(&app, name).expect("it is listed");
        // A second revision, so that there is a generation before the present one.
        wait(update(&app, &id, name, "old")).expect("an update works");
    }
}

pub(crate) async fn create(
    app: &App,
    name: &str,
    generation: &str,
    attempt: Option<&str>,
) -> Result<ArtifactId, Failure> {
    let mut body = body(name, generation);
    body["input"]["slug"] = name.into();
    if let Some(attempt) = attempt {
        body["attemptId"] = attempt.into();
    }
    let request = CreateArtifact { project: project(), body: body.into(), reading: Reading::Now };
    let created = artifacts::create(app, &Caller::Person, request, Mode::Commit).await;
    created.map(|made| made.stored.id.clone()).map_err(Failure::from)
}

pub(crate) async fn update(
    app: &App,
    id: &ArtifactId,
    name: &str,
    generation: &str,
) -> Result<(), Failure> {
    let request = UpdateArtifact {
        target: address(id).into(),
        body: body(name, generation).into(),
        reading: Reading::Now,
    };
    let updated = artifacts::update(app, &Caller::Person, request, Mode::Commit).await;
    updated.map(|_| ()).map_err(Failure::from)
}

pub(crate) fn address(id: &ArtifactId) -> Address {
    Address { project: Some(project()), artifact: id.clone() }
}

/// Finds an artifact by its slug.
pub(crate) fn find(app: &App, name: &str) -> Option<ArtifactId> {
    let list = wait(app.ports.artifacts.list(&project())).ok()?;
    let prefix = format!("la-{name}-");
    list.iter().map(|line| line.id.clone()).find(|id| id.as_str().starts_with(&prefix))
}

/// Returns the directory of an artifact.
pub(crate) fn artifact_dir(data_dir: &Path, id: &ArtifactId) -> PathBuf {
    data_dir.join("projects").join(project().as_str()).join(".live-artifacts").join(id.as_str())
}

/// Copies a directory with everything in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    for entry in fs::read_dir(from).expect("a directory can be read").flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a file can be copied");
        }
    }
    let mode = fs::metadata(from).expect("a directory has a mode").permissions();
    fs::set_permissions(to, mode).expect("a mode can be set");
}

/// Copies a data directory and the home that belongs to it.
pub(crate) fn copy_world(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let home = to.with_extension("home");
    let _ = fs::remove_dir_all(&home);
    copy(from, to);
    if from.with_extension("home").is_dir() {
        copy(&from.with_extension("home"), &home);
    }
}
