//! The contract suite of the maintenance of every store.

use super::StoreTrial;
use crate::contract::sample;
use crate::store::{RepairMode, StoreError};

/// Puts a store through the contract of [`StoreMaintenance`](crate::store::StoreMaintenance), as far
/// as it can be shown without a damaged disk.
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_store_maintenance(trial: &StoreTrial<'_>) {
    let StoreTrial { maintenance, project, .. } = *trial;
    let missing = maintenance.inspect(project, &sample::id(50)).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));

    let id = trial.create(50, "sound").await;
    trial.update(&id, None, "sound, changed").await.expect("a commit works");
    let before = trial.load(&id).await;
    let report = maintenance.repair(project, &id, RepairMode::Apply).await.expect("it answers");
    assert!(!report.applied && report.drops.is_empty(), "a healthy artifact needs no repair");
    assert!(maintenance.recover().await.expect("a recovery runs").is_empty());
    assert_eq!(trial.load(&id).await.artifact(), before.artifact());
    let inspection = maintenance.inspect(project, &id).await.expect("an inspection");
    let listed = trial.artifacts.list(project).await.expect("a list works").len();
    let census = maintenance.census(std::slice::from_ref(project)).await;
    assert_eq!((census.tally.total(), census.tally.damaged()), (listed, 0), "it counts the list");
    assert_eq!((census.unlisted, census.failing), (0, 0));
    for file in &inspection.files {
        assert_eq!(file.content_expected, file.content_found, "{}", file.name);
        assert_eq!(file.raw_expected, file.raw_found, "{}", file.name);
    }
}
