//! The contract suite of every store of earlier states.

use od_core::ids::RefreshId;
use od_core::refresh::{RecordStatus, RecordStep};

use super::StoreTrial;
use super::trial::record;
use crate::contract::sample;
use crate::store::StoreError;

/// Puts a store through the contract of [`RevisionStore`](crate::store::RevisionStore).
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_revision_store(trial: &StoreTrial<'_>) {
    let StoreTrial { refresh_log, revisions, project, .. } = *trial;
    let id = trial.create(30, "kept").await;
    assert!(revisions.snapshots(project, &id).await.expect("snapshots").is_empty());
    let first = refresh_log.begin_refresh(project, &id, sample::now()).await.expect("it begins");
    let failed = record(&first.id, RecordStep::Failed, RecordStatus::Failed);
    refresh_log.append_record(project, &id, failed).await.expect("a record is appended");
    drop(first);
    for title in ["refreshed", "refreshed again"] {
        let next = refresh_log.begin_refresh(project, &id, sample::now()).await.expect("it begins");
        trial.commit_refresh(&id, &next.id, title).await.expect("it commits");
    }
    trial.update(&id, None, "edited").await.expect("a commit works");

    let snapshots = revisions.snapshots(project, &id).await.expect("snapshots");
    let ids: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.refresh_id.number()).collect();
    assert_eq!(ids, [3, 2], "only a change by a refresh leaves a snapshot, newest first");
    let second = RefreshId::from_number(2);
    let snapshot = revisions.snapshot(project, &id, &second).await.expect("a snapshot");
    assert_eq!(snapshot.data.value()["title"], "refreshed");
    let missing = revisions.snapshot(project, &id, &RefreshId::from_number(1)).await;
    assert!(matches!(missing, Err(StoreError::SnapshotNotFound { .. })));
}
