//! Refreshes that go well.

use od_app::Caller;
use od_core::artifact::GeneratedBy;
use od_core::error::Failure;
use od_core::refresh::{RecordStatus, RecordStep};
use serde_json::json;

use crate::scene::write;
use crate::world::{World, file_source, project};

#[tokio::test(flavor = "multi_thread")]
async fn a_local_file_becomes_the_data() {
    let world = World::new().await;
    write(&world.root(), "data/today.json", r#"{ "title": "after", "rows": [1, 2] }"#);
    let artifact = world.create(1, file_source("data/today.json")).await;
    world.clock.advance_ms(60_000);

    let refreshed = world.refresh(&artifact).await.unwrap();

    assert!(refreshed.changes.is_changed());
    let state = refreshed.stored.state.as_ref().unwrap();
    assert_eq!(state.data.value(), &json!({ "title": "after", "rows": [1, 2] }));
    assert_eq!(state.artifact.revision.get(), 2);
    assert_eq!(state.provenance.generated_by, GeneratedBy::RefreshRunner);
    assert_eq!(state.provenance.notes.as_deref(), Some("from the agent"));
    assert_eq!(state.provenance.sources[0].label, "data/today.json");
    let files = world.generation(&artifact).await;
    let page = files.iter().find(|(name, _)| name == "index.html").unwrap();
    let page = String::from_utf8_lossy(&page.1);
    assert!(page.contains("<p>after</p>"), "{page}");

    let records = world.records(&artifact).await;
    let steps: Vec<_> = records.iter().rev().map(|record| (record.step, record.status)).collect();
    assert_eq!(
        steps,
        [
            (RecordStep::Started, RecordStatus::Running),
            (RecordStep::Source, RecordStatus::Succeeded),
            (RecordStep::Committed, RecordStatus::Succeeded),
        ]
    );
    assert!(records.iter().all(|record| record.refresh_id.as_str() == "refresh-000001"));
    let snapshot = world
        .app
        .ports
        .revisions
        .snapshot(&project(), &artifact, &refreshed.refresh)
        .await
        .unwrap();
    assert_eq!(snapshot.data.value(), state.data.value());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_that_changes_nothing_says_so_and_adds_a_record_only() {
    let world = World::new().await;
    write(&world.root(), "same.json", r#"{ "title": "before" }"#);
    let artifact = world.create(1, file_source("same.json")).await;
    let before = world.generation(&artifact).await;
    let bytes_before = bytes_below(&world.artifact_directory(&artifact));

    let refreshed = world.refresh(&artifact).await.unwrap();

    assert!(!refreshed.changes.is_changed());
    assert_eq!(world.generation(&artifact).await, before);
    let added = bytes_below(&world.artifact_directory(&artifact)) - bytes_before;
    println!("a refresh that changes nothing adds {added} bytes");
    assert!((1..=2048).contains(&added), "{added} bytes");
    assert_eq!(world.terminal_records(&artifact).await.len(), 1);
    assert!(!world.artifact_directory(&artifact).join("snapshots/refresh-000001").exists());
}

fn bytes_below(directory: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            metadata if metadata.is_dir() => bytes_below(&entry.path()),
            metadata => metadata.len(),
        })
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_may_look_at_files_more_often_than_an_artifact_may_refresh() {
    let world = World::new().await;
    write(&world.root(), "in.json", r#"{ "title": "after", "body": "left out" }"#);
    let artifact = world.create(1, file_source("in.json")).await;
    for _ in 0..30 {
        let path = "in.json".parse().unwrap();
        let read = od_app::projects::read(&world.app, &Caller::Person, project(), &path).await;
        assert_eq!(read.unwrap().content.unwrap().value(), &json!({ "title": "after" }));
    }
    world.refresh(&artifact).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_names_a_file_of_secrets_is_refused_before_it_is_saved() {
    let world = World::new().await;
    let file = json!({ "path": "config/.env.json" });
    let folder = json!({ "folder": "home/.aws" });
    let mut sources = vec![(file_source("config/.env.json"), "a file of secrets")];
    for (tool, input, want) in [
        ("project_files.read_json", file, "a file of secrets"),
        ("project_files.read_json_folder", folder, "a folder of secrets"),
    ] {
        let daemon = json!({ "type": "daemon_tool", "toolName": tool, "input": input });
        let connector = json!({ "connectorId": "project_files", "toolName": tool });
        let connector = json!({ "type": "connector_tool", "connector": connector, "input": input });
        sources.extend([(daemon, want), (connector, want)]);
    }
    for (source, want) in sources {
        let source = serde_json::from_value(source).unwrap();
        let refused = od_app::connectors::check_source(&world.app, &project(), &source).await;
        let failure = Failure::from(refused.unwrap_err());
        assert!(failure.message.contains(want), "{}", failure.message);
    }
}
