//! The typed client against a living daemon: what the verbs and the MCP server lean on.

use std::sync::Arc;

use od_client::{Bearer, CallError, Client};
use od_core::error::ErrorCode;
use od_core::event::{ArtifactAction, Event};
use od_core::token::{Claims, CliClaims};
use od_wire::artifact::{ArtifactAnswer, ArtifactsAnswer, ToolArtifactAnswer};
use od_wire::error::EnvelopedFailure;
use od_wire::event::{Ready, StreamEvent};
use od_wire::route::{Operation, QueryName};
use serde_json::json;

use crate::corpus::BearerName;
use crate::world::{Place, World};

/// The person's client, with a token for each call.
fn person(world: &World) -> Client {
    let ports = world.app().ports.clone();
    let audience = world.audience().clone();
    let sign = move || {
        let now = ports.clock.now();
        let claims = CliClaims {
            token_id: "cli-test".parse().unwrap(),
            audience: audience.clone(),
            issued_at: now,
            expires_at: now.plus_ms(60_000),
        };
        Ok(ports.tokens.sign(&Claims::Cli(claims)).unwrap())
    };
    Client::new(world.url(), Bearer::Fresh(Arc::new(sign))).unwrap()
}

async fn agent(world: &World, place: &mut Place) -> Client {
    let token = world.bearer(place, BearerName::New).await;
    Client::new(world.url(), Bearer::Token(token)).unwrap()
}

async fn create(agent: &Client, title: &str) -> ToolArtifactAnswer {
    let body = json!({ "input": { "title": title, "document": { "dataJson": { "n": 0.1 } } } });
    agent.call(Operation::ToolCreateArtifact).json(&body).unwrap().send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_read_as_their_types() {
    let world = World::start().await;
    let mut place = world.place("door-client").await;
    let made = create(&agent(&world, &mut place).await, "Typed").await;
    let person = person(&world);
    let call = person.call(Operation::ListArtifacts).query(QueryName::ProjectId, &place.project);
    let listed: ArtifactsAnswer = call.send().await.unwrap();
    assert_eq!(listed.artifacts.len(), 1);
    assert_eq!(listed.artifacts[0].summary.id, made.artifact.id);
    let call = person.call(Operation::ShowArtifact).parameter(&made.artifact.id);
    let shown: ArtifactAnswer = call.send().await.unwrap();
    assert_eq!(shown.artifact.data.value(), &json!({ "n": 0.1 }));
    let call = person.call(Operation::PreviewArtifact).parameter(&made.artifact.id);
    let page = call.query(QueryName::Variant, "rendered").send_raw().await.unwrap();
    assert!(page.content_type.starts_with("text/html"), "{}", page.content_type);
    assert!(String::from_utf8(page.body).unwrap().contains("0.1"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_carries_status_code_details_and_the_request() {
    let world = World::start().await;
    let mut place = world.place("door-client").await;
    let agent = agent(&world, &mut place).await;
    let body = json!({ "input": { "titel": "T", "pinned": 3 } });
    let call = agent.call(Operation::ToolCreateArtifact).json(&body).unwrap();
    let error = call.send_value().await.unwrap_err();
    let CallError::Refused { status, envelope } = &error else { panic!("{error:?}") };
    let EnvelopedFailure { failure, request_id } = envelope.error.as_ref();
    assert_eq!((*status, failure.code), (400, ErrorCode::LiveArtifactInvalid));
    assert!(failure.details.as_ref().unwrap()["issues"].as_array().unwrap().len() >= 2);
    assert!(request_id.as_deref().is_some_and(|id| id.starts_with("req-")), "{request_id:?}");
    // An agent's token is not the person's.
    let call = agent.call(Operation::ListProjects);
    let denied = call.send_value().await.unwrap_err();
    assert!(matches!(denied, CallError::Refused { status: 401 | 403, .. }), "{denied:?}");
    world.stop().await;
}

/// Returns the title of an artifact that was created.
#[track_caller]
fn created(event: &StreamEvent) -> &str {
    let StreamEvent::Happened(Event::Artifact(event)) = event else { panic!("{event:?}") };
    assert_eq!(event.action, ArtifactAction::Created);
    &event.title
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_misses_nothing_between_two_streams() {
    let world = World::start().await;
    let mut place = world.place("door-client").await;
    let (person, agent) = (person(&world), agent(&world, &mut place).await);
    let mut stream = person.follow(Some(place.project.as_str()), None).await.unwrap();
    let ready = stream.next().await.unwrap().unwrap();
    assert_eq!(ready.event, StreamEvent::Ready(Ready { resumed: false }));
    create(&agent, "First").await;
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(created(&first.event), "First");
    drop(stream);
    create(&agent, "Second").await;
    let mut again = person.follow(None, Some(&first.id)).await.unwrap();
    let ready = again.next().await.unwrap().unwrap();
    assert_eq!(ready.event, StreamEvent::Ready(Ready { resumed: true }));
    let second = again.next().await.unwrap().unwrap();
    assert_eq!(created(&second.event), "Second");
    world.stop().await;
    while let Ok(Some(_)) = again.next().await {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_connection_that_died_with_its_daemon_is_replaced() {
    let world = World::start().await;
    let client = Client::new(world.url(), Bearer::None).unwrap();
    let health = || async { client.call(Operation::Health).send_value().await };
    assert_eq!(health().await.unwrap()["service"], "od");
    let world = world.restart().await;
    assert_eq!(health().await.unwrap()["service"], "od");
    world.stop().await;
    let gone = health().await.unwrap_err();
    assert!(matches!(gone, CallError::Unreachable { .. } | CallError::Broken { .. }), "{gone:?}");
    let gone = health().await.unwrap_err();
    assert!(matches!(gone, CallError::Unreachable { .. }), "{gone:?}");
}
