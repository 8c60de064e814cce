//! A server that outlives its runs and its daemons.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use od_client::{Bearer, Client};
use od_core::error::{ErrorCode, Failure};
use od_mcp::{Access, ClientFacts, Door, Opening};
use serde_json::json;

use crate::peer;
use crate::session::{Session, initialize};

/// Counts the runs that are begun; the number is the token.
#[derive(Debug)]
struct Counting {
    url: String,
    begun: AtomicUsize,
    seen: std::sync::Mutex<Vec<ClientFacts>>,
    refused: AtomicUsize,
}

impl Counting {
    fn at(url: &str) -> Arc<Self> {
        let (begun, seen) = (AtomicUsize::new(0), std::sync::Mutex::default());
        Arc::new(Self { url: url.to_owned(), begun, seen, refused: AtomicUsize::new(0) })
    }
}

impl Access for Counting {
    fn open<'a>(&'a self, facts: &'a ClientFacts) -> Opening<'a> {
        self.seen.lock().unwrap().push(facts.clone());
        if self.refused.load(Ordering::SeqCst) > 0 {
            self.refused.fetch_sub(1, Ordering::SeqCst);
            let failure = Failure::new(ErrorCode::ProjectNotFound, "no project holds /w");
            return Box::pin(std::future::ready(Err(failure.suggest("run `od init /w`"))));
        }
        let token = format!("run-{}", self.begun.fetch_add(1, Ordering::SeqCst) + 1);
        let client = Client::new(&self.url, Bearer::Token(token)).map_err(Failure::from);
        Box::pin(std::future::ready(client))
    }

    fn open_again<'a>(&'a self, facts: &'a ClientFacts) -> Option<Opening<'a>> {
        Some(self.open(facts))
    }
}

fn refusal(code: &str, details: &str) -> String {
    format!(
        r#"{{"error":{{"code":"{code}","message":"m","retry":{{"kind":"not_retryable"}},"suggestion":"","details":{details},"requestId":"r"}}}}"#
    )
}

#[tokio::test]
async fn a_lapsed_run_an_expired_token_and_a_spent_run_are_replaced_within_the_call() {
    let (url, mut requests) = peer::listen().await;
    let access = Counting::at(&url);
    let mut session = Session::initialized(Door::standing(access.clone()), "2025-11-25").await;
    let daemon = tokio::spawn(async move {
        let mut tokens = Vec::new();
        for (status, answer) in [
            (401, refusal("TOOL_TOKEN_EXPIRED", "{}")),
            (401, refusal("TOOL_TOKEN_INVALID", "{}")),
            (200, "{}".to_owned()),
            (429, refusal("CONNECTOR_RATE_LIMITED", r#"{"kind":"per_run"}"#)),
            (200, "{}".to_owned()),
            (429, refusal("CONNECTOR_RATE_LIMITED", r#"{"allowed":10}"#)),
        ] {
            let asked = requests.recv().await.unwrap();
            tokens.push(asked.authorization.clone());
            asked.answer(status, &answer).await;
        }
        tokens
    });
    let create = json!({ "input": { "title": "T" } });
    assert_eq!(session.call("od_live_artifacts_create", create).await["isError"], false);
    let execute = json!({ "connectorId": "github", "toolName": "t", "input": {} });
    assert_eq!(session.call("od_connectors_execute", execute.clone()).await["isError"], false);
    let limited = session.call("od_connectors_execute", execute).await;
    assert_eq!(limited["_meta"]["od/error"]["code"], "CONNECTOR_RATE_LIMITED");
    assert_eq!(
        daemon.await.unwrap(),
        [
            "Bearer run-1",
            "Bearer run-2",
            "Bearer run-3",
            "Bearer run-3",
            "Bearer run-4",
            "Bearer run-4",
        ]
    );
}

#[tokio::test]
async fn a_read_that_breaks_off_is_made_again_and_a_call_that_always_fails_ends() {
    let (url, mut requests) = peer::listen().await;
    let access = Counting::at(&url);
    let mut session = Session::initialized(Door::standing(access.clone()), "2025-11-25").await;
    let daemon = tokio::spawn(async move {
        drop(requests.recv().await.unwrap());
        requests.recv().await.unwrap().answer(200, "{}").await;
        for _ in 0..3 {
            let expired = refusal("TOOL_TOKEN_EXPIRED", "{}");
            requests.recv().await.unwrap().answer(401, &expired).await;
        }
        requests
    });
    assert_eq!(session.call("od_live_artifacts_list", json!({})).await["isError"], false);
    let failed = session.call("od_live_artifacts_list", json!({})).await;
    assert_eq!(failed["_meta"]["od/error"]["code"], "TOOL_TOKEN_EXPIRED");
    assert!(daemon.await.unwrap().try_recv().is_err(), "it is asked three times and no more");
}

#[tokio::test]
async fn without_a_project_each_call_says_what_to_run_and_the_next_one_after_that_works() {
    let (url, mut requests) = peer::listen().await;
    let access = Counting::at(&url);
    access.refused.store(2, Ordering::SeqCst);
    let mut session = Session::initialized(Door::standing(access.clone()), "2025-11-25").await;
    for _ in 0..2 {
        let refused = session.call("od_live_artifacts_list", json!({})).await;
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, "PROJECT_NOT_FOUND: no project holds /w\nTo do: run `od init /w`");
    }
    tokio::spawn(async move { requests.recv().await.unwrap().answer(200, "{}").await });
    assert_eq!(session.call("od_live_artifacts_list", json!({})).await["isError"], false);
}

#[tokio::test]
async fn the_clients_directories_and_its_name_are_asked_for_and_asked_again_when_they_change() {
    let (url, mut requests) = peer::listen().await;
    tokio::spawn(async move {
        while let Some(asked) = requests.recv().await {
            asked.answer(200, "{}").await;
        }
    });
    let access = Counting::at(&url);
    let mut session = Session::start(Door::standing(access.clone()));
    let mut opening = initialize("2025-11-25");
    opening["capabilities"] = json!({ "roots": { "listChanged": true } });
    session.request("initialize", opening).await;
    for directory in ["/w/site", "/w/other"] {
        let id = session.ask("tools/call", json!({ "name": "od_live_artifacts_list" })).await;
        let asked = session.next().await;
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots = json!({ "roots": [{ "uri": format!("file://{directory}") }] });
        session.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots })).await;
        assert_eq!(session.next().await["id"], id);
        // Once they are known they are not asked for again.
        assert_eq!(session.call("od_live_artifacts_list", json!({})).await["isError"], false);
        let changed = "notifications/roots/list_changed";
        session.send(&json!({ "jsonrpc": "2.0", "method": changed })).await;
    }
    let seen = access.seen.lock().unwrap().clone();
    let facts =
        |root: &str| ClientFacts { name: Some("test".to_owned()), roots: vec![root.into()] };
    assert_eq!(seen, [facts("/w/site"), facts("/w/other")]);
}
