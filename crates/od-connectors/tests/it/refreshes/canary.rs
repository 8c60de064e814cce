//! A planted secret, echoed by the other side in every way it knows, is found nowhere afterwards.

use std::sync::Arc;

use async_trait::async_trait;
use od_app::connectors::connect::Connect;
use od_app::connectors::execute::ExecuteTool;
use od_app::connectors::{Payer, connect, execute, list};
use od_app::refresh::run::RunRefresh;
use od_app::{App, Caller, Mode, refresh};
use od_core::connector::Purpose;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::RunId;
use od_ports::Ports;
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::fakes::{CANARY, assert_no_canary, assert_no_canary_below};
use serde_json::{Value, json};

use crate::http_server::{Answer, Seen, TestServer};
use crate::scripted::{Act, ScriptedConnector};
use crate::world::{Plan, World, by_person, object, project, script_source};

/// Nobody's, of a form that is known.
const KEY: &str = concat!("gh", "p_0123456789abcdefghij0123456789");

/// Repeats the token in bodies, headers, errors, redirects and encodings.
fn echo(seen: &Seen) -> Answer {
    let token = seen.header("authorization").unwrap_or("Bearer ?").to_owned();
    let token = token.trim_start_matches("Bearer ");
    let text = format!(
        "plain {token} base64 b2QtY2FuYXJ5L1F6NysxOXhLZmU= \
         basic eDpvZC1jYW5hcnkvUXo3KzE5eEtmZQ== two YWJvZC1jYW5hcnkvUXo3KzE5eEtmZQ \
         url od-canary%2FQz7%2B19xKfe"
    );
    let dressed = |answer: Answer| {
        answer
            .with("etag", &format!("\"{token}\""))
            .with("x-github-request-id", token)
            .with("x-ratelimit-remaining", token)
            .with("location", &format!("http://{}.invalid/{token}", "a"))
    };
    let repo = seen.path().split('/').nth(3).unwrap_or_default();
    match (seen.path(), repo) {
        ("/user", _) => Answer::json(&json!({ "login": "octocat" })),
        (_, "data") => dressed(Answer::json(&json!([{
            "tag_name": text, "name": text, "html_url": format!("https://x.example/?t={token}"),
            "body": text, "author": { "login": token },
        }]))),
        (_, "redirect") => dressed(Answer::text(302, &text)),
        (_, "shape") => dressed(Answer::text(200, &format!("{{\"{token}\": \"{text}\"}}"))),
        (_, status) => dressed(Answer::text(status.parse().unwrap_or(500), &text)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_secret_is_found_nowhere() {
    let server = TestServer::start(echo).await;
    let world = World::with(Plan { github: server.url(), ..Plan::default() }).await;
    let secret = Secret::parse(CANARY).unwrap();
    let request = Connect { connector: "github".parse().unwrap(), secret: Some(secret) };
    connect(&world.app, &Caller::Person, request).await.unwrap();

    for repo in ["data", "redirect", "shape", "400", "401", "403", "404", "429", "500"] {
        let source = json!({
            "type": "connector_tool",
            "toolName": "github.list_releases",
            "input": { "owner": "octo", "repo": repo },
            "connector": { "connectorId": "github", "toolName": "github.list_releases" },
            "outputMapping": { "dataPaths": [{ "from": "items", "to": "releases" }] },
            "refreshPermission": "manual_refresh_granted_for_read_only",
        });
        let number = u32::from_be_bytes(
            repo.as_bytes()[..3]
                .iter()
                .chain(&[0])
                .copied()
                .collect::<Vec<_>>()
                .try_into()
                .unwrap(),
        );
        let artifact = world.create(number, source).await;
        match world.refresh(&artifact).await {
            Ok(refreshed) => {
                assert_eq!(repo, "data");
                let state = refreshed.stored.state.clone().unwrap();
                assert_no_canary("data", &state.data.value().to_string());
            }
            Err(err) => {
                assert_ne!(repo, "data", "{err}");
                let said = format!("{err:?} {err}");
                assert_no_canary(repo, &format!("{} {said}", Failure::from(err).to_json()));
            }
        }
        preview(&world, repo).await;
        world.clock.advance_ms(60_000);
    }
    assert!(server.seen().iter().all(|seen| seen.header("authorization").is_some()));
    let listed = list(&world.app, &Caller::Person).await.unwrap();
    assert_no_canary("list", &serde_json::to_string(&listed).unwrap());
    assert_no_canary("debug", &format!("{:?}", world.app));
    assert_no_canary("events", &format!("{:?}", world.events.take()));
    assert!(assert_no_canary_below(world.place()).unwrap() > 20);
}

/// Runs the tool as an agent does.
async fn preview(world: &World, repo: &str) {
    let request = ExecuteTool {
        project: project(),
        connector: "github".parse().unwrap(),
        tool: "list_releases".to_owned(),
        input: object(json!({ "owner": "octo", "repo": repo })),
        purpose: Purpose::AgentPreview,
        payer: Payer::Run(RunId::generate([9; 16])),
        mapping: None,
        expected: None,
    };
    match execute(&world.app, request).await {
        Ok(executed) => assert_no_canary(repo, &serde_json::to_string(&executed).unwrap()),
        Err(err) => {
            let said = format!("{err:?} {err}");
            assert_no_canary(repo, &format!("{} {said}", Failure::from(err).to_json()));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_connector_cannot_leak_it_either() {
    let server = TestServer::start(echo).await;
    let world = World::with(Plan { github: server.url(), ..Plan::default() }).await;
    let secret = Secret::parse(CANARY).unwrap();
    let request = Connect { connector: "github".parse().unwrap(), secret: Some(secret) };
    connect(&world.app, &Caller::Person, request).await.unwrap();
    let artifact = world.create(1, script_source()).await;
    // The page shows the title: a secret there fails the refresh, without telling it.
    world.script.set(Act::Give(json!({ "title": format!("x{CANARY}x") })));
    let err = world.refresh(&artifact).await.unwrap_err();
    let said = format!("{err:?}");
    let failure = Failure::from(err);
    assert_eq!(failure.code, ErrorCode::RedactionRequired, "{failure:?}");
    assert_no_canary("refusal", &format!("{} {said}", failure.to_json()));
    let nested: Value = json!({
        "note": format!("x{CANARY}x"),
        CANARY: "a key",
        "deep": [{ "list": [CANARY, "b2QtY2FuYXJ5L1F6NysxOXhLZmU="] }],
    });
    world.script.set(Act::Give(nested));
    world.refresh(&artifact).await.unwrap();
    assert_no_canary("data", &world.data(&artifact).await.to_string());
    for fault in [
        ProviderError::Unavailable { message: format!("no {CANARY}") },
        ProviderError::Missing { message: CANARY.to_owned() },
        ProviderError::Input { pointer: format!("/{CANARY}"), message: CANARY.to_owned() },
    ] {
        world.script.set(Act::Fail(fault));
        let err = world.refresh(&artifact).await.unwrap_err();
        let said = format!("{err:?}");
        assert_no_canary("error", &format!("{} {said}", Failure::from(err).to_json()));
    }
    world.script.set(Act::Give(json!({ "error": format!("bad {CANARY}") })));
    let err = world.refresh(&artifact).await.unwrap_err();
    let said = format!("{err:?}");
    assert_no_canary("dressed error", &format!("{} {said}", Failure::from(err).to_json()));
    // Keys that are credentials or never stored are left out, with all that stands below them.
    world.script.set(Act::Give(json!({
        CANARY: { "body": 1, format!("beside-{CANARY}"): 2, KEY: 3 }, "title": "t",
    })));
    world.refresh(&artifact).await.unwrap();
    let data = world.data(&artifact).await.to_string();
    assert!(
        !data.contains("Qz7+19xKfe") && !data.contains(KEY) && !data.contains("body"),
        "{data}"
    );
    assert_no_canary("events", &format!("{:?}", world.events.take()));
    assert_no_canary_below(world.place()).unwrap();
}

/// A connector that breaks down with everything it was told in its hands.
#[derive(Debug)]
struct BreakingDown(ScriptedConnector);

#[async_trait]
impl ConnectorProvider for BreakingDown {
    fn catalog(&self) -> CatalogEntry {
        self.0.catalog()
    }

    async fn identify(&self, secret: &Secret) -> Result<String, ProviderError> {
        self.0.identify(secret).await
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        panic!("broken down over {call:?}")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_does_not_tell_it_either() {
    let world = World::new().await;
    let broken = Arc::new(BreakingDown(ScriptedConnector::default()));
    let ports = Ports { connectors: vec![broken], ..world.app.ports.clone() };
    let app = Arc::new(App::new(ports));
    let secret = Secret::parse(CANARY).unwrap();
    let request = Connect { connector: "script".parse().unwrap(), secret: Some(secret) };
    connect(&app, &Caller::Person, request).await.unwrap();
    let artifact = world.create(1, script_source()).await;
    let request = RunRefresh { accept_drift: true, ..by_person(&artifact) };
    let broke = tokio::spawn({
        let app = Arc::clone(&app);
        async move { refresh::run(&app, request, Mode::Commit).await }
    });
    let panic = broke.await.unwrap_err().into_panic();
    let said = panic.downcast_ref::<String>().expect("a message");
    assert!(said.contains("broken down over ToolCall"), "{said}");
    assert_no_canary("the panic", said);
    // Whoever comes next finds it abandoned, and closes it.
    refresh::recover(&app).await.unwrap();
    let records = world.terminal_records(&artifact).await;
    assert_eq!(records.len(), 1);
    assert_no_canary("the record", &serde_json::to_string(&records).unwrap());
    assert_no_canary("events", &format!("{:?}", world.events.take()));
    assert_no_canary_below(world.place()).unwrap();
}
