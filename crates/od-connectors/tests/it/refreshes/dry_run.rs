//! What is about to be saved is tried: its sources are read once, for mapping and queries.

use std::fs;

use od_app::artifacts::{self, CreateArtifact, CreatedArtifact, Reading};
use od_app::{Caller, Mode};
use od_core::error::Failure;
use od_core::json::Value;
use serde_json::json;

use crate::world::{World, project};

async fn create(
    world: &World,
    document: Value,
    reading: Reading,
) -> Result<CreatedArtifact, Failure> {
    let body = json!({ "input": { "title": "T", "document": document },
        "templateHtml": "<p>{{data.heading}} {{data.total}}</p><p data-od-repeat=\"row in data.rows\">{{row.name}}</p>" });
    let request = CreateArtifact { project: project(), body: body.into(), reading };
    Ok(artifacts::create(&world.app, &Caller::Person, request, Mode::Commit).await?)
}

fn document(path: &str) -> Value {
    json!({
        "dataJson": { "heading": "Now", "total": 1, "rows": [] },
        "sources": [{ "id": "m", "type": "local_file", "input": { "path": path }, "rows": "items",
            "outputMapping": { "dataPaths": [{ "from": "total", "to": "total" }] } }],
        "queries": [{ "to": "rows", "sql": "SELECT name FROM m" }],
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

fn codes(made: &CreatedArtifact) -> Vec<&str> {
    made.warnings.iter().map(|warning| warning.code.as_ref()).collect()
}

#[tokio::test]
async fn the_first_values_are_those_that_a_refresh_would_bring() {
    let world = World::new().await;
    let metrics = json!({ "total": 42, "items": [{ "name": "alpha" }, { "name": "beta" }] });
    fs::write(world.root().join("metrics.json"), metrics.to_string()).unwrap();
    let made = create(&world, document("metrics.json"), Reading::Now).await.unwrap();
    assert_eq!(
        Value::Object(made.first_values.clone()),
        json!({ "data.heading": "Now", "data.total": 42, "data.rows.0.name": "alpha" })
    );
    // Shown, not stored: the author's data stays until somebody refreshes.
    let stored = made.stored.state.as_ref().unwrap();
    assert_eq!(stored.data.value()["total"], 1);
}

#[tokio::test]
async fn a_source_that_cannot_be_read_is_told_of_once_and_not_at_all_offline() {
    let world = World::new().await;
    let made = create(&world, document("later.json"), Reading::Now).await.unwrap();
    let told = codes(&made).into_iter().filter(|code| code.starts_with("source_")).count();
    assert_eq!(told, 1, "{:?}", made.warnings);
    let made = create(&world, document("later.json"), Reading::Offline).await.unwrap();
    assert!(!codes(&made).iter().any(|code| code.starts_with("source_")), "{:?}", made.warnings);
    assert_eq!(made.first_values["data.total"], 1);
}

#[tokio::test]
async fn a_page_that_refreshed_data_would_not_fit_is_told_of() {
    let world = World::new().await;
    let metrics = json!({ "total": { "n": 1 }, "items": [] });
    fs::write(world.root().join("metrics.json"), metrics.to_string()).unwrap();
    let made = create(&world, document("metrics.json"), Reading::Now).await.unwrap();
    let told = made.warnings.iter().any(|it| it.message.starts_with("a refresh would fail today"));
    assert!(told, "{:?}", made.warnings);
    assert!(create(&world, document("metrics.json"), Reading::Offline).await.is_ok());
}
