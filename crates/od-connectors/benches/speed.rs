//! Figures of the connectors and of refreshing, each against a floor measured in the same run.
//!
//! `cargo bench -p od-connectors --bench speed`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use od_app::refresh::run::RunRefresh;
use od_app::{App, Caller, refresh};
use od_connectors::{Fence, ProjectFilesConnector};
use od_core::ids::{ProjectId, Timestamp};
use od_fs::{
    DataDir, DiskProjectFiles, FileArtifactStore, FileProjectRegistry, FileTokenAuthority,
    FileVault, SystemEntropy,
};
use od_ports::Ports;
use od_ports::change::NewArtifact;
use od_ports::clock::Clock;
use od_ports::connector_provider::{ConnectorProvider as _, ToolCall};
use od_ports::contract::sample;
use od_ports::fakes::{MemoryEvents, MemoryRunStore};
use od_ports::project_registry::{Project, ProjectRegistry as _};
use serde_json::json;
use tempfile::TempDir;

const REFRESHES: usize = 1100;
const FILES: usize = 20_000;

/// A clock that is a minute later at each look, so that no limit of calls is met.
#[derive(Debug)]
struct FastClock(AtomicI64);

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.fetch_add(10_000, Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        refreshes().await;
        search().await;
    });
}

fn project() -> ProjectId {
    "bench".parse().unwrap()
}

async fn app(place: &Path, clock: Arc<FastClock>) -> App {
    let data = DataDir::open(&place.join("data")).unwrap();
    let registry = Arc::new(FileProjectRegistry::new(data.clone()));
    let root = Some(place.join("root"));
    let created_at = clock.now();
    let name = "Bench".to_owned();
    registry.create(Project { id: project(), name, root, created_at }).await.unwrap();
    let files = Arc::new(DiskProjectFiles::new(registry.clone(), data.clone()));
    let home = place.join("home");
    let fence = Fence::around([home.clone(), data.path().to_path_buf()]);
    App::new(Ports {
        artifacts: Arc::new(FileArtifactStore::open(data, clock.clone()).unwrap()),
        projects: registry,
        files: files.clone(),
        runs: Arc::new(MemoryRunStore::default()),
        clock,
        entropy: Arc::new(SystemEntropy::new()),
        events: Arc::new(MemoryEvents::default()),
        connectors: vec![Arc::new(ProjectFilesConnector::new(files, fence))],
        vault: Arc::new(FileVault::in_home(&home)),
        tokens: Arc::new(FileTokenAuthority::open(&home, &SystemEntropy::new()).unwrap()),
    })
}

/// Refreshes one artifact from a small file that changes every time; a floor beside each refresh.
async fn refreshes() {
    let place = TempDir::new_in(".").unwrap();
    let clock = Arc::new(FastClock(AtomicI64::new(1_777_507_200_000)));
    let app = app(place.path(), clock).await;
    fs::create_dir_all(place.path().join("root")).unwrap();
    let id = sample::id(1);
    let mut state = sample::state(&project(), &id, "before");
    let source = json!({
        "type": "local_file", "input": { "path": "in.json" },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    });
    let source = serde_json::from_value(source).unwrap();
    state.artifact.document.as_mut().unwrap().source_json = Some(source);
    let new = NewArtifact { project: project(), state, page: sample::page("before") };
    app.ports.artifacts.create(new).await.unwrap();

    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for number in 0..REFRESHES {
        let content = format!(r#"{{ "title": "number {number}" }}"#);
        fs::write(place.path().join("root/in.json"), &content).unwrap();
        floors.push(floor(place.path(), content.as_bytes()));
        let request = RunRefresh {
            caller: Caller::Person,
            project: project(),
            artifact: id.clone(),
            accept_drift: false,
        };
        let begun = Instant::now();
        let refreshed = refresh::run(&app, request).await.unwrap();
        times.push(begun.elapsed());
        assert!(refreshed.changes.is_changed());
    }
    let (p50, floor) = (median(&times), median(&floors));
    println!("refresh p50 {p50:?}, one-file floor p50 {floor:?}: {:.2} times", ratio(p50, floor));
    // A single refresh is noise; the hundred around each is not.
    let (early, late) = (median(&times[50..150]), median(&times[950..1050]));
    println!(
        "around the 100th {early:?}, around the 1,000th {late:?}: {:.2} times",
        ratio(late, early)
    );
    let (early, late) = (median(&floors[50..150]), median(&floors[950..1050]));
    println!("  the floor meanwhile: {:.2} times", ratio(late, early));
}

/// Writes one file and syncs it and its directory.
fn floor(place: &Path, content: &[u8]) -> Duration {
    let begun = Instant::now();
    let path = place.join("floor");
    let mut file = File::create(&path).unwrap();
    file.write_all(content).unwrap();
    file.sync_all().unwrap();
    File::open(place).unwrap().sync_all().unwrap();
    begun.elapsed()
}

/// Searches many files, in turns with ripgrep.
async fn search() {
    let place = TempDir::new().unwrap();
    let clock = Arc::new(FastClock(AtomicI64::new(1_777_507_200_000)));
    let root = place.path().join("root");
    for number in 0..FILES {
        let directory = root.join(format!("d{}/e{}", number % 50, number % 7));
        if number < 350 {
            fs::create_dir_all(&directory).unwrap();
        }
        let needle = if number % 100 == 0 { "the needle is here" } else { "nothing" };
        let text = format!("line one of {number}\n{needle}\n").repeat(40);
        fs::write(directory.join(format!("f{number}.txt")), text).unwrap();
    }
    let app = app(place.path(), clock).await;
    let connector = ProjectFilesConnector::new(Arc::clone(&app.ports.files), Fence::around([]));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let begun = Instant::now();
        let count = Command::new("rg")
            .args(["--line-number", "--ignore-case", "--fixed-strings", "needle"])
            .arg(&root)
            .output()
            .unwrap();
        theirs.push(begun.elapsed());
        let begun = Instant::now();
        let input = json!({ "query": "needle" });
        let call = ToolCall {
            project: project(),
            tool: "project_files.search".parse().unwrap(),
            input: input.as_object().unwrap().clone(),
            secret: None,
        };
        let found = connector.execute(call).await.unwrap();
        ours.push(begun.elapsed());
        let lines = count.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(found.value["count"], lines, "both find the same lines");
    }
    let (ours, theirs) = (median(&ours), median(&theirs));
    println!("search of {FILES} files {ours:?}, rg {theirs:?}: {:.2} times", ratio(ours, theirs));
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
