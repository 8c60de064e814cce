//! Artifacts kept in memory.

mod kept;
mod lock;
mod shelf;
mod store;

pub use store::MemoryArtifactStore;

#[cfg(test)]
mod tests {
    use od_core::ids::ProjectId;

    use super::*;
    use crate::contract::{check_artifact_store, check_run_store};
    use crate::fakes::MemoryRunStore;

    #[tokio::test]
    async fn the_fakes_keep_the_contract() {
        let project: ProjectId = "p1".parse().unwrap();
        let store = MemoryArtifactStore::with_projects([project.clone()]);
        check_artifact_store(&store, &project).await;
        check_run_store(&MemoryRunStore::default(), &project).await;
    }
}
