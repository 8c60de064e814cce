//! The adapters keep the contracts of their ports.

use std::path::Path;
use std::sync::Arc;

use od_core::ids::ProjectId;
use od_fs::{DataDir, FileArtifactStore, FileProjectRegistry, FileRunStore, SystemClock};
use od_ports::contract::{check_artifact_store, check_project_registry, check_run_store, sample};
use od_ports::project_registry::{Project, ProjectRegistry};

pub(crate) async fn project(root: &Path) -> (DataDir, ProjectId) {
    let data_dir = DataDir::open(root).expect("a data directory");
    let id: ProjectId = "p1".parse().expect("a good id");
    let project =
        Project { id: id.clone(), name: "One".to_owned(), root: None, created_at: sample::now() };
    FileProjectRegistry::new(data_dir.clone()).create(project).await.expect("a project");
    (data_dir, id)
}

#[tokio::test]
async fn the_file_store_keeps_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open(data_dir, Arc::new(SystemClock)).unwrap();
    check_artifact_store(&store, &project).await;
}

#[tokio::test]
async fn the_file_store_keeps_the_contract_on_one_thread() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).unwrap();
    check_artifact_store(&store, &project).await;
}

#[tokio::test]
async fn the_run_files_keep_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, project) = project(home.path()).await;
    check_run_store(&FileRunStore::new(data_dir), &project).await;
}

#[tokio::test]
async fn the_project_files_keep_the_contract() {
    let home = tempfile::tempdir().unwrap();
    let data_dir = DataDir::open(home.path()).unwrap();
    check_project_registry(&FileProjectRegistry::new(data_dir)).await;
}
