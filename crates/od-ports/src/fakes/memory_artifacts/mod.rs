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
    use crate::contract::{StoreTrial, check_run_store, check_store};
    use crate::fakes::MemoryRunStore;

    #[tokio::test]
    async fn the_fakes_keep_the_contract() {
        let project: ProjectId = "p1".parse().unwrap();
        let store = MemoryArtifactStore::with_projects([project.clone()]);
        check_store(&StoreTrial::of(&store, &project)).await;
        check_run_store(&MemoryRunStore::default(), &project).await;
    }
}
