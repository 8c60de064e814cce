//! The contract suite of every store of earlier states.

use od_core::ids::{ArtifactId, RefreshId, Revision};
use od_core::ledger::{CommitKind, RefreshStart, RevisionDigests, RevisionSource};
use od_core::limits::REVISIONS;
use od_core::refresh::{RecordStatus, RecordStep};

use super::StoreTrial;
use super::trial::record;
use crate::contract::sample;
use crate::store::{StoreError, Stored};

/// Puts a store through the contract of [`RevisionStore`](crate::store::RevisionStore).
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_revision_store(trial: &StoreTrial<'_>) {
    refreshes_leave_snapshots(trial).await;
    every_revision_reads_back_as_it_was_committed(trial).await;
    only_the_newest_are_kept(trial).await;
}

async fn refreshes_leave_snapshots(trial: &StoreTrial<'_>) {
    let StoreTrial { refresh_log, revisions, project, .. } = *trial;
    let id = trial.create(30, "kept").await;
    assert!(revisions.snapshots(project, &id).await.expect("snapshots").is_empty());
    let first = refresh_log
        .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let failed = record(&first.id, RecordStep::Failed, RecordStatus::Failed);
    refresh_log.append_record(project, &id, failed).await.expect("a record is appended");
    drop(first);
    for title in ["refreshed", "refreshed again"] {
        let next = refresh_log
            .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
            .await
            .expect("it begins");
        trial.commit_refresh(&id, &next.id, title).await.expect("it commits");
    }
    trial.update(&id, None, "edited").await.expect("a commit works");

    let snapshots = revisions.snapshots(project, &id).await.expect("snapshots");
    let ids: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.refresh_id.number()).collect();
    assert_eq!(ids, [3, 2], "only a change by a refresh leaves a snapshot, newest first");
    let second = RefreshId::from_number(2);
    let snapshot = revisions.snapshot(project, &id, &second).await.expect("a snapshot");
    assert_eq!(snapshot.data.value()["title"], "refreshed");
    assert_eq!(snapshot.revision.map(Revision::get), Some(2));
    let missing = revisions.snapshot(project, &id, &RefreshId::from_number(1)).await;
    assert!(matches!(missing, Err(StoreError::SnapshotNotFound { .. })));
    let timeline = revisions.timeline(project, &id).await.expect("a timeline");
    let kinds: Vec<CommitKind> = timeline.commits.iter().map(|commit| commit.kind).collect();
    let newest_first =
        [CommitKind::Update, CommitKind::Refresh, CommitKind::Refresh, CommitKind::Create];
    assert_eq!(kinds, newest_first);
    assert_eq!(timeline.commits[1].refresh_id, Some(RefreshId::from_number(3)));
}

async fn every_revision_reads_back_as_it_was_committed(trial: &StoreTrial<'_>) {
    let id = trial.create(31, "one").await;
    let mut committed = vec![trial.load(&id).await];
    for title in ["two", "three", "two"] {
        committed.push(trial.update(&id, None, title).await.expect("a commit works"));
    }
    for stored in &committed {
        reads_back(trial, &id, stored).await;
    }
    let next = committed.last().and_then(|last| last.revision()).expect("a revision").next();
    let missing = trial.revisions.revision(trial.project, &id, next).await;
    assert!(matches!(missing, Err(StoreError::RevisionNotFound { .. })));
}

async fn reads_back(trial: &StoreTrial<'_>, id: &ArtifactId, stored: &Stored) {
    let state = stored.state.as_ref().expect("a state");
    let revision = state.artifact.revision;
    let kept = trial.revisions.revision(trial.project, id, revision).await;
    let kept = kept.expect("the revision is kept");
    assert_eq!(kept.commit.revision, revision);
    assert_eq!(kept.commit.digests, RevisionDigests::of(&state.artifact));
    assert_eq!(kept.template_html, state.template_html);
    assert_eq!(kept.data, state.data);
    assert_eq!(kept.provenance, state.provenance);
    assert_eq!(kept.source, RevisionSource::of(&state.artifact));
}

async fn only_the_newest_are_kept(trial: &StoreTrial<'_>) {
    let id = trial.create(32, "0").await;
    for number in 1..=REVISIONS.max() {
        trial.update(&id, None, &number.to_string()).await.expect("a commit works");
    }
    let first = trial.revisions.revision(trial.project, &id, Revision::first()).await;
    assert!(matches!(first, Err(StoreError::RevisionNotFound { .. })));
    let second = Revision::first().next();
    let second = trial.revisions.revision(trial.project, &id, second).await.expect("it is kept");
    assert_eq!(second.data.value()["title"], "1");
    let timeline = trial.revisions.timeline(trial.project, &id).await.expect("a timeline");
    assert_eq!(timeline.commits.len(), REVISIONS.max() + 1, "a record outlives its contents");
}
