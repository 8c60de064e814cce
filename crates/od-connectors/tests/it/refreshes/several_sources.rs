//! Several sources and queries in one refresh: what is kept, what is refused, and what is said of it.

use std::fs;

use od_app::artifacts::{CreateArtifact, Reading};
use od_app::connectors::execute::ExecuteTool;
use od_app::connectors::{self, Payer};
use od_app::{Caller, Mode};
use od_core::connector::Purpose;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::ArtifactId;
use od_core::json::{BoundedObject, Message, Value};
use od_core::ownership::origins;
use od_core::refresh::{RecordStatus, RecordStep};
use serde_json::json;

use crate::world::{World, project};

const GRANTED: &str = "manual_refresh_granted_for_read_only";

fn source(id: &str) -> Value {
    json!({ "id": id, "type": "local_file", "input": { "path": format!("{id}.csv") } })
}

fn kept(id: &str) -> Value {
    let mut source = source(id);
    source["onFailure"] = json!("keep");
    source
}

fn body(sources: &[Value], queries: &Value) -> Value {
    json!({ "input": { "title": "T", "document": {
        "dataJson": { "total": 0, "names": [], "second": null },
        "sources": sources, "queries": queries, "refreshPermission": GRANTED } },
        "templateHtml": "<!doctype html><title>T</title><p>{{data.total}}</p><p>{{data.second}}</p>\
            <ul><li data-od-repeat=\"n in data.names\">{{n}}</li></ul>" })
}

fn queries() -> Value {
    json!([
        { "to": "total", "sql": "SELECT sum(n) FROM one", "shape": "value" },
        { "to": "names", "sql": "SELECT name FROM one ORDER BY name", "shape": "column" },
        { "to": "second", "sql": "SELECT sum(one.n * two.n) FROM one JOIN two USING (name)", "shape": "value" },
    ])
}

fn write(world: &World, id: &str, rows: &[(&str, u32)]) {
    let rows: String = rows.iter().map(|(name, n)| format!("{name},{n}\n")).collect();
    fs::write(world.root().join(format!("{id}.csv")), format!("name,n\n{rows}")).unwrap();
}

async fn create(world: &World, body: &Value) -> Result<(ArtifactId, Vec<String>), Failure> {
    let body = Message::read(body.to_string().as_bytes()).unwrap();
    let request = CreateArtifact { project: project(), body, reading: Reading::Now };
    let created = od_app::artifacts::create(&world.app, &Caller::Person, request, Mode::Commit);
    let created = created.await.map_err(Failure::from)?;
    Ok((created.stored.id.clone(), created.warnings.into_iter().map(|it| it.code).collect()))
}

async fn data(world: &World, artifact: &ArtifactId) -> Value {
    let stored = world.app.ports.artifacts.load(&project(), artifact).await.unwrap();
    stored.state.as_ref().unwrap().data.value().clone()
}

#[tokio::test]
async fn two_files_are_joined_in_one_commit_and_say_where_each_value_comes_from() {
    let world = World::new().await;
    write(&world, "one", &[("a", 2), ("b", 3)]);
    write(&world, "two", &[("a", 10), ("b", 100)]);
    let (artifact, _) =
        create(&world, &body(&[source("one"), source("two")], &queries())).await.unwrap();
    world.clock.advance_ms(1_000);
    let refreshed = world.refresh(&artifact).await.unwrap();
    assert_eq!((refreshed.source_count, refreshed.status()), (2, RecordStatus::Succeeded));
    let stored = &refreshed.stored;
    let state = stored.state.as_ref().unwrap();
    assert_eq!(state.data.value(), &json!({ "total": 5, "names": ["a", "b"], "second": 320 }));
    assert_eq!(u64::from(state.artifact.schema_version), 2);
    assert_eq!(state.artifact.source_pins.len(), 2);
    let origins = origins(state, None);
    let second = origins.iter().find(|it| it.path.as_str() == "/second").unwrap();
    assert_eq!(second.sources, ["one", "two"]);
    assert!(
        second.says.starts_with("worked out by a query over one.csv, two.csv at"),
        "{}",
        second.says
    );
    let records = world.records(&artifact).await;
    let steps: Vec<_> = records
        .iter()
        .filter(|record| record.step == RecordStep::Source)
        .map(|record| (record.source.as_ref().unwrap().to_string(), record.rows))
        .collect();
    assert!(steps.contains(&("one".to_owned(), Some(2))) && steps.len() == 2, "{steps:?}");
    world.clock.advance_ms(1_000);
    let again = world.refresh(&artifact).await.unwrap();
    assert!(!again.changes.is_changed(), "the same rows give the same data");
    assert_eq!(again.stored.revision(), stored.revision());
}

