//! What is about to be saved is tried: its sources are read once, for mapping and queries.

use std::fs;

use od_app::artifacts::{self, CreateArtifact, CreatedArtifact, Reading};
use od_app::{Caller, Mode};
use od_core::error::Failure;
use od_core::json::Value;
use serde_json::json;

use crate::world::{World, project};

const PAGE: &str =
    "<p>{{data.heading}} {{data.total}}</p><p data-od-repeat=\"row in data.rows\">{{row.name}}</p>";

async fn create(
    world: &World,
    document: Value,
    reading: Reading,
) -> Result<CreatedArtifact, Failure> {
    let body = json!({ "input": { "title": "T", "document": document }, "templateHtml": PAGE });
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

#[tokio::test]
async fn an_answer_says_whether_a_refresh_would_fail() {
    let world = World::new().await;
    let fails = async |path: &str, reading: Reading| {
        let body =
            json!({ "input": { "title": "T", "document": document(path) }, "templateHtml": PAGE });
        let request = || CreateArtifact { project: project(), body: body.clone().into(), reading };
        let checked = artifacts::validate(&world.app, &Caller::Person, request()).await.unwrap();
        let made = create(&world, document(path), reading).await.unwrap();
        assert_eq!(checked.refresh_would_fail, made.refresh_would_fail);
        made.refresh_would_fail
    };
    let write = |name: &str, value: Value| {
        fs::write(world.root().join(name), value.to_string()).unwrap();
    };
    write("good.json", json!({ "total": 42, "items": [{ "name": "alpha" }] }));
    assert!(!fails("good.json", Reading::Now).await);
    // An object where the page shows a value, a mapping that names nothing, and a file that is not there.
    write("object.json", json!({ "total": { "n": 1 }, "items": [] }));
    write("other.json", json!({ "sum": { "of": 1 }, "items": [{ "name": "alpha" }] }));
    for path in ["object.json", "other.json", "later.json"] {
        assert!(fails(path, Reading::Now).await, "{path}");
        assert!(!fails(path, Reading::Offline).await, "{path}");
    }
    // What protection takes out of the source is said, and is no failure.
    write(
        "secret.json",
        json!({ "total": 1, "items": [{ "name": "a" }], "headers": { "x": "y" } }),
    );
    let made = create(&world, document("secret.json"), Reading::Now).await.unwrap();
    assert!(codes(&made).contains(&"source_redacted"), "{:?}", made.warnings);
    assert!(!made.refresh_would_fail);
}

#[tokio::test]
async fn a_source_that_may_fail_alone_does_not_make_a_refresh_fail() {
    let world = World::new().await;
    fs::write(
        world.root().join("good.json"),
        json!({ "total": 42, "items": [{ "name": "a" }] }).to_string(),
    )
    .unwrap();
    let mut document = document("good.json");
    document["sources"].as_array_mut().unwrap().push(json!({ "id": "late", "type": "local_file",
        "input": { "path": "later.json" }, "onFailure": "keep",
        "outputMapping": { "dataPaths": [{ "from": "note", "to": "note" }] } }));
    let made = create(&world, document, Reading::Now).await.unwrap();
    assert!(codes(&made).contains(&"source_not_readable"), "{:?}", made.warnings);
    assert!(!made.refresh_would_fail);
}

#[tokio::test]
async fn a_query_that_is_shown_nowhere_is_told_with_the_columns_that_it_gives() {
    let world = World::new().await;
    fs::write(world.root().join("sums.csv"), "name,betrag\na,1\nb,2\n").unwrap();
    let document = json!({
        "dataJson": { "heading": "Now", "total": 1, "rows": [], "top": [] },
        "sources": [{ "id": "sums", "type": "local_file", "input": { "path": "sums.csv" } }],
        "queries": [{ "to": "top", "sql": "SELECT name, betrag FROM sums" }],
        "refreshPermission": "manual_refresh_granted_for_read_only",
    });
    let made = create(&world, document, Reading::Now).await.unwrap();
    let told = made.warnings.iter().find(|it| it.code == "target_not_bound").unwrap();
    assert_eq!(
        told.fix.as_deref(),
        Some("<li data-od-repeat=\"row in data.top\">{{row.name}} {{row.betrag}}</li>")
    );
}

#[tokio::test]
async fn a_decimal_comma_is_told_of_and_read_once_it_is_named() {
    let world = World::new().await;
    fs::write(world.root().join("sums.csv"), "name;betrag\na;1.234,50\nb;99,00\n").unwrap();
    let document = |decimal: Option<&str>| {
        let mut input = json!({ "path": "sums.csv" });
        if let Some(decimal) = decimal {
            input["decimal"] = json!(decimal);
        }
        json!({
            "dataJson": { "heading": "Now", "total": 1, "rows": [] },
            "sources": [{ "id": "sums", "type": "local_file", "input": input }],
            "queries": [{ "to": "total", "sql": "SELECT sum(betrag) FROM sums", "shape": "value" }],
            "refreshPermission": "manual_refresh_granted_for_read_only",
        })
    };
    let made = create(&world, document(None), Reading::Now).await.unwrap();
    let told = made.warnings.iter().find(|it| it.code == "decimal_comma").unwrap();
    assert!(told.message.contains("`betrag`") && !told.message.contains("1.234"), "{told:?}");
    assert_eq!(told.path, "/input/document/sources/0/input/decimal");
    assert_eq!(told.fix.as_deref(), Some("write `\",\"`"));
    assert!(!made.refresh_would_fail);
    let made = create(&world, document(Some(",")), Reading::Now).await.unwrap();
    assert!(!codes(&made).contains(&"decimal_comma"), "{:?}", made.warnings);
    assert_eq!(made.first_values["data.total"], 1333.5);
}
