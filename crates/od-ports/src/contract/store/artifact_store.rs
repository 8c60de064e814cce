//! The contract suite of every artifact store.

use od_core::artifact::ListCursor;
use od_core::ids::{ProjectId, Revision};
use od_core::ledger::{CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep};

use super::StoreTrial;
use super::trial::{record, title};
use crate::contract::sample;
use crate::store::{Created, PageRequest, StoreError};

/// Puts a store with one empty project through the contract of
/// [`ArtifactStore`](crate::store::ArtifactStore).
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_artifact_store(trial: &StoreTrial<'_>) {
    nothing_is_there(trial).await;
    what_is_created_can_be_read(trial).await;
    an_attempt_is_made_once(trial).await;
    one_commit_wins_per_revision(trial).await;
    the_gate_is_exclusive(trial).await;
    a_closed_refresh_may_not_commit(trial).await;
    pages_are_the_list_cut_into_pieces(trial).await;
}

/// Runs last: the project has what the others left.
async fn pages_are_the_list_cut_into_pieces(trial: &StoreTrial<'_>) {
    let StoreTrial { artifacts: store, project, .. } = *trial;
    for number in 90..95 {
        trial.create(number, &format!("page {number}")).await;
    }
    let list = store.list(project).await.expect("a list works");
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let request = PageRequest { after, rows: 2, only_active: false };
        let page = store.page(project, request).await.expect("a page works");
        assert!(page.lines.len() <= 2, "a page is no longer than was asked for");
        assert_eq!(page.tally.total(), list.len(), "the counts are those of the whole list");
        after = page.lines.last().map(|line| ListCursor::of(line));
        seen.extend(page.lines);
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen, list.to_vec(), "the pages together are the list, in its order");
    // A page that goes on behind a row is the same whatever else is made.
    let behind = PageRequest { after: Some(ListCursor::of(&seen[1])), rows: 2, only_active: true };
    let before = store.page(project, behind.clone()).await.expect("a page works");
    trial.create(95, "newer").await;
    assert_eq!(store.page(project, behind).await.expect("a page works").lines, before.lines);
    let counted = store.page(project, PageRequest::default()).await.expect("a page works");
    assert_eq!((counted.lines.len(), counted.tally.total()), (0, list.len() + 1));
    let other: ProjectId = "no-such-project".parse().expect("a good id");
    let missing = store.page(&other, PageRequest::default()).await;
    assert!(matches!(missing, Err(StoreError::ProjectNotFound { .. })));
}