#[tokio::test]
async fn a_source_that_may_fail_keeps_its_values_and_is_marked_until_it_is_back() {
    let world = World::new().await;
    write(&world, "one", &[("a", 2)]);
    write(&world, "two", &[("a", 10)]);
    let (artifact, _) =
        create(&world, &body(&[source("one"), kept("two")], &queries())).await.unwrap();
    world.clock.advance_ms(1_000);
    world.refresh(&artifact).await.unwrap();
    fs::remove_file(world.root().join("two.csv")).unwrap();
    write(&world, "one", &[("a", 7)]);
    world.clock.advance_ms(1_000);
    let partial = world.refresh(&artifact).await.unwrap();
    assert_eq!(partial.status(), RecordStatus::SucceededPartially);
    assert_eq!(partial.stale[0].source, "two");
    assert_eq!(partial.stale[0].code, ErrorCode::SourceUnreadable);
    assert_eq!(data(&world, &artifact).await, json!({ "total": 7, "names": ["a"], "second": 20 }));
    let state = partial.stored.state.as_ref().unwrap();
    assert_eq!(state.provenance.stale, partial.stale);
    assert_eq!(partial.stored.summary.stale, partial.stale);
    let origins = origins(state, None);
    let stale = |path: &str| {
        origins.iter().find(|it| it.path.as_str() == path).unwrap().stale_since.is_some()
    };
    assert_eq!((stale("/second"), stale("/total")), (true, false));
    let last = world.terminal_records(&artifact).await.remove(0);
    assert_eq!(last.status, RecordStatus::SucceededPartially);
    assert_eq!(last.stale, partial.stale);
    // Nothing new: the mark stays, and no revision is made of it.
    world.clock.advance_ms(1_000);
    let still = world.refresh(&artifact).await.unwrap();
    assert_eq!(still.stored.revision(), partial.stored.revision());
    assert_eq!(still.stale[0].since, partial.stale[0].since);
    write(&world, "two", &[("a", 10)]);
    world.clock.advance_ms(1_000);
    let whole = world.refresh(&artifact).await.unwrap();
    assert_eq!((whole.status(), whole.stale.len()), (RecordStatus::Succeeded, 0));
    assert_eq!(data(&world, &artifact).await["second"], 70);
}

#[tokio::test]
async fn a_source_that_has_to_succeed_fails_the_refresh_and_so_do_all_that_may_fail() {
    let world = World::new().await;
    write(&world, "one", &[("a", 2)]);
    write(&world, "two", &[("a", 10)]);
    let (first, _) =
        create(&world, &body(&[source("one"), source("two")], &queries())).await.unwrap();
    let (second, _) = create(&world, &body(&[kept("one"), kept("two")], &queries())).await.unwrap();
    world.refresh(&first).await.unwrap();
    let before = data(&world, &first).await;
    fs::remove_file(world.root().join("two.csv")).unwrap();
    write(&world, "one", &[("a", 9)]);
    let failure = Failure::from(world.refresh(&first).await.unwrap_err());
    assert_eq!(failure.code, ErrorCode::SourceUnreadable);
    assert_eq!(data(&world, &first).await, before, "what was there stays");
    fs::remove_file(world.root().join("one.csv")).unwrap();
    let failure = Failure::from(world.refresh(&second).await.unwrap_err());
    assert_eq!(failure.code, ErrorCode::SourceUnreadable);
}

