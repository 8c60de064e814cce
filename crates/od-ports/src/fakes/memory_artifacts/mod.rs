//! Artifacts kept in memory.

mod artifact;
mod state;
mod store;

pub use store::MemoryArtifactStore;

#[cfg(test)]
mod tests {
    use od_core::ids::ProjectId;

    use super::*;
    use crate::contract::{StoreTrial, check_store};

    #[tokio::test]
    async fn it_keeps_the_contracts_of_the_store() {
        let project: ProjectId = "p1".parse().unwrap();
        let store = MemoryArtifactStore::with_projects([project.clone()]);
        check_store(&StoreTrial::of(&store, &project)).await;
    }
}
