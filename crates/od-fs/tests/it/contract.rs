//! The adapters keep the contracts of their ports.

use std::path::Path;
use std::sync::Arc;

use od_core::ids::ProjectId;
use od_fs::{
    DataDir, DiskProjectFiles, FileAgentSessions, FileArtifactStore, FileProjectRegistry,
    FileRunStore, SystemClock, SystemEntropy,
};
use od_ports::contract::{
    FilesTrial, StoreTrial, check_agent_sessions, check_clock, check_entropy, check_project_files,
    check_project_registry, check_run_store, check_store, sample,
};
use od_ports::project_registry::{Project, ProjectRegistry};
use od_ports::store::Trash as _;

pub(crate) async fn project(root: &Path) -> (DataDir, ProjectId) {
    let data_dir = DataDir::open(root).expect("a data directory");
    let id: ProjectId = "p1".parse().expect("a good id");
    let project = Project {
        id: id.clone(),
        name: "One".to_owned(),
        root: None,
        created_at: sample::now(),
        allow_schedules: false,
    };
    FileProjectRegistry::new(data_dir.clone()).create(project).await.expect("a project");
    (data_dir, id)
}

/// Lets a store that works on the calling thread write the visible copies of its last commit: the
/// next call that goes to the disk comes to them first.
pub(crate) async fn place_copies(store: &FileArtifactStore, project: &ProjectId) {
    store.list(project).await.expect("the trash lists");
}

#[tokio::test]
async fn the_file_store_keeps_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open(data_dir, Arc::new(SystemClock)).unwrap();
    check_store(&StoreTrial::of(&store, &project)).await;
}

#[tokio::test]
async fn the_file_store_keeps_the_contract_on_one_thread() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).unwrap();
    check_store(&StoreTrial::of(&store, &project)).await;
}

#[tokio::test]
async fn the_run_files_keep_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    check_run_store(&FileRunStore::new(data_dir), &project).await;
}

#[tokio::test]
async fn the_files_of_agent_sessions_keep_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    check_agent_sessions(&FileAgentSessions::new(data_dir), &project).await;
}

#[tokio::test]
async fn the_project_files_keep_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let data_dir = DataDir::open(home.path()).unwrap();
    check_project_registry(&FileProjectRegistry::new(data_dir)).await;
}

#[tokio::test]
async fn the_files_of_a_project_keep_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let data_dir = DataDir::open(&home.path().join("data")).unwrap();
    let registry = Arc::new(FileProjectRegistry::new(data_dir.clone()));
    let root = home.path().join("root");
    let id = |name: &str| name.parse::<ProjectId>().unwrap();
    for (name, root) in [("rooted", Some(root.clone())), ("rootless", None), ("bad", None)] {
        let (name, created_at) = (name.to_owned(), sample::now());
        registry
            .create(Project { id: id(&name), name, root, created_at, allow_schedules: false })
            .await
            .unwrap();
    }
    std::fs::write(home.path().join("data/projects/bad/project.json"), "{ no project").unwrap();
    let reserved = FilesTrial::RESERVED.map(|path| (path, "private"));
    for (path, text) in FilesTrial::FILES.into_iter().chain(reserved) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let trial = FilesTrial { rooted: id("rooted"), rootless: id("rootless"), damaged: id("bad") };
    check_project_files(&DiskProjectFiles::new(registry, data_dir), &trial).await;
}

#[tokio::test]
async fn the_machine_keeps_the_contracts_of_clock_and_entropy() {
    check_clock(&SystemClock).await;
    check_entropy(&SystemEntropy::new());
}
