//! The real store behind a disk that is full when a test says so.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use od_app::App;
use od_app::refresh::cancel::CancelRefresh;
use od_app::refresh::run::RefreshError;
use od_app::{Caller, Mode, connectors, refresh};
use od_core::artifact::{ArtifactSummary, Attempt};
use od_core::decide::Decision;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::ledger::{CommitNote, RefreshStart};
use od_core::refresh::{RecordStatus, RefreshRecord};
use od_ports::store::{
    Change, Created, Gate, History, Page, PageRequest, RunningRefresh, Stored, UnfinishedRefresh,
    WriteWitness,
};
use od_ports::{ArtifactStore, Ports, RefreshLog, StoreError};

use super::refresh_failures::begin_and_die;
use crate::scene::write;
use crate::scripted::{Act, ScriptedConnector};
use crate::world::{World, by_person, file_source, project, script_source};

#[derive(Debug)]
struct FullDisk {
    artifacts: Arc<dyn ArtifactStore>,
    log: Arc<dyn RefreshLog>,
    refuses_commits: AtomicBool,
    refuses_records: AtomicBool,
}

fn full(action: &'static str) -> StoreError {
    StoreError::Io { action, source: io::Error::from_raw_os_error(28) }
}

#[async_trait]
impl ArtifactStore for FullDisk {
    async fn load(&self, p: &ProjectId, a: &ArtifactId) -> Result<Arc<Stored>, StoreError> {
        self.artifacts.load(p, a).await
    }

    async fn locate(&self, a: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        self.artifacts.locate(a).await
    }

    async fn list(&self, p: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        self.artifacts.list(p).await
    }

    async fn page(&self, p: &ProjectId, request: PageRequest) -> Result<Page, StoreError> {
        self.artifacts.page(p, request).await
    }

    async fn find_attempt(
        &self,
        p: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        self.artifacts.find_attempt(p, attempt).await
    }

    async fn create(&self, new: Decision, note: CommitNote) -> Result<Created, StoreError> {
        self.artifacts.create(new, note).await
    }

    async fn open_gate(&self, p: &ProjectId, a: &ArtifactId) -> Result<Gate, StoreError> {
        self.artifacts.open_gate(p, a).await
    }

    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError> {
        if self.refuses_commits.load(Ordering::Relaxed) {
            return Err(full("write a commit"));
        }
        self.artifacts.commit(witness, change).await
    }
}

#[async_trait]
impl RefreshLog for FullDisk {
    async fn history(&self, p: &ProjectId, a: &ArtifactId) -> Result<History, StoreError> {
        self.log.history(p, a).await
    }

    async fn begin_refresh(
        &self,
        p: &ProjectId,
        a: &ArtifactId,
        start: RefreshStart,
    ) -> Result<RunningRefresh, StoreError> {
        self.log.begin_refresh(p, a, start).await
    }

    async fn append_record(
        &self,
        p: &ProjectId,
        a: &ArtifactId,
        record: RefreshRecord,
    ) -> Result<(), StoreError> {
        if self.refuses_records.load(Ordering::Relaxed) {
            return Err(full("append a record"));
        }
        self.log.append_record(p, a, record).await
    }