#[tokio::test]
async fn a_query_that_can_only_fail_is_refused_with_what_there_is() {
    let world = World::new().await;
    write(&world, "one", &[("a", 2)]);
    let refused = |sql: &str, shape: &str| {
        let queries = json!([{ "to": "total", "sql": sql, "shape": shape }]);
        body(&[source("one")], &queries)
    };
    for (sql, shape, says) in [
        ("SELECT sum(nn) FROM one", "value", "SELECT sum(n) FROM one"),
        ("SELECT n FROM ones", "value", "SELECT n FROM one"),
        ("SELECT name, n FROM one", "value", ""),
        ("SELECT random() FROM one", "value", ""),
    ] {
        let failure = create(&world, &refused(sql, shape)).await.unwrap_err();
        assert_eq!(failure.code, ErrorCode::QueryFailed, "{sql}: {failure:?}");
        let told = format!("{failure:?}");
        assert!(told.contains("/input/document/queries/0/sql"), "{told}");
        assert!(told.contains("one(name, n)"), "{told}");
        assert!(told.contains(says), "{sql}: {told}");
    }
    // A source that is not there yet says nothing against its queries.
    let queries = json!([{ "to": "total", "sql": "SELECT sum(n) FROM later", "shape": "value" }]);
    let (_, warnings) = create(&world, &body(&[source("later")], &queries)).await.unwrap();
    assert!(warnings.contains(&"source_not_readable".to_owned()), "{warnings:?}");
}

#[tokio::test]
async fn a_query_that_fails_later_leaves_the_page_and_names_itself() {
    let world = World::new().await;
    write(&world, "one", &[("a", 2)]);
    let queries = json!([{ "to": "total", "sql": "SELECT sum(n) FROM one", "shape": "value" }]);
    let (artifact, _) = create(&world, &body(&[source("one")], &queries)).await.unwrap();
    world.refresh(&artifact).await.unwrap();
    fs::write(world.root().join("one.csv"), "name,m\na,1\n").unwrap();
    let failure = Failure::from(world.refresh(&artifact).await.unwrap_err());
    assert_eq!(failure.code, ErrorCode::QueryFailed);
    assert!(failure.message.starts_with("query 1 (to `total`) failed: "), "{}", failure.message);
    assert!(failure.suggestion.contains("one(name, m)"), "{}", failure.suggestion);
    assert_eq!(data(&world, &artifact).await["total"], 2);
    let records = world.records(&artifact).await;
    assert_eq!(records.iter().find(|it| it.step.is_last()).unwrap().status, RecordStatus::Failed);
}

#[tokio::test]
async fn an_agent_is_shown_the_shape_of_what_is_too_large_to_show() {
    let world = World::new().await;
    let rows: String = (0..20_000).map(|n| format!("name{n},{n},{}.5\n", n % 7)).collect();
    fs::write(world.root().join("large.csv"), format!("name,n,share\n{rows}")).unwrap();
    let request = ExecuteTool {
        project: project(),
        connector: "project_files".parse().unwrap(),
        tool: "read_table".to_owned(),
        input: BoundedObject::check(json!({ "path": "large.csv" })).unwrap(),
        purpose: Purpose::AgentPreview,
        payer: Payer::Project(project()),
        expected: None,
        mapping: None,
    };
    let executed = connectors::execute(&world.app, request).await.unwrap();
    assert!(executed.truncated);
    let shape = executed.output.value();
    assert_eq!((&shape["count"], &shape["truncated"]), (&json!(20_000), &json!(true)));
    assert_eq!(shape["rows"].as_array().unwrap().len(), 20);
    assert_eq!(
        shape["columns"],
        json!([{ "name": "name", "type": "text" }, { "name": "n", "type": "integer" },
            { "name": "share", "type": "number" }])
    );
}

#[tokio::test]
async fn six_hundred_rows_are_read_and_one_number_is_stored() {
    let world = World::new().await;
    let rows: Vec<Value> =
        (0..600).map(|n| json!({ "n": n, "deep": [[[[[[[[[n]]]]]]]]] })).collect();
    fs::write(world.root().join("rows.json"), json!({ "rows": rows, "total": 600 }).to_string())
        .unwrap();
    let document = json!({ "dataJson": { "total": 0, "last": 0 }, "sourceJson": {
        "type": "local_file", "input": { "path": "rows.json" }, "refreshPermission": GRANTED,
        "outputMapping": { "dataPaths": [
            { "from": "total", "to": "total" }, { "from": "rows.599.n", "to": "last" }] } } });
    let body = json!({ "input": { "title": "T", "document": document },
        "templateHtml": "<p>{{data.total}} {{data.last}}</p>" });
    let (artifact, _) = create(&world, &body).await.unwrap();
    let refreshed = world.refresh(&artifact).await.unwrap();
    assert_eq!(data(&world, &artifact).await, json!({ "total": 600, "last": 599 }));
    let version = refreshed.stored.artifact().unwrap().schema_version;
    assert_eq!(u64::from(version), 1, "one source is stored as before");
}
