//! The refresh runner does what the state machine says, and nothing else.

use od_app::refresh::run::{Cause, RefreshError, RunRefresh};
use od_app::{Caller, Mode, refresh};
use od_core::error::{ErrorCode, Failure};
use od_core::event::Event;
use od_core::ids::ArtifactId;
use od_core::ledger::{Door, RefreshStart};
use od_core::refresh::{Phase, RecordStatus, RecordStep};
use od_ports::connector_provider::ProviderError;
use od_ports::fakes::Act;
use od_ports::store::RefreshLog as _;
use serde_json::json;

use crate::world::{World, id};

fn by_person(artifact: &ArtifactId) -> RunRefresh {
    let artifact = artifact.clone();
    let (caller, cause) = (Caller::Person, Cause::Asked);
    RunRefresh { caller, project: id("web"), artifact, accept_drift: false, cause }
}

/// The steps of the history, oldest first.
async fn steps(world: &World, artifact: &ArtifactId) -> Vec<(u64, RecordStep, RecordStatus)> {
    let history = world.artifacts.history(&id("web"), artifact).await.unwrap();
    let records = history.records.iter().cloned().rev();
    records.map(|record| (record.refresh_id.number(), record.step, record.status)).collect()
}

/// The events, in order: a refresh's phase, or `None` for one about the artifact.
fn phases(world: &World) -> Vec<Option<Phase>> {
    let events = world.events.take();
    events
        .iter()
        .map(|event| match event {
            Event::Refresh(event) => Some(event.phase),
            Event::Artifact(_) | Event::Check(_) | Event::Agent(_) => None,
        })
        .collect()
}

#[tokio::test]
async fn records_and_events_come_in_the_order_of_the_machine() {
    let world = World::new().await;
    let artifact = world.create_artifact("before").await;
    world.events.take();
    let refreshed = refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap();
    assert_eq!(refreshed.stored.revision().unwrap().get(), 2);
    assert_eq!(
        phases(&world),
        [Some(Phase::Started), Some(Phase::Progress), Some(Phase::Succeeded), None]
    );
    let again = refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap();
    assert!(!again.changes.is_changed());
    assert_eq!(again.stored.revision().unwrap().get(), 2, "no revision for nothing");
    assert_eq!(
        phases(&world),
        [Some(Phase::Started), Some(Phase::Progress), Some(Phase::Succeeded)]
    );
    world.script.set(Act::Fail(ProviderError::CredentialRefused));
    refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap_err();
    assert_eq!(phases(&world), [Some(Phase::Started), Some(Phase::Failed)]);
    let (running, good, bad) =
        (RecordStatus::Running, RecordStatus::Succeeded, RecordStatus::Failed);
    assert_eq!(
        steps(&world, &artifact).await,
        [
            (1, RecordStep::Started, running),
            (1, RecordStep::Source, good),
            (1, RecordStep::Committed, good),
            (2, RecordStep::Started, running),
            (2, RecordStep::Source, good),
            (2, RecordStep::Committed, good),
            (3, RecordStep::Started, running),
            (3, RecordStep::Source, bad),
            (3, RecordStep::Failed, bad),
        ]
    );
}

#[tokio::test]
async fn a_source_that_hangs_times_out_in_the_record_too() {
    let world = World::new().await;
    let artifact = world.create_artifact("before").await;
    world.script.set(Act::Hang);
    let err = refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(err).code, ErrorCode::RefreshTimedOut);
    let steps = steps(&world, &artifact).await;
    assert_eq!(steps.last(), Some(&(1, RecordStep::Failed, RecordStatus::TimedOut)));
    let history = world.artifacts.history(&id("web"), &artifact).await.unwrap();
    let last = &history.records[0];
    assert!(last.duration_ms.is_some_and(|ms| ms > 0), "a last record says how long it took");
    assert!(last.error.as_ref().unwrap().suggestion.is_some());
}

#[tokio::test]
async fn what_was_left_open_is_closed_by_the_machine_as_well() {
    let world = World::new().await;
    let artifact = world.create_artifact("before").await;
    let now = world.app.ports.clock.now();
    drop(
        world
            .artifacts
            .begin_refresh(&id("web"), &artifact, RefreshStart::manual(now))
            .await
            .unwrap(),
    );
    world.events.take();
    let closed = refresh::recover(&world.app).await.unwrap().closed;
    assert_eq!(closed.len(), 1);
    assert_eq!(phases(&world), [Some(Phase::Failed)]);
    let held = world
        .artifacts
        .begin_refresh(&id("web"), &artifact, RefreshStart::manual(now))
        .await
        .unwrap();
    assert_eq!(refresh::recover(&world.app).await.unwrap().closed, [], "it may still be running");
    world.clock.advance(std::time::Duration::from_secs(121));
    let closed = refresh::recover(&world.app).await.unwrap().closed;
    assert_eq!(closed, std::slice::from_ref(&held.id));
    drop(held);
    let ended: Vec<_> = steps(&world, &artifact)
        .await
        .into_iter()
        .filter(|(_, step, _)| step.is_last())
        .map(|(number, _, status)| (number, status))
        .collect();
    assert_eq!(ended, [(1, RecordStatus::Abandoned), (2, RecordStatus::TimedOut)]);
}

#[tokio::test]
async fn an_agent_cannot_accept_a_drift_and_nothing_is_recorded() {
    let world = World::new().await;
    let artifact = world.create_artifact("before").await;
    let request = RunRefresh {
        caller: crate::world::agent("web"),
        accept_drift: true,
        ..by_person(&artifact)
    };
    let err = refresh::run(&world.app, request, Mode::Commit).await.unwrap_err();
    assert!(matches!(err, RefreshError::DriftNotYours));
    assert_eq!(steps(&world, &artifact).await, []);
    world.script.set(Act::Give(json!({ "title": "after" })));
    refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap();
}

#[tokio::test]
async fn to_an_agent_an_artifact_of_another_project_is_not_there() {
    let world = World::new().await;
    let artifact = world.create_artifact("before").await;
    let run = world.start_run().await.run.id;
    let caller = Caller::Agent { run, project: id("other"), door: Door::Http };
    let request = RunRefresh { caller, ..by_person(&artifact) };
    let err = refresh::run(&world.app, request.clone(), Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(err).code, ErrorCode::ProjectNotFound);
    let err = refresh::run(&world.app, request, Mode::DryRun).await.unwrap_err();
    assert_eq!(Failure::from(err).code, ErrorCode::ProjectNotFound);
    assert_eq!(steps(&world, &artifact).await, [], "nothing was recorded");
}
