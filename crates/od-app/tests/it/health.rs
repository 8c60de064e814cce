//! Health counts what is there, and says when it cannot.

use od_app::health::{StoreState, report};
use od_core::artifact::{Health, HealthReason, HealthState};

use crate::world::{World, id};

#[tokio::test]
async fn every_artifact_is_counted_under_its_health() {
    let world = World::new().await;
    let empty = report(&world.app).await;
    assert_eq!((empty.store, empty.projects), (StoreState::Ok, 1));
    assert_eq!(empty.tally.total(), 0);
    let mut made = Vec::new();
    for title in ["one", "two", "three", "four"] {
        made.push(world.create_artifact(title).await);
    }
    assert_eq!(report(&world.app).await.store, StoreState::Ok);
    let hurt = [
        (HealthState::CorruptHead, HealthReason::DataInvalid),
        (HealthState::CorruptTail, HealthReason::AuditChainBroken),
        (HealthState::UnknownVersion, HealthReason::SchemaVersionUnknown),
    ];
    for (artifact, (state, reason)) in made.iter().zip(hurt) {
        world.artifacts.set_health(&id("web"), artifact, Health::unsound(state, reason));
    }
    let found = report(&world.app).await;
    assert_eq!(found.store, StoreState::Degraded);
    for state in HealthState::ALL {
        assert_eq!(found.tally.in_health(*state), 1, "{:?}", found.tally);
    }
    assert_eq!((found.tally.total(), found.tally.damaged()), (4, 3));
}

#[tokio::test]
async fn a_store_that_cannot_be_listed_is_failing_and_nothing_is_made_up() {
    let world = World::new().await;
    world.create_artifact("one").await;
    // The registry has it, the store does not.
    world.create_project("gone").await;
    let found = report(&world.app).await;
    assert_eq!(found.store, StoreState::Failing);
}
