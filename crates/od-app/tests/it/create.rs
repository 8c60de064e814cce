//! What create says, all of it at once, and the same to the same attempt.

use od_app::artifacts::{self, CreateArtifact, CreateError, CreatedArtifact, Reading};
use od_app::{Caller, Mode, connectors};
use od_core::artifact::ProvenanceSourceType;
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::json::Message;
use serde_json::{Value, json};

use crate::world::{World, body, id};

async fn create(world: &World, body: impl Into<Message>) -> Result<CreatedArtifact, CreateError> {
    let request = CreateArtifact { project: id("web"), body: body.into(), reading: Reading::Now };
    artifacts::create(&world.app, &Caller::Person, request, Mode::Commit).await
}

#[track_caller]
fn issues(refused: Result<CreatedArtifact, CreateError>) -> Vec<Issue> {
    match refused {
        Err(CreateError::Invalid { issues }) => issues,
        other => panic!("{other:?}"),
    }
}

fn codes(issues: &[Issue]) -> Vec<(&str, &str)> {
    issues.iter().map(|issue| (issue.path.as_str(), issue.code.as_str())).collect()
}

const SOURCE: &str = "/input/document/sourceJson";

/// A body whose source is refused and whose template does not fit its data.
fn doubly_wrong() -> Value {
    let mut body = body("T");
    body["input"]["document"]["sourceJson"]["connector"] =
        json!({ "connectorId": "nobody", "toolName": "nobody.knows" });
    body["templateHtml"] = json!("<!doctype html><title>T</title><p>{{data}}</p>");
    body
}

#[tokio::test]
async fn a_refused_source_hides_no_fault_of_the_template() {
    let world = World::new().await;
    let found = issues(create(&world, doubly_wrong()).await);
    assert_eq!(
        codes(&found),
        [(SOURCE, "CONNECTOR_NOT_FOUND"), ("template.html:1:35", "TEMPLATE_BINDING_INVALID")]
    );
    assert!(found.iter().all(|issue| issue.fix.is_some()), "{found:?}");
}

#[tokio::test]
async fn a_fault_of_the_input_hides_neither_source_nor_template() {
    let world = World::new().await;
    let mut wrong = doubly_wrong();
    wrong["input"]["title"] = json!(5);
    wrong["templateHtml"] =
        json!("<!doctype html><title>T</title><p>{{data.title.x}}</p><script></script>");
    let found = issues(create(&world, wrong).await);
    let codes = codes(&found);
    assert_eq!(codes[..2], [("/input/title", "wrong_type"), (SOURCE, "CONNECTOR_NOT_FOUND")]);
    assert!(codes[2].0.starts_with("template.html:1:"), "{codes:?}");
}

#[tokio::test]
async fn what_only_the_bytes_show_hides_nothing() {
    let world = World::new().await;
    let text = doubly_wrong().to_string().replacen(
        "{\"title\":\"T\"}",
        r#"{"title":"T","title":"T","n":9007199254740993,"s":"\ud800"}"#,
        1,
    );
    let found = issues(create(&world, Message::read(text.as_bytes()).unwrap()).await);
    let codes = codes(&found);
    let data = "/input/document/dataJson";
    assert_eq!(codes[0], (&*format!("{data}/title"), "duplicate_key"));
    assert_eq!(codes[1], (&*format!("{data}/n"), "inexact_number"));
    assert_eq!(codes[2], (&*format!("{data}/s"), "lone_surrogate"));
    assert_eq!(codes[3].1, "CONNECTOR_NOT_FOUND");
    assert_eq!(codes[4].1, "TEMPLATE_BINDING_INVALID");
    let alone = body("T").to_string().replacen("\"T\"", "\"T\",\"n\":9007199254740993", 1);
    assert!(create(&world, Message::read(alone.as_bytes()).unwrap()).await.is_err());
}

fn attempt(title: &str) -> Value {
    let mut body = body(title);
    body["attemptId"] = json!("try-1");
    body
}

#[tokio::test]
async fn the_same_attempt_has_the_same_result_whatever_became_of_its_source() {
    let world = World::new().await;
    let first = create(&world, attempt("T")).await.unwrap();
    connectors::disconnect(&world.app, &Caller::Person, &"script".parse().unwrap()).await.unwrap();
    assert!(create(&world, body("T")).await.is_err(), "nothing new can be made of it");
    let again = create(&world, attempt("T")).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.stored.id, first.stored.id);
}

#[tokio::test]
async fn another_body_of_an_attempt_is_a_conflict_even_if_it_breaks_rules() {
    let world = World::new().await;
    create(&world, attempt("T")).await.unwrap();
    let mut other = attempt("T");
    other["input"]["title"] = json!(5);
    let refused = create(&world, other).await.unwrap_err();
    assert_eq!(Failure::from(refused).code, ErrorCode::Conflict);
}

#[tokio::test]
async fn what_the_daemon_knows_of_an_origin_names_its_tool_and_account() {
    let world = World::new().await;
    let created = create(&world, body("T")).await.unwrap();
    let state = created.stored.state.clone().unwrap();
    let origin = &state.provenance.sources[0];
    assert_eq!(origin.label, "script.list_things");
    assert_eq!(origin.kind, ProvenanceSourceType::Connector);
    assert_eq!(origin.reference.as_deref(), Some("script"));
    assert_eq!(origin.account_label.as_deref(), Some("public"));
}

#[tokio::test]
async fn a_page_of_its_own_shows_the_title_and_what_is_inside() {
    let world = World::new().await;
    let body = json!({ "input": { "title": "Mine", "document": {
        "dataJson": { "summary": { "count": 3 }, "my-key": 4 } } } });
    let request = CreateArtifact { project: id("web"), body: body.into(), reading: Reading::Now };
    let valid = artifacts::validate(&world.app, &Caller::Person, request).await.unwrap();
    let page = String::from_utf8(valid.decision.page.to_vec()).unwrap();
    assert!(page.contains("<title>Mine</title>") && page.contains("<dd>3</dd>"), "{page}");
    assert!(page.contains("<dd>4</dd>"), "{page}");
}
