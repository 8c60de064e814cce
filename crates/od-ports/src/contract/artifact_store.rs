//! What every artifact store has to do.

use std::sync::Arc;

use od_core::artifact::RefreshStatus;
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};

use super::sample;
use crate::artifact_store::ArtifactStore;
use crate::change::Created;
use crate::inspection::RepairMode;
use crate::store_error::StoreError;
use crate::stored::Stored;

/// Puts a store with one empty project through the contract of [`ArtifactStore`].
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_artifact_store(store: &dyn ArtifactStore, project: &ProjectId) {
    nothing_is_there(store, project).await;
    what_is_created_can_be_read(store, project).await;
    an_attempt_is_made_once(store, project).await;
    one_commit_wins_per_revision(store, project).await;
    the_gate_is_exclusive(store, project).await;
    the_trash_gives_back(store, project).await;
    refreshes_are_numbered_logged_and_fenced(store, project).await;
    a_healthy_artifact_needs_no_repair(store, project).await;
}

async fn load(store: &dyn ArtifactStore, project: &ProjectId, id: &ArtifactId) -> Arc<Stored> {
    store.load(project, id).await.expect("the artifact can be read")
}

fn title(stored: &Stored) -> String {
    let state = stored.state.as_ref().expect("the artifact has a state");
    assert_eq!(
        state.data.value()["title"].as_str(),
        Some(state.artifact.title.as_str()),
        "data and metadata are of one generation"
    );
    state.artifact.title.clone()
}

async fn update(
    store: &dyn ArtifactStore,
    project: &ProjectId,
    id: &ArtifactId,
    expected: Option<Revision>,
    title: &str,
) -> Result<Arc<Stored>, StoreError> {
    let gate = store.open_gate(project, id).await?;
    let state = gate.stored().state.clone().expect("a gate has a state");
    let mut change = sample::change(&state, title);
    change.expected = expected.unwrap_or(change.expected);
    store.commit(&gate.witness(), change).await
}

