//! The contract suite of every trash.

use od_core::ids::Revision;
use od_core::ledger::trash_expires_at;

use super::StoreTrial;
use super::trial::title;
use crate::contract::sample;
use crate::store::StoreError;

/// Puts a store through the contract of [`Trash`](crate::store::Trash).
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_trash(trial: &StoreTrial<'_>) {
    let StoreTrial { artifacts, trash, project, .. } = *trial;
    let id = sample::id(40);
    assert!(matches!(trash.delete(project, &id, None).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(trash.restore(project, &id).await, Err(StoreError::NotInTrash { .. })));

    trial.create(40, "thrown away").await;
    trial.update(&id, None, "thrown away, changed").await.expect("a commit works");
    let before = trial.load(&id).await;
    let stale = trash.delete(project, &id, Some(Revision::first())).await;
    assert!(matches!(stale, Err(StoreError::RevisionConflict { .. })));
    let trashed = trash.delete(project, &id, before.revision()).await.expect("a delete works");
    assert_eq!(trashed.artifact_id, id);
    assert_eq!(trashed.expires_at, trash_expires_at(trashed.deleted_at));
    assert!(matches!(artifacts.load(project, &id).await, Err(StoreError::NotFound { .. })));
    assert_eq!(artifacts.locate(&id).await.expect("a search works"), None);
    assert!(artifacts.list(project).await.expect("a list works").iter().all(|line| line.id != id));
    let listed = trash.list(project).await.expect("the trash lists");
    assert!(listed.iter().any(|trashed| trashed.artifact_id == id));

    let restored = trash.restore(project, &id).await.expect("a restore works");
    assert_eq!(restored.artifact(), before.artifact());
    assert_eq!(trial.title(&id).await, title(&before));
    assert!(matches!(trash.restore(project, &id).await, Err(StoreError::NotInTrash { .. })));
}
