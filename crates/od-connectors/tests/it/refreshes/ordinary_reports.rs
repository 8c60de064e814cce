//! Ordinary reports come through create and refresh as they are: cases in fixtures/reports.

use std::path::{Path, PathBuf};

use od_app::artifacts::{CreateArtifact, Reading, create};
use od_app::{Caller, Mode};
use od_core::ids::ArtifactId;
use od_core::json::{Map, Message, Value};
use serde_json::json;

use crate::scene::write;
use crate::world::{World, file_source, project};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reports")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

async fn made(world: &World, title: &str, data: &Value, file: &str) -> ArtifactId {
    let body = json!({ "input": { "title": title, "document": {
        "dataJson": data, "sourceJson": file_source(file) } } });
    let body = Message::read(body.to_string().as_bytes()).unwrap();
    let request = CreateArtifact { project: project(), body, reading: Reading::Now };
    let created = create(&world.app, &Caller::Person, request, Mode::Commit).await;
    created.unwrap_or_else(|err| panic!("{title}: {err:?}")).stored.id.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_keys_that_hold_42_come_through_create_and_refresh() {
    let world = World::new().await;
    let names: Vec<String> =
        serde_json::from_value(read(&cases().join("ordinary-keys.json"))).unwrap();
    assert_eq!(names.len(), 98);
    let holding =
        |value: u32| -> Map { names.iter().map(|name| (name.clone(), value.into())).collect() };
    write(&world.root(), "keys.json", json!(holding(42)).to_string());
    let artifact = made(&world, "Keys", &json!(holding(0)), "keys.json").await;
    let refreshed = world.refresh(&artifact).await.unwrap();
    assert_eq!(world.data(&artifact).await, json!(holding(42)));
    assert!(refreshed.redactions.is_empty(), "{:?}", refreshed.redactions);
    // As rows, and created with them.
    let rows = json!({ "rows": [holding(42), holding(42)] });
    write(&world.root(), "rows.json", rows.to_string());
    let artifact = made(&world, "Rows", &rows, "rows.json").await;
    world.refresh(&artifact).await.unwrap();
    assert_eq!(world.data(&artifact).await, rows);
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_refresh_whatever_they_report() {
    let world = World::new().await;
    let mut seen = 0;
    for entry in std::fs::read_dir(cases()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".json") || name == "ordinary-keys.json" {
            continue;
        }
        let report = read(&path);
        write(&world.root(), &name, report.to_string());
        let artifact = made(&world, &name, &json!({}), &name).await;
        let refreshed = world.refresh(&artifact).await;
        let refreshed = refreshed.unwrap_or_else(|err| panic!("{name}: {err:?}"));
        assert_eq!(world.data(&artifact).await, report, "{name}");
        assert!(refreshed.redactions.is_empty(), "{name}: {:?}", refreshed.redactions);
        seen += 1;
    }
    assert_eq!(seen, 20);
}
