//! The contract suite of every log of refreshes.

use od_core::artifact::RefreshStatus;
use od_core::ids::{ArtifactId, RefreshId};
use od_core::ledger::{IfNewest, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep};
use od_core::schedule::{SlotRun, Trigger};

use super::StoreTrial;
use super::trial::record;
use crate::contract::sample;
use crate::store::{StoreError, UnfinishedRefresh};

/// Puts a store through the contract of [`RefreshLog`](crate::store::RefreshLog).
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_refresh_log(trial: &StoreTrial<'_>) {
    let id = trial.create(20, "logged").await;
    a_refresh_is_numbered_and_closed_once(trial, &id).await;
    a_commit_closes_its_refresh(trial, &id).await;
    a_stopped_refresh_leaves_the_status(trial, &id).await;
    history_is_newest_first(trial, &id).await;
    an_abandoned_refresh_is_named_to_the_next(trial).await;
    a_slot_worked_out_from_an_older_log_does_not_begin(trial).await;
}

async fn a_slot_worked_out_from_an_older_log_does_not_begin(trial: &StoreTrial<'_>) {
    let StoreTrial { refresh_log, project, .. } = *trial;
    let id = trial.create(22, "scheduled").await;
    let (slot, missed) = (sample::now(), 3);
    let start = |if_newest| RefreshStart {
        at: sample::now(),
        trigger: Trigger::Schedule,
        actor: None,
        slot: Some(SlotRun { slot, missed }),
        if_newest: IfNewest::Is(if_newest),
    };
    let first = refresh_log.begin_refresh(project, &id, start(None)).await.expect("it begins");
    let ended = record(&first.id, RecordStep::Failed, RecordStatus::Failed);
    refresh_log.append_record(project, &id, ended).await.expect("a record is appended");
    let known = first.id.clone();
    drop(first);
    // Another process worked out the same slot before that run, and comes after it.
    let late = refresh_log.begin_refresh(project, &id, start(None)).await;
    let overtaken = matches!(
        &late,
        Err(StoreError::RefreshOvertaken { newest, .. }) if *newest == Some(known.clone())
    );
    assert!(overtaken, "one run a slot, but {late:?}");
    let history = refresh_log.history(project, &id).await.expect("a history");
    let begun: Vec<_> =
        history.records.iter().filter(|record| record.step == RecordStep::Started).collect();
    assert_eq!(begun.len(), 1, "what is refused leaves no trace");
    let told = (begun[0].trigger, begun[0].slot, begun[0].missed);
    assert_eq!(told, (Some(Trigger::Schedule), Some(slot), Some(missed)));
    let next = refresh_log.begin_refresh(project, &id, start(Some(known))).await;
    let next = next.expect("who knows the newest begins");
    let ended = record(&next.id, RecordStep::Failed, RecordStatus::Cancelled);
    refresh_log.append_record(project, &id, ended).await.expect("a record is appended");
}

async fn unfinished(trial: &StoreTrial<'_>, id: &ArtifactId) -> Vec<UnfinishedRefresh> {
    let found = trial.refresh_log.unfinished_refreshes().await.expect("they list");
    found.into_iter().filter(|found| found.artifact == *id).collect()
}

