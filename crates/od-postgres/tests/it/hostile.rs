//! Rows that od did not write: each damages the artifact it is of, and no other.

use od_core::artifact::{HealthReason, HealthState};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::ledger::{CommitKind, RefreshStart};
use od_ports::contract::sample;
use od_ports::store::{
    ArtifactStore, RefreshLog as _, RepairMode, StoreError, StoreMaintenance as _,
};
use od_postgres::PgStore;

use crate::team::Team;

const VICTIM: u32 = 1;
const OTHER: u32 = 2;

async fn two_artifacts(team: &Team) -> (ProjectId, PgStore) {
    let (project, store) = (team.project("p1"), team.machine());
    for number in [VICTIM, OTHER] {
        let new = sample::new(&project, &sample::id(number), "sound");
        store.create(new, sample::note(CommitKind::Create)).await.unwrap();
        commit(&store, &project, &sample::id(number), "sound, changed").await.unwrap();
    }
    (project, store)
}

pub(crate) async fn commit(
    store: &PgStore,
    project: &ProjectId,
    id: &ArtifactId,
    title: &str,
) -> Result<(), StoreError> {
    let gate = store.open_gate(project, id).await?;
    let state = gate.stored().state.clone().unwrap();
    store.commit(&gate.witness(), sample::change(&state, title)).await.map(drop)
}

/// Changes the victim's rows by hand, and returns its health as another machine finds it.
async fn damage(sql: &str) -> (Team, ProjectId, PgStore, HealthState, Option<HealthReason>) {
    let team = Team::start().await;
    let (project, before) = two_artifacts(&team).await;
    drop(before);
    let victim = sample::id(VICTIM);
    let key = format!("(SELECT key FROM od.artifact WHERE id = '{victim}')");
    team.cluster.execute(&sql.replace("VICTIM", &key));
    team.cluster.execute(
        "UPDATE od.store SET version = version + 1; UPDATE od.artifact SET version = (SELECT version FROM od.store)",
    );
    let store = team.machine();
    let found = store.load(&project, &victim).await.unwrap();
    let list = store.list(&project).await.unwrap();
    assert_eq!(list.len(), 2, "a damaged one hides no other, and is not hidden");
    let healths: Vec<_> = list.iter().map(|line| (line.id.clone(), line.health)).collect();
    assert!(healths.contains(&(victim.clone(), found.health)), "{healths:?}");
    let other = store.load(&project, &sample::id(OTHER)).await.unwrap();
    assert!(other.health.is_healthy());
    commit(&store, &project, &sample::id(OTHER), "still writable").await.unwrap();
    let refused = store.open_gate(&project, &victim).await;
    assert!(matches!(refused, Err(StoreError::NotHealthy { .. })), "{refused:?}");
    let begun = store.begin_refresh(&project, &victim, RefreshStart::manual(sample::now())).await;
    assert!(matches!(begun, Err(StoreError::NotHealthy { .. })), "{begun:?}");
    let health = found.health;
    (team, project, store, health.state, health.reason)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_of_another_digest_damages_one_artifact_which_a_repair_brings_back() {
    let sql = "UPDATE od.blob SET bytes = 'garbage' WHERE artifact = VICTIM \
        AND digest = (SELECT data FROM od.artifact WHERE key = VICTIM)";
    let (_team, project, store, state, reason) = damage(sql).await;
    assert_eq!((state, reason), (HealthState::CorruptHead, Some(HealthReason::FileUnreadable)));
    let victim = sample::id(VICTIM);
    let served = store.load(&project, &victim).await.unwrap();
    assert_eq!(served.state.as_ref().unwrap().artifact.heading.title, "sound", "the last good one");
    let planned = store.repair(&project, &victim, RepairMode::Plan).await.unwrap();
    assert!(!planned.applied && !planned.drops.is_empty());
    let repaired = store.repair(&project, &victim, RepairMode::Apply).await.unwrap();
    assert!(repaired.applied);
    let healthy = store.load(&project, &victim).await.unwrap();
    assert!(healthy.health.is_healthy(), "{:?}", healthy.health);
    assert_eq!(healthy.revision().map(|revision| revision.get()), Some(3));
    commit(&store, &project, &victim, "written again").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_that_is_gone_damages_one_artifact() {
    let sql = "DELETE FROM od.blob WHERE artifact = VICTIM";
    let (_team, .., state, reason) = damage(sql).await;
    assert_eq!((state, reason), (HealthState::CorruptHead, Some(HealthReason::FileMissing)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_of_hundred_mebibytes_is_not_read() {
    let sql = "UPDATE od.blob SET bytes = convert_to(repeat('x', 104857600), 'UTF8') \
        WHERE artifact = VICTIM";
    let (_team, .., state, reason) = damage(sql).await;
    assert_eq!((state, reason), (HealthState::CorruptHead, Some(HealthReason::FileMissing)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_of_a_later_version_is_read_only() {
    let sql = "UPDATE od.artifact SET pointer = '{\"schemaVersion\": 99}' WHERE key = VICTIM";
    let (_team, .., state, reason) = damage(sql).await;
    let expected = (HealthState::UnknownVersion, Some(HealthReason::SchemaVersionUnknown));
    assert_eq!((state, reason), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_that_is_changed_by_hand_is_not_believed() {
    let sql = "UPDATE od.artifact SET pointer = convert_to(replace(convert_from(pointer, 'UTF8'), \
        'sound, changed', 'hostile'), 'UTF8') WHERE key = VICTIM";
    let (_team, .., state, reason) = damage(sql).await;
    assert_eq!((state, reason), (HealthState::CorruptHead, Some(HealthReason::PointerUnreadable)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_was_changed_breaks_the_chain_of_one_artifact_which_a_repair_cuts() {
    let sql = "UPDATE od.record SET line = convert_to(replace(convert_from(line, 'UTF8'), \
        'create', 'update'), 'UTF8') WHERE artifact = VICTIM AND seq = 1";
    let (_team, project, store, state, reason) = damage(sql).await;
    assert_eq!((state, reason), (HealthState::CorruptTail, Some(HealthReason::AuditChainBroken)));
    let victim = sample::id(VICTIM);
    let repaired = store.repair(&project, &victim, RepairMode::Apply).await.unwrap();
    assert!(repaired.applied && !repaired.drops.is_empty());
    let found = store.load(&project, &victim).await.unwrap();
    assert!(found.health.is_healthy(), "{:?}", found.health);
    commit(&store, &project, &victim, "written again").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fold_of_records_that_says_otherwise_is_noticed() {
    let sql = "UPDATE od.artifact SET ledger = '{\"runs\":{\"failures\":7}}' WHERE key = VICTIM";
    let (_team, .., state, reason) = damage(sql).await;
    let expected = (HealthState::CorruptTail, Some(HealthReason::AuditContradictsPointer));
    assert_eq!((state, reason), expected);
}