async fn nothing_is_there(trial: &StoreTrial<'_>) {
    let StoreTrial { artifacts: store, project, .. } = *trial;
    let id = sample::id(1);
    assert!(matches!(store.load(project, &id).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(store.open_gate(project, &id).await, Err(StoreError::NotFound { .. })));
    assert_eq!(store.locate(&id).await.expect("a search works"), None);
    assert!(store.list(project).await.expect("an empty project lists").is_empty());
    let other: ProjectId = "no-such-project".parse().expect("a good id");
    assert!(matches!(store.list(&other).await, Err(StoreError::ProjectNotFound { .. })));
}

async fn what_is_created_can_be_read(trial: &StoreTrial<'_>) {
    let StoreTrial { artifacts: store, project, .. } = *trial;
    let id = sample::id(1);
    let created = store
        .create(sample::new(project, &id, "one"), sample::note(CommitKind::Create))
        .await
        .expect("a create works");
    assert!(matches!(created, Created::Fresh(_)));
    assert_eq!(created.stored().revision(), Some(Revision::first()));
    let stored = trial.load(&id).await;
    assert_eq!(title(&stored), "one");
    assert_eq!(stored.artifact(), created.stored().artifact(), "the answer is what is stored");
    assert!(stored.health.is_healthy() && stored.drift.is_empty());
    assert_eq!(store.locate(&id).await.expect("a search works"), Some(project.clone()));
    let list = store.list(project).await.expect("a list works");
    assert_eq!(list.iter().map(|line| line.heading.title.as_str()).collect::<Vec<_>>(), ["one"]);
    let again =
        store.create(sample::new(project, &id, "two"), sample::note(CommitKind::Create)).await;
    assert!(matches!(again, Err(StoreError::Exists { .. })), "an id is taken once");
    assert_eq!(trial.title(&id).await, "one");
}

async fn an_attempt_is_made_once(trial: &StoreTrial<'_>) {
    let StoreTrial { artifacts: store, project, .. } = *trial;
    let attempt = |number, title| sample::attempt(project, &sample::id(number), title, "try-1");
    let named = |title| {
        let state = attempt(2, title).state;
        state.artifact.created_by_attempt.expect("the sample names its attempt")
    };
    let nothing = store.find_attempt(project, &named("tried")).await.expect("a search works");
    assert!(nothing.is_none(), "an attempt that was not made made nothing");
    let first = store
        .create(attempt(2, "tried"), sample::note(CommitKind::Create))
        .await
        .expect("a create works");
    assert!(matches!(first, Created::Fresh(_)));
    let found = store.find_attempt(project, &named("tried")).await.expect("a search works");
    assert_eq!(found.map(|stored| stored.id.clone()), Some(sample::id(2)));
    let other = store.find_attempt(project, &named("something else")).await;
    assert!(matches!(other, Err(StoreError::AttemptConflict { .. })));
    let second = store
        .create(attempt(3, "tried"), sample::note(CommitKind::Create))
        .await
        .expect("a replay works");
    assert!(matches!(&second, Created::Replayed(stored) if stored.id == sample::id(2)));
    let other = store.create(attempt(3, "something else"), sample::note(CommitKind::Create)).await;
    assert!(matches!(other, Err(StoreError::AttemptConflict { .. })));
    trial.trash.delete(project, &sample::id(2), None).await.expect("a delete works");
    let trashed = store.create(attempt(3, "tried"), sample::note(CommitKind::Create)).await;
    assert!(matches!(trashed, Err(StoreError::AttemptTrashed { .. })));
    let trashed = store.find_attempt(project, &named("tried")).await;
    assert!(matches!(trashed, Err(StoreError::AttemptTrashed { .. })));
}

async fn one_commit_wins_per_revision(trial: &StoreTrial<'_>) {
    let id = sample::id(1);
    let stored = trial.update(&id, None, "one, changed").await.expect("a commit works");
    let second = Revision::first().next();
    assert_eq!(stored.revision(), Some(second));
    let read = trial.load(&id).await;
    assert_eq!((title(&read).as_str(), read.revision()), ("one, changed", Some(second)));
    let late = trial.update(&id, Some(Revision::first()), "too late").await;
    assert!(
        matches!(late, Err(StoreError::RevisionConflict { actual, .. }) if actual == second),
        "a stale revision is a conflict"
    );
    assert_eq!(trial.title(&id).await, "one, changed");
    let digests = &read.artifact().expect("a state").digests;
    let created = sample::state(trial.project, &id, "one, changed");
    assert_ne!(digests, &created.artifact.digests, "the store sets the digests");
}

async fn the_gate_is_exclusive(trial: &StoreTrial<'_>) {
    let StoreTrial { artifacts: store, project, .. } = *trial;
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

async fn a_closed_refresh_may_not_commit(trial: &StoreTrial<'_>) {
    let StoreTrial { refresh_log, project, .. } = *trial;
    let id = trial.create(4, "fenced").await;
    let running = refresh_log
        .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let failed = record(&running.id, RecordStep::Failed, RecordStatus::Failed);
    refresh_log.append_record(project, &id, failed).await.expect("a record is appended");
    let late = trial.commit_refresh(&id, &running.id, "fenced off").await;
    assert!(matches!(late, Err(StoreError::RefreshClosed { .. })));
    assert_eq!(trial.title(&id).await, "fenced");
}