async fn a_refresh_is_numbered_and_closed_once(trial: &StoreTrial<'_>, id: &ArtifactId) {
    let StoreTrial { refresh_log, project, .. } = *trial;
    let first = refresh_log
        .begin_refresh(project, id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    assert_eq!(first.id, RefreshId::from_number(1));
    assert_eq!(trial.status(id).await, RefreshStatus::Running);
    let locked = refresh_log.begin_refresh(project, id, RefreshStart::manual(sample::now())).await;
    assert!(matches!(locked, Err(StoreError::RefreshLocked { .. })), "one refresh at a time");
    let open = unfinished(trial, id).await;
    assert!(matches!(&open[..], [one] if one.refresh == first.id && one.lock_held));
    let failed = record(&first.id, RecordStep::Failed, RecordStatus::Failed);
    refresh_log.append_record(project, id, failed.clone()).await.expect("a record is appended");
    assert_eq!(trial.status(id).await, RefreshStatus::Failed);
    assert!(unfinished(trial, id).await.is_empty());
    let closed = refresh_log.append_record(project, id, failed).await;
    assert!(matches!(closed, Err(StoreError::RefreshClosed { .. })), "a closed refresh is closed");
}

async fn a_commit_closes_its_refresh(trial: &StoreTrial<'_>, id: &ArtifactId) {
    let StoreTrial { refresh_log, project, .. } = *trial;
    let second = refresh_log
        .begin_refresh(project, id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    assert_eq!(second.id, RefreshId::from_number(2), "ids rise");
    trial.commit_refresh(id, &second.id, "refreshed").await.expect("it commits");
    assert!(unfinished(trial, id).await.is_empty());
    drop(second);
    assert_eq!(trial.status(id).await, RefreshStatus::Succeeded);
    assert_eq!(trial.title(id).await, "refreshed");
}

async fn a_stopped_refresh_leaves_the_status(trial: &StoreTrial<'_>, id: &ArtifactId) {
    let StoreTrial { refresh_log, project, .. } = *trial;
    let before = trial.load(id).await.summary.last_refreshed_at;
    let third = refresh_log
        .begin_refresh(project, id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let stopped = record(&third.id, RecordStep::Failed, RecordStatus::Cancelled);
    refresh_log.append_record(project, id, stopped).await.expect("a record is appended");
    drop(third);
    let after = trial.status(id).await;
    assert_eq!(after, RefreshStatus::Succeeded, "what was stopped has not failed");
    assert_eq!(trial.load(id).await.summary.last_refreshed_at, before);
}

async fn history_is_newest_first(trial: &StoreTrial<'_>, id: &ArtifactId) {
    let history = trial.refresh_log.history(trial.project, id).await.expect("a history");
    assert!(history.broken.is_none());
    let statuses: Vec<RecordStatus> = history.records.iter().map(|record| record.status).collect();
    let newest_first = [
        RecordStatus::Cancelled,
        RecordStatus::Running,
        RecordStatus::Succeeded,
        RecordStatus::Running,
        RecordStatus::Failed,
        RecordStatus::Running,
    ];
    assert_eq!(statuses, newest_first);
}

async fn an_abandoned_refresh_is_named_to_the_next(trial: &StoreTrial<'_>) {
    let StoreTrial { refresh_log, project, .. } = *trial;
    let id = trial.create(21, "abandoned").await;
    let first = refresh_log
        .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let died = first.id.clone();
    drop(first);
    assert_eq!(trial.status(&id).await, RefreshStatus::Failed, "nobody holds its lock");
    let open = unfinished(trial, &id).await;
    assert!(matches!(&open[..], [one] if one.refresh == died && !one.lock_held));
    let second = refresh_log
        .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    assert_eq!(second.abandoned.as_ref().map(|begun| &begun.refresh_id), Some(&died));
    let step = record(&died, RecordStep::Source, RecordStatus::Running);
    let late = refresh_log.append_record(project, &id, step).await;
    assert!(matches!(late, Err(StoreError::RefreshClosed { .. })), "an older one takes no step");
    let late = trial.commit_refresh(&id, &died, "too late").await;
    assert!(matches!(late, Err(StoreError::RefreshClosed { .. })), "nor does it commit");
    let closing = record(&died, RecordStep::Failed, RecordStatus::Abandoned);
    refresh_log.append_record(project, &id, closing).await.expect("it can be closed");
    let last = record(&second.id, RecordStep::Failed, RecordStatus::Failed);
    refresh_log.append_record(project, &id, last).await.expect("a record is appended");
    assert!(unfinished(trial, &id).await.is_empty());
}
