//! What is only tried says what the real call says, and changes nothing.

use od_app::artifacts::{self, CreateArtifact, ListArtifacts, ListTrash, Reading};
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode, connectors, refresh};
use od_core::artifact::{Health, HealthReason, HealthState};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::ArtifactId;
use od_ports::fakes::Act;
use od_ports::store::RefreshLog as _;
use serde_json::{Value, json};

use crate::world::{World, id};

fn by_person(artifact: &ArtifactId) -> RunRefresh {
    let artifact = artifact.clone();
    let (caller, cause) = (Caller::Person, Cause::Asked);
    RunRefresh { caller, project: id("web"), artifact, accept_drift: false, cause }
}

#[tokio::test]
async fn a_planned_refresh_answers_as_the_refresh_does_and_records_nothing() {
    let world = World::new().await;
    let artifact = world.create_artifact("before").await;
    world.events.take();
    let planned = refresh::run(&world.app, by_person(&artifact), Mode::DryRun).await.unwrap();
    let history = world.artifacts.history(&id("web"), &artifact).await.unwrap();
    assert!(history.records.is_empty(), "nothing is recorded");
    assert!(world.events.take().is_empty());
    let done = refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap();
    assert_eq!(planned.refresh, done.refresh);
    assert_eq!(planned.changes, done.changes);
    assert_eq!(planned.stored.state, done.stored.state);
}

/// The plan and the real call refuse in the same words.
#[track_caller]
fn alike(tried: &Failure, made: &Failure, code: ErrorCode) {
    assert_eq!(tried.code, code);
    assert_eq!(tried.to_json(), made.to_json());
}

async fn both(world: &World, artifact: &ArtifactId, code: ErrorCode) {
    let tried = refresh::run(&world.app, by_person(artifact), Mode::DryRun).await.unwrap_err();
    let made = refresh::run(&world.app, by_person(artifact), Mode::Commit).await.unwrap_err();
    alike(&Failure::from(tried), &Failure::from(made), code);
}

#[tokio::test]
async fn a_planned_refresh_is_refused_where_the_refresh_is() {
    let world = World::new().await;
    let damaged = world.create_artifact("damaged").await;
    let health = Health::unsound(HealthState::ALL[1], HealthReason::ALL[0]);
    world.artifacts.set_health(&id("web"), &damaged, health);
    both(&world, &damaged, ErrorCode::LiveArtifactNotHealthy).await;
    let pinned = world.create_artifact("pinned").await;
    world.script.change(|entry| entry.tools[0].input_schema = json!({ "type": "object" }));
    both(&world, &pinned, ErrorCode::ConnectorSafetyDenied).await;
    let off = world.create_artifact("off").await;
    connectors::disconnect(&world.app, &Caller::Person, &"script".parse().unwrap()).await.unwrap();
    both(&world, &off, ErrorCode::ConnectorNotConnected).await;
}

#[tokio::test]
async fn a_planned_refresh_is_refused_by_what_the_source_gives() {
    let world = World::new().await;
    let artifact = world.create_artifact("list").await;
    world.script.set(Act::Give(json!({ "title": { "not": "text" } })));
    both(&world, &artifact, ErrorCode::TemplateBindingInvalid).await;
}

fn create(attempt: &str, title: &str) -> CreateArtifact {
    let document = json!({ "dataJson": { "title": title } });
    let body = json!({ "input": { "title": title, "document": document }, "attemptId": attempt });
    CreateArtifact { project: id("web"), body: body.into(), reading: Reading::Now }
}

#[tokio::test]
async fn a_planned_create_answers_as_the_create_does_and_makes_nothing() {
    let world = World::new().await;
    let planned =
        artifacts::create(&world.app, &Caller::Person, create("a", "One"), Mode::DryRun).await;
    let planned = planned.unwrap().stored.state.clone().unwrap();
    let listed = artifacts::list(&world.app, &Caller::Person, ListArtifacts::default()).await;
    assert!(listed.unwrap().is_empty());
    let made = artifacts::create(&world.app, &Caller::Person, create("a", "One"), Mode::Commit)
        .await
        .unwrap();
    let mut made = made.stored.state.as_ref().unwrap().as_ref().clone();
    // The one thing that is an example.
    made.artifact.id = planned.artifact.id.clone();
    assert_eq!(*planned, made);
}

#[tokio::test]
async fn a_planned_create_knows_the_attempts_before_it() {
    let world = World::new().await;
    let first = artifacts::create(&world.app, &Caller::Person, create("a", "One"), Mode::Commit)
        .await
        .unwrap();
    let again =
        artifacts::create(&world.app, &Caller::Person, create("a", "One"), Mode::DryRun).await;
    let again = again.unwrap();
    assert!(again.replayed);
    assert_eq!(again.stored.id, first.stored.id);
    let tried =
        artifacts::create(&world.app, &Caller::Person, create("a", "Two"), Mode::DryRun).await;
    let made =
        artifacts::create(&world.app, &Caller::Person, create("a", "Two"), Mode::Commit).await;
    let (tried, made) = (tried.unwrap_err(), made.unwrap_err());
    alike(&Failure::from(tried), &Failure::from(made), ErrorCode::Conflict);
}

#[tokio::test]
async fn the_list_of_all_projects_is_newest_first() {
    let world = World::new().await;
    world.create_project("app").await;
    for (project, title) in [("web", "oldest"), ("app", "middle"), ("web", "newest")] {
        world.clock.advance(std::time::Duration::from_secs(1));
        let body: Value = json!({ "input": { "title": title } });
        let request =
            CreateArtifact { project: id(project), body: body.into(), reading: Reading::Now };
        artifacts::create(&world.app, &Caller::Person, request, Mode::Commit).await.unwrap();
    }
    let all = artifacts::list(&world.app, &Caller::Person, ListArtifacts::default()).await.unwrap();
    let titles: Vec<&str> = all.iter().map(|line| line.heading.title.as_str()).collect();
    assert_eq!(titles, ["newest", "middle", "oldest"]);
    let agent = crate::world::agent("app");
    let own = artifacts::list(&world.app, &agent, ListArtifacts::default()).await.unwrap();
    assert_eq!(own.len(), 1, "an agent sees its own project");
}

#[tokio::test]
async fn the_trash_names_what_can_be_brought_back_and_a_plan_leaves_it_there() {
    let world = World::new().await;
    world.create_project("app").await;
    let artifact = world.create_artifact("gone").await;
    let address = |project: Option<&str>| artifacts::Address {
        project: project.map(id),
        artifact: artifact.clone(),
    };
    let delete = artifacts::DeleteArtifact { address: address(None), if_revision: None };
    artifacts::delete(&world.app, &Caller::Person, delete, Mode::Commit).await.unwrap();
    let listed = || artifacts::trash(&world.app, &Caller::Person, ListTrash::default());
    let trash = listed().await.unwrap();
    assert_eq!(trash[0].trashed.artifact_id, artifact);
    assert_eq!(trash[0].project, id("web"));
    let plan =
        artifacts::find_restorable(&world.app, &Caller::Person, &address(None)).await.unwrap();
    assert_eq!(plan, trash[0]);
    assert_eq!(listed().await.unwrap(), trash, "it is still there");
    let elsewhere = address(Some("app"));
    let tried = artifacts::find_restorable(&world.app, &Caller::Person, &elsewhere).await;
    let made = artifacts::restore(&world.app, &Caller::Person, elsewhere).await;
    let (tried, made) = (tried.unwrap_err(), made.unwrap_err());
    alike(&Failure::from(tried), &Failure::from(made), ErrorCode::LiveArtifactNotFound);
}