    async fn unfinished_refreshes(&self) -> Result<Vec<UnfinishedRefresh>, StoreError> {
        self.log.unfinished_refreshes().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_costs_the_refresh_and_nothing_else() {
    for refuses_records in [false, true] {
        let world = World::new().await;
        write(&world.root(), "in.json", r#"{ "title": "after" }"#);
        let artifact = world.create(1, file_source("in.json")).await;
        let before = world.generation(&artifact).await;
        let disk = Arc::new(FullDisk {
            artifacts: Arc::clone(&world.app.ports.artifacts),
            log: Arc::clone(&world.app.ports.refresh_log),
            refuses_commits: AtomicBool::new(true),
            refuses_records: AtomicBool::new(refuses_records),
        });
        let app = App::new(Ports {
            artifacts: disk.clone(),
            refresh_log: disk.clone(),
            ..world.app.ports.clone()
        });

        let error = refresh::run(&app, by_person(&artifact), Mode::Commit).await.unwrap_err();
        assert!(matches!(error, RefreshError::Failed { .. }), "{error:?}");
        let failure = Failure::from(error);
        assert_eq!(failure.code, ErrorCode::LiveArtifactStorageFailed);
        assert!(failure.suggestion.contains("free space"), "{}", failure.suggestion);
        assert_eq!(world.generation(&artifact).await, before);

        // Room again: the next refresh works, and every refresh has exactly one last record.
        disk.refuses_commits.store(false, Ordering::Relaxed);
        disk.refuses_records.store(false, Ordering::Relaxed);
        refresh::run(&app, by_person(&artifact), Mode::Commit).await.unwrap();
        let records = world.terminal_records(&artifact).await;
        let mut ended: Vec<_> =
            records.iter().map(|record| (record.refresh_id.number(), record.status)).collect();
        ended.sort_by_key(|(number, _)| *number);
        let first = if refuses_records { RecordStatus::Abandoned } else { RecordStatus::Failed };
        assert_eq!(ended, [(1, first), (2, RecordStatus::Succeeded)]);
    }
}

/// A refresh that died, over a disk that takes no record.
async fn dead_on_a_full_disk() -> (World, ArtifactId, Arc<FullDisk>, App) {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.set(Act::Hang);
    begin_and_die(&world, &artifact).await;
    let disk = Arc::new(FullDisk {
        artifacts: Arc::clone(&world.app.ports.artifacts),
        log: Arc::clone(&world.app.ports.refresh_log),
        refuses_commits: AtomicBool::new(false),
        refuses_records: AtomicBool::new(true),
    });
    let app = App::new(Ports {
        artifacts: disk.clone(),
        refresh_log: disk.clone(),
        ..world.app.ports.clone()
    });
    (world, artifact, disk, app)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_not_taken_for_a_refresh_that_was_closed_already() {
    let (world, artifact, disk, app) = dead_on_a_full_disk().await;
    let cancel = CancelRefresh { project: project(), artifact: artifact.clone() };
    let refused = refresh::cancel(&app, &Caller::Person, cancel.clone()).await.unwrap_err();
    assert_eq!(Failure::from(refused).code, ErrorCode::LiveArtifactStorageFailed);

    let recovered = refresh::recover(&app).await.unwrap();
    assert_eq!(recovered.closed, []);
    assert_eq!(recovered.left.len(), 1);
    let (left, err) = recovered.left.into_iter().next().unwrap();
    assert_eq!(left.number(), 1);
    assert_eq!(Failure::from(err).code, ErrorCode::LiveArtifactStorageFailed);

    disk.refuses_records.store(false, Ordering::Relaxed);
    let cancelled = refresh::cancel(&app, &Caller::Person, cancel).await.unwrap();
    assert_eq!(cancelled.status, RecordStatus::Cancelled);
    assert_eq!(world.terminal_records(&artifact).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_does_not_run_while_the_one_before_it_cannot_be_closed() {
    let (world, artifact, disk, app) = dead_on_a_full_disk().await;
    let calls = world.script.calls();
    let error = refresh::run(&app, by_person(&artifact), Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(error).code, ErrorCode::LiveArtifactStorageFailed);
    assert_eq!(world.script.calls(), calls, "its source was asked");
    disk.refuses_records.store(false, Ordering::Relaxed);
    let recovered = refresh::recover(&app).await.unwrap();
    assert_eq!((recovered.closed.len(), recovered.left.len()), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_for_agents_has_only_what_they_may_run() {
    let world = World::new().await;
    world.script.change(|catalog| {
        catalog.tools.push(ScriptedConnector::tool("script.delete_things", "Delete things"));
        catalog.allowed_tool_names.push("script.delete_things".parse().unwrap());
    });
    let agent = Caller::Agent {
        run: od_core::ids::RunId::generate([1; 16]),
        project: project(),
        door: od_core::ledger::Door::Http,
    };
    let script: od_core::ids::ConnectorId = "script".parse().unwrap();
    let listed = connectors::list(&world.app, &agent).await.unwrap();
    let found = listed.iter().find(|connector| connector.id == script).unwrap();
    let names: Vec<&str> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["script.list_things"]);
    let person = connectors::list(&world.app, &Caller::Person).await.unwrap();
    let found = person.iter().find(|connector| connector.id == script).unwrap();
    assert_eq!(found.tools.len(), 2);
    connectors::disconnect(&world.app, &Caller::Person, &script).await.unwrap();
    let listed = connectors::list(&world.app, &agent).await.unwrap();
    assert!(listed.iter().all(|connector| connector.id != script));
}
