//! What update says and keeps, by the rules of the core.

use od_app::artifacts::{
    self, Address, Reading, Target, UpdateArtifact, UpdateError, UpdatedArtifact,
};
use od_app::{Caller, Mode, connectors};
use od_core::artifact::{Author, SourcePin};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::ArtifactId;
use od_core::json::Message;
use serde_json::{Value, json};

use crate::world::{World, agent, body, id};

async fn update(
    world: &World,
    caller: &Caller,
    artifact: &ArtifactId,
    body: impl Into<Message>,
) -> Result<UpdatedArtifact, UpdateError> {
    let address = Address { project: Some(id("web")), artifact: artifact.clone() };
    let request =
        UpdateArtifact { target: address.into(), body: body.into(), reading: Reading::Now };
    artifacts::update(&world.app, caller, request, Mode::Commit).await
}

#[track_caller]
fn issues(refused: Result<UpdatedArtifact, UpdateError>) -> Vec<Issue> {
    match refused {
        Err(UpdateError::Invalid { issues }) => issues,
        other => panic!("{other:?}"),
    }
}

fn codes(issues: &[Issue]) -> Vec<&str> {
    issues.iter().map(|issue| issue.code.as_str()).collect()
}

/// The source that the world gives its artifacts, with a permission.
fn source(permission: &str) -> Value {
    let mut source = body("T")["input"]["document"]["sourceJson"].clone();
    source["refreshPermission"] = json!(permission);
    json!({ "input": { "document": { "sourceJson": source } } })
}

fn pin(updated: &UpdatedArtifact) -> Option<SourcePin> {
    updated.stored.artifact().unwrap().source_pin.clone()
}

const GRANTED: &str = "manual_refresh_granted_for_read_only";

#[tokio::test]
async fn schema_source_and_template_are_refused_together() {
    let world = World::new().await;
    let artifact = world.create_artifact("T").await;
    let wrong = json!({
        "input": { "document": {
            "dataSchemaJson": { "required": ["missing"] },
            "sourceJson": { "type": "connector_tool", "connector": {
                "connectorId": "nobody", "toolName": "nobody.knows" } },
        } },
        "templateHtml": "<!doctype html><title>T</title><p>{{data}}</p>",
    });
    let found = issues(update(&world, &Caller::Person, &artifact, wrong.clone()).await);
    assert_eq!(
        codes(&found),
        ["CONNECTOR_NOT_FOUND", "schema_required", "TEMPLATE_BINDING_INVALID"]
    );
    assert!(found.iter().all(|issue| issue.fix.is_some()), "{found:?}");
    let text = wrong.to_string().replacen('{', "{\"ifRevision\":9007199254740993,", 1);
    let found = issues(
        update(&world, &Caller::Person, &artifact, Message::read(text.as_bytes()).unwrap()).await,
    );
    assert_eq!(
        codes(&found),
        ["inexact_number", "CONNECTOR_NOT_FOUND", "TEMPLATE_BINDING_INVALID"]
    );
}

#[tokio::test]
async fn new_data_that_the_stored_template_cannot_show_is_told_beside_other_faults() {
    let world = World::new().await;
    let artifact = world.create_artifact("T").await;
    let wrong = json!({ "input": { "title": 5, "document": { "dataJson": { "title": {} } } } });
    let found = issues(update(&world, &Caller::Person, &artifact, wrong).await);
    assert_eq!(codes(&found), ["wrong_type", "TEMPLATE_BINDING_INVALID"]);
}

#[tokio::test]
async fn a_person_switches_refreshing_off_whatever_became_of_the_connector() {
    let world = World::new().await;
    let artifact = world.create_artifact("T").await;
    connectors::disconnect(&world.app, &Caller::Person, &"script".parse().unwrap()).await.unwrap();
    let updated = update(&world, &Caller::Person, &artifact, source("none")).await.unwrap();
    assert_eq!(updated.stored.artifact().unwrap().permission_set_by, Some(Author::Person));
    // And only a person switches it on again.
    let refused = update(&world, &agent("web"), &artifact, source(GRANTED)).await.unwrap_err();
    let failure = Failure::from(refused);
    assert_eq!(failure.code, ErrorCode::Forbidden);
    assert!(failure.suggestion.contains("ask the person"), "{}", failure.suggestion);
    update(&world, &Caller::Person, &artifact, source(GRANTED)).await.unwrap();
}

#[tokio::test]
async fn a_permission_that_is_switched_accepts_no_drift() {
    let world = World::new().await;
    let artifact = world.create_artifact("T").await;
    let before = update(&world, &Caller::Person, &artifact, json!({})).await.unwrap();
    world.script.change(|catalog| {
        catalog.tools[0].input_schema = json!({ "type": "object", "additionalProperties": false });
    });
    let off = update(&world, &Caller::Person, &artifact, source("none")).await.unwrap();
    assert_eq!(pin(&off), pin(&before));
    assert!(pin(&off).is_some());
    // Another source is pinned to what there is.
    let mut other = source("none");
    other["input"]["document"]["sourceJson"]["outputMapping"] =
        json!({ "dataPaths": [{ "from": "title", "to": "title" }] });
    let other = update(&world, &Caller::Person, &artifact, other).await.unwrap();
    assert_ne!(pin(&other), pin(&before));
    let removed = json!({ "input": { "document": { "sourceJson": null } } });
    assert_eq!(pin(&update(&world, &Caller::Person, &artifact, removed).await.unwrap()), None);
}

#[tokio::test]
async fn new_data_has_the_origin_that_is_known_and_keeps_the_notes() {
    let world = World::new().await;
    let artifact = world.create_artifact("T").await;
    let said = json!({ "provenanceJson": { "notes": "by hand", "sources": [] } });
    update(&world, &Caller::Person, &artifact, said).await.unwrap();
    let data = json!({ "input": { "document": { "dataJson": { "title": "U" } } } });
    let updated = update(&world, &Caller::Person, &artifact, data).await.unwrap();
    let provenance = &updated.stored.state.as_ref().unwrap().provenance;
    assert_eq!(provenance.notes.as_deref(), Some("by hand"));
    assert_eq!(provenance.sources[0].label, "script.list_things");
}

#[tokio::test]
async fn a_body_that_names_its_artifact_badly_hides_nothing() {
    let world = World::new().await;
    let request = |body: Value| UpdateArtifact {
        target: Target::InBody(id("web")),
        body: body.into(),
        reading: Reading::Now,
    };
    let bad = json!({ "artifactId": "a b", "input": { "titel": 1 }, "templateHtml": "<script>" });
    let refused = artifacts::update(&world.app, &agent("web"), request(bad), Mode::Commit).await;
    let found = issues(refused);
    let said: Vec<_> = found.iter().map(|issue| (&*issue.path, &*issue.code)).collect();
    assert_eq!(said[..2], [("/artifactId", "malformed"), ("/input/titel", "unknown_field")]);
    assert!(said[2].0.starts_with("template.html"), "{said:?}");
    let artifact = world.create_artifact("T").await;
    let good = json!({ "artifactId": artifact, "input": { "title": "U" } });
    let updated =
        artifacts::update(&world.app, &agent("web"), request(good), Mode::Commit).await.unwrap();
    assert_eq!(updated.stored.summary.heading.title, "U");
}