async fn nothing_is_there(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    assert!(matches!(store.load(project, &id).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(store.open_gate(project, &id).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(store.delete(project, &id, None).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(store.restore(project, &id).await, Err(StoreError::NotInTrash { .. })));
    assert_eq!(store.locate(&id).await.expect("a search works"), None);
    assert!(store.list(project).await.expect("an empty project lists").is_empty());
    let other: ProjectId = "no-such-project".parse().expect("a good id");
    assert!(matches!(store.list(&other).await, Err(StoreError::ProjectNotFound { .. })));
}

async fn what_is_created_can_be_read(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    let created = store.create(sample::new(project, &id, "one")).await.expect("a create works");
    assert!(matches!(created, Created::Fresh(_)));
    assert_eq!(created.stored().revision(), Some(Revision::first()));
    let stored = load(store, project, &id).await;
    assert_eq!(title(&stored), "one");
    assert_eq!(stored.artifact(), created.stored().artifact(), "the answer is what is stored");
    assert!(stored.health.is_healthy() && stored.drift.is_empty());
    assert_eq!(store.locate(&id).await.expect("a search works"), Some(project.clone()));
    let list = store.list(project).await.expect("a list works");
    assert_eq!(list.iter().map(|line| line.title.as_str()).collect::<Vec<_>>(), ["one"]);
    let again = store.create(sample::new(project, &id, "two")).await;
    assert!(matches!(again, Err(StoreError::Exists { .. })), "an id is taken once");
    assert_eq!(title(load(store, project, &id).await.as_ref()), "one");
}

async fn an_attempt_is_made_once(store: &dyn ArtifactStore, project: &ProjectId) {
    let attempt = |number, title| sample::attempt(project, &sample::id(number), title, "try-1");
    let named = |title| {
        let state = attempt(2, title).state;
        state.artifact.created_by_attempt.expect("the sample names its attempt")
    };
    let nothing = store.find_attempt(project, &named("tried")).await.expect("a search works");
    assert!(nothing.is_none(), "an attempt that was not made made nothing");
    let first = store.create(attempt(2, "tried")).await.expect("a create works");
    assert!(matches!(first, Created::Fresh(_)));
    let found = store.find_attempt(project, &named("tried")).await.expect("a search works");
    assert_eq!(found.map(|stored| stored.id.clone()), Some(sample::id(2)));
    let other = store.find_attempt(project, &named("something else")).await;
    assert!(matches!(other, Err(StoreError::AttemptConflict { .. })));
    let second = store.create(attempt(3, "tried")).await.expect("a replay works");
    assert!(matches!(&second, Created::Replayed(stored) if stored.id == sample::id(2)));
    let other = store.create(attempt(3, "something else")).await;
    assert!(matches!(other, Err(StoreError::AttemptConflict { .. })));
    store.delete(project, &sample::id(2), None).await.expect("a delete works");
    let trashed = store.create(attempt(3, "tried")).await;
    assert!(matches!(trashed, Err(StoreError::AttemptTrashed { .. })));
    let trashed = store.find_attempt(project, &named("tried")).await;
    assert!(matches!(trashed, Err(StoreError::AttemptTrashed { .. })));
}

async fn one_commit_wins_per_revision(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    let stored = update(store, project, &id, None, "one, changed").await.expect("a commit works");
    let second = Revision::first().next();
    assert_eq!(stored.revision(), Some(second));
    let read = load(store, project, &id).await;
    assert_eq!((title(&read).as_str(), read.revision()), ("one, changed", Some(second)));
    let late = update(store, project, &id, Some(Revision::first()), "too late").await;
    assert!(
        matches!(late, Err(StoreError::RevisionConflict { actual, .. }) if actual == second),
        "a stale revision is a conflict"
    );
    assert_eq!(title(load(store, project, &id).await.as_ref()), "one, changed");
    let digests = &read.artifact().expect("a state").digests;
    let created = sample::state(project, &id, "one, changed");
    assert_ne!(digests, &created.artifact.digests, "the store sets the digests");
}

async fn the_gate_is_exclusive(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    let gate = store.open_gate(project, &id).await.expect("the gate opens");
    let state = gate.stored().state.clone().expect("a gate has a state");
    let change = sample::change(&state, "twice");
    store.commit(&gate.witness(), change.clone()).await.expect("a commit works");
    let again = store.commit(&gate.witness(), change).await;
    assert!(
        matches!(again, Err(StoreError::RevisionConflict { .. })),
        "a gate's state is used up by its commit"
    );
    drop(gate);
    store.open_gate(project, &id).await.expect("a dropped gate lets go");
}

async fn the_trash_gives_back(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    let before = load(store, project, &id).await;
    let stale = store.delete(project, &id, Some(Revision::first())).await;
    assert!(matches!(stale, Err(StoreError::RevisionConflict { .. })));
    let trashed = store.delete(project, &id, before.revision()).await.expect("a delete works");
    assert_eq!(trashed.artifact_id, id);
    assert!(matches!(store.load(project, &id).await, Err(StoreError::NotFound { .. })));
    assert_eq!(store.locate(&id).await.expect("a search works"), None);
    assert!(store.list(project).await.expect("a list works").iter().all(|line| line.id != id));
    let trash = store.trash(project).await.expect("the trash lists");
    assert!(trash.iter().any(|trashed| trashed.artifact_id == id));
    let restored = store.restore(project, &id).await.expect("a restore works");
    assert_eq!(restored.artifact(), before.artifact());
    assert_eq!(title(load(store, project, &id).await.as_ref()), title(&before));
    assert!(matches!(store.restore(project, &id).await, Err(StoreError::NotInTrash { .. })));
}

fn record(id: &RefreshId, step: RecordStep, status: RecordStatus) -> RefreshRecord {
    RefreshRecord::new(id.clone(), step, status, sample::now())
}

async fn refreshes_are_numbered_logged_and_fenced(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    let first = store.begin_refresh(project, &id, sample::now()).await.expect("a refresh begins");
    assert_eq!(first.id, RefreshId::from_number(1));
    assert_eq!(status(store, project, &id).await, RefreshStatus::Running);
    let locked = store.begin_refresh(project, &id, sample::now()).await;
    assert!(matches!(locked, Err(StoreError::RefreshLocked { .. })), "one refresh at a time");
    assert_eq!(store.unfinished_refreshes().await.expect("they list").len(), 1);
    let failed = record(&first.id, RecordStep::Failed, RecordStatus::Failed);
    store.append_record(project, &id, failed.clone()).await.expect("a record is appended");
    assert_eq!(status(store, project, &id).await, RefreshStatus::Failed);
    assert!(store.unfinished_refreshes().await.expect("they list").is_empty());
    let closed = store.append_record(project, &id, failed).await;
    assert!(matches!(closed, Err(StoreError::RefreshClosed { .. })), "a closed refresh is closed");
    let late = commit_refresh(store, project, &id, &first.id, "fenced off").await;
    assert!(matches!(late, Err(StoreError::RefreshClosed { .. })), "and may not commit");
    drop(first);

    let second = store.begin_refresh(project, &id, sample::now()).await.expect("it begins");
    assert_eq!(second.id, RefreshId::from_number(2), "ids rise");
    commit_refresh(store, project, &id, &second.id, "refreshed").await.expect("it commits");
    drop(second);
    assert_eq!(status(store, project, &id).await, RefreshStatus::Succeeded);
    assert_eq!(title(load(store, project, &id).await.as_ref()), "refreshed");
    let history = store.history(project, &id).await.expect("a history");
    assert!(history.broken.is_none());
    let statuses: Vec<RecordStatus> = history.records.iter().map(|record| record.status).collect();
    let newest_first = [
        RecordStatus::Succeeded,
        RecordStatus::Running,
        RecordStatus::Failed,
        RecordStatus::Running,
    ];
    assert_eq!(statuses, newest_first);
    let snapshots = store.snapshots(project, &id).await.expect("snapshots");
    let ids: Vec<&RefreshId> = snapshots.iter().map(|snapshot| &snapshot.refresh_id).collect();
    assert_eq!(ids, [&RefreshId::from_number(2)], "only a change leaves a snapshot");
    let snapshot =
        store.snapshot(project, &id, &RefreshId::from_number(2)).await.expect("a snapshot");
    assert_eq!(snapshot.data.value()["title"], "refreshed");
    let missing = store.snapshot(project, &id, &RefreshId::from_number(1)).await;
    assert!(matches!(missing, Err(StoreError::SnapshotNotFound { .. })));
    let third = store.begin_refresh(project, &id, sample::now()).await.expect("it begins");
    let stopped = record(&third.id, RecordStep::Failed, RecordStatus::Cancelled);
    store.append_record(project, &id, stopped).await.expect("a record is appended");
    drop(third);
    let after = status(store, project, &id).await;
    assert_eq!(after, RefreshStatus::Succeeded, "what was stopped has not failed");
}

async fn status(store: &dyn ArtifactStore, project: &ProjectId, id: &ArtifactId) -> RefreshStatus {
    load(store, project, id).await.summary.refresh_status
}

async fn commit_refresh(
    store: &dyn ArtifactStore,
    project: &ProjectId,
    id: &ArtifactId,
    refresh: &RefreshId,
    title: &str,
) -> Result<Arc<Stored>, StoreError> {
    let gate = store.open_gate(project, id).await?;
    let state = gate.stored().state.clone().expect("a gate has a state");
    let mut change = sample::change(&state, title);
    change.refresh = Some(record(refresh, RecordStep::Committed, RecordStatus::Succeeded));
    store.commit(&gate.witness(), change).await
}

async fn a_healthy_artifact_needs_no_repair(store: &dyn ArtifactStore, project: &ProjectId) {
    let id = sample::id(1);
    let before = load(store, project, &id).await;
    let report = store.repair(project, &id, RepairMode::Apply).await.expect("a repair answers");
    assert!(!report.applied && report.drops.is_empty());
    assert_eq!(load(store, project, &id).await.artifact(), before.artifact());
    let inspection = store.inspect(project, &id).await.expect("an inspection");
    for file in &inspection.files {
        assert_eq!(file.content_expected, file.content_found, "{}", file.name);
        assert_eq!(file.raw_expected, file.raw_found, "{}", file.name);
    }
}
