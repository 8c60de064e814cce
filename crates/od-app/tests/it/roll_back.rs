//! A stored state becomes the current one again, by the rules of an update.

use od_app::artifacts::{
    self, Address, Reading, RollBack, RollBackError, RollBackTo, RolledBack, Target,
    UpdateArtifact, roll_back,
};
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode, refresh};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, RefreshId, Revision};
use od_ports::fakes::Act;
use od_ports::store::{ArtifactStore as _, RevisionStore as _};
use serde_json::{Value, json};

use crate::world::{World, agent, id};

fn to(artifact: &ArtifactId, refresh: u64) -> RollBack {
    let address = Address { project: None, artifact: artifact.clone() };
    RollBack {
        address,
        to: RollBackTo::Refresh(RefreshId::from_number(refresh)),
        if_revision: None,
    }
}

/// Refreshes to `first`, then to `second`.
async fn with_two_states(world: &World) -> ArtifactId {
    let artifact = world.create_artifact("made").await;
    for title in ["first", "second"] {
        world.script.set(Act::Give(json!({ "title": title })));
        let (caller, project) = (Caller::Person, id("web"));
        let artifact = artifact.clone();
        let request =
            RunRefresh { caller, project, artifact, accept_drift: false, cause: Cause::Asked };
        refresh::run(&world.app, request, Mode::Commit).await.unwrap();
    }
    world.events.take();
    artifact
}

async fn change(world: &World, artifact: &ArtifactId, body: Value) {
    let address = Address { project: None, artifact: artifact.clone() };
    let request = UpdateArtifact {
        target: Target::Address(address),
        body: body.into(),
        reading: Reading::Now,
    };
    artifacts::update(&world.app, &Caller::Person, request, Mode::Commit).await.unwrap();
}

fn title(done: &RolledBack) -> &Value {
    &done.stored.state.as_ref().unwrap().data.value()["title"]
}

#[tokio::test]
async fn data_and_provenance_of_a_state_become_a_new_revision() {
    let world = World::new().await;
    let artifact = with_two_states(&world).await;
    let first = RefreshId::from_number(1);
    let snapshot = world.artifacts.snapshot(&id("web"), &artifact, &first).await.unwrap();
    let done =
        roll_back(&world.app, &Caller::Person, to(&artifact, 1), Mode::Commit).await.unwrap();
    assert!(done.changed);
    assert_eq!(done.changes.paths, ["/title"]);
    assert_eq!(title(&done), "first");
    let state = done.stored.state.clone().unwrap();
    assert_eq!(state.provenance, snapshot.provenance);
    assert_eq!(state.artifact.revision.get(), 4);
    assert_eq!(world.events.take().len(), 1, "consoles hear of it");
    // And back again: the history is as it was.
    let back =
        roll_back(&world.app, &Caller::Person, to(&artifact, 2), Mode::Commit).await.unwrap();
    assert_eq!((title(&back), back.stored.revision().unwrap().get()), (&json!("second"), 5));
}

#[tokio::test]
async fn a_state_that_is_the_current_one_makes_no_revision() {
    let world = World::new().await;
    let artifact = with_two_states(&world).await;
    let done =
        roll_back(&world.app, &Caller::Person, to(&artifact, 2), Mode::Commit).await.unwrap();
    assert!(!done.changed && !done.changes.is_changed());
    assert_eq!(done.stored.revision().unwrap().get(), 3);
    assert!(world.events.take().is_empty());
}

#[tokio::test]
async fn a_plan_answers_as_the_roll_back_does_and_stores_nothing() {
    let world = World::new().await;
    let artifact = with_two_states(&world).await;
    let before = world.artifacts.load(&id("web"), &artifact).await.unwrap();
    let planned =
        roll_back(&world.app, &Caller::Person, to(&artifact, 1), Mode::DryRun).await.unwrap();
    let after = world.artifacts.load(&id("web"), &artifact).await.unwrap();
    assert_eq!(before.state, after.state);
    assert!(world.events.take().is_empty());
    let done =
        roll_back(&world.app, &Caller::Person, to(&artifact, 1), Mode::Commit).await.unwrap();
    assert_eq!(planned.stored.state, done.stored.state);
    assert_eq!(planned.changes, done.changes);
}

#[tokio::test]
async fn a_template_that_does_not_fit_the_old_data_refuses_it_with_the_reason() {
    let world = World::new().await;
    let artifact = with_two_states(&world).await;
    let list = json!({
        "input": { "document": { "dataJson": { "rows": ["a"] } } },
        "templateHtml": "<!doctype html><title>T</title><body><p data-od-repeat=\"row in data.rows\">{{row}}</p>",
    });
    change(&world, &artifact, list).await;
    let before = world.artifacts.load(&id("web"), &artifact).await.unwrap();
    for planned in [true, false] {
        let request = to(&artifact, 1);
        let refused = if planned {
            roll_back(&world.app, &Caller::Person, request, Mode::DryRun).await
        } else {
            roll_back(&world.app, &Caller::Person, request, Mode::Commit).await
        };
        let failure = Failure::from(refused.unwrap_err());
        assert_eq!(failure.code, ErrorCode::LiveArtifactInvalid);
        assert!(failure.message.contains("refresh-000001"), "{}", failure.message);
        let issue = &failure.details.unwrap()["issues"][0];
        assert!(issue.to_string().contains("data.rows"), "{issue}");
    }
    let after = world.artifacts.load(&id("web"), &artifact).await.unwrap();
    assert_eq!(before.state, after.state);
}

#[tokio::test]
async fn a_schema_that_does_not_fit_the_old_data_refuses_it() {
    let world = World::new().await;
    let artifact = with_two_states(&world).await;
    let schema = json!({ "type": "object", "required": ["n"] });
    let document = json!({ "dataSchemaJson": schema, "dataJson": { "n": 1, "title": "t" } });
    change(&world, &artifact, json!({ "input": { "document": document } })).await;
    let refused =
        roll_back(&world.app, &Caller::Person, to(&artifact, 1), Mode::Commit).await.unwrap_err();
    assert!(matches!(refused, RollBackError::DoesNotFit { .. }), "{refused:?}");
}

#[tokio::test]
async fn only_a_person_rolls_back_and_only_from_the_revision_they_saw() {
    let world = World::new().await;
    let artifact = with_two_states(&world).await;
    let refused =
        roll_back(&world.app, &agent("web"), to(&artifact, 1), Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(refused).code, ErrorCode::Forbidden);
    let stale = RollBack { if_revision: Some(Revision::first()), ..to(&artifact, 1) };
    let refused = roll_back(&world.app, &Caller::Person, stale, Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(refused).code, ErrorCode::RevisionConflict);
    let unknown =
        roll_back(&world.app, &Caller::Person, to(&artifact, 9), Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(unknown).code, ErrorCode::NotFound);
}
