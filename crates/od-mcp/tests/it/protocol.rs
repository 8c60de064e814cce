//! Messages that are none, calls that are too large, calls that nobody waits for any more, and a daemon
//! that goes away.

use serde_json::{Value, json};

use crate::peer;
use crate::session::{Session, door, no_door};

const ARTIFACT: &str = "la-a-0123456789ab";

#[tokio::test]
async fn a_line_that_is_not_json_is_answered_and_the_connection_stays() {
    let mut session = Session::initialized(no_door(), "2025-11-25").await;
    for line in ["Hello?", "{\"jsonrpc\":\"2.0\",", "\u{1b}[31mred"] {
        session.send_line(line).await;
        let answer = session.next().await;
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
        assert_eq!(answer["id"], Value::Null);
    }
    for line in
        ["[]", "7", "{\"jsonrpc\":\"2.0\"}", "{\"id\":1,\"method\":\"ping\",\"params\":[1]}"]
    {
        session.send_line(line).await;
        let answer = session.next().await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
    assert_eq!(session.request("ping", json!({})).await["result"], json!({}));
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_too_long_to_be_read_is_answered_by_its_id() {
    let mut session = Session::initialized(no_door(), "2025-11-25").await;
    let filler = "x".repeat(9_000_000);
    for line in [
        format!(
            r#"{{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{{"name":"{filler}"}}}}"#
        ),
        format!(
            r#"{{"method":"tools/call","params":{{"name":"{filler}"}},"jsonrpc":"2.0","id":41}}"#
        ),
    ] {
        session.send_line(&line).await;
        let answer = session.next().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(41), &json!(-32600)));
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.contains("at most 8388608 bytes"), "{said}");
    }
    assert_eq!(session.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_call_larger_than_the_daemon_takes_is_refused_with_the_limit() {
    let mut session = Session::initialized(door("http://127.0.0.1:1"), "2025-11-25").await;
    let arguments =
        json!({ "input": {}, "templateHtml": "x".repeat(2_090_000), "title": "x".repeat(20_000) });
    let result = session.call("od_live_artifacts_create", arguments).await;
    assert_eq!(result["_meta"]["od/error"]["code"], "PAYLOAD_TOO_LARGE", "{result}");
    assert_eq!(result["_meta"]["od/error"]["details"]["allowed"], 2_097_152);
}

#[tokio::test]
async fn a_key_that_is_given_twice_reaches_the_daemon_as_the_model_wrote_it() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    session
        .send_line(
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"od_live_artifacts_create","arguments":{"input":{"title":"A","title":"B"}}}}"#,
        )
        .await;
    let create = requests.recv().await.unwrap();
    assert_eq!(create.line, "POST /api/tools/live-artifacts/create");
    assert_eq!(create.body, r#"{"input":{"title":"A","title":"B"}}"#);
    let refusal = r#"{"error":{"code":"LIVE_ARTIFACT_INVALID","message":"no","retry":{"kind":"not_retryable"},"suggestion":"","details":{},"requestId":"r"}}"#;
    create.answer(422, refusal).await;
    let result = session.next().await["result"].clone();
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"]["od/error"]["code"], "LIVE_ARTIFACT_INVALID", "{result}");
}

#[tokio::test]
async fn a_key_that_is_given_twice_is_refused_where_the_model_wrote_it_if_nothing_is_sent() {
    let mut session = Session::initialized(door("http://127.0.0.1:1"), "2025-11-25").await;
    session
        .send_line(
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"od_live_artifacts_list","arguments":{"query":"A","query":"B"}}}"#,
        )
        .await;
    let result = session.next().await["result"].clone();
    assert_eq!(result["isError"], true);
    let issues = &result["_meta"]["od/error"]["details"]["issues"];
    assert_eq!(issues[0]["path"], "/query", "{result}");
}

#[tokio::test]
async fn a_cancelled_call_has_no_answer_and_cancels_its_refresh() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let params =
        json!({ "name": "od_live_artifacts_refresh", "arguments": { "artifactId": ARTIFACT } });
    let id = session.ask("tools/call", params).await;
    let refresh = requests.recv().await.unwrap();
    assert_eq!(refresh.line, "POST /api/tools/live-artifacts/refresh");
    let params = json!({ "requestId": id, "reason": "the person pressed Stop" });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    session.send(&cancelled).await;
    let cancel = requests.recv().await.unwrap();
    assert_eq!(cancel.line, "POST /api/tools/live-artifacts/cancel");
    assert_eq!(cancel.body, format!(r#"{{"artifactId":"{ARTIFACT}"}}"#));
    cancel.answer(200, "{}").await;
    // The next answer is the next request's.
    assert_eq!(session.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_daemon_that_dies_in_the_middle_of_a_change_is_unavailable_and_the_change_is_not_repeated()
 {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let arguments = json!({ "artifactId": ARTIFACT, "input": { "title": "T" } });
    let params = json!({ "name": "od_live_artifacts_update", "arguments": arguments });
    session.ask("tools/call", params).await;
    drop(requests.recv().await.unwrap());
    let result = session.next().await["result"].clone();
    assert_eq!(result["_meta"]["od/error"]["code"], "DAEMON_UNAVAILABLE", "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("it may or may not have happened"), "{text}");
    assert!(requests.try_recv().is_err(), "it was sent once");
}

#[tokio::test]
async fn an_unknown_tool_or_method_is_told_the_one_that_was_meant() {
    let mut session = Session::initialized(no_door(), "2025-11-25").await;
    for (asked, meant) in [
        ("od_live_artifact_create", "od_live_artifacts_create"),
        ("live_artifacts_list", "od_live_artifacts_list"),
        ("mcp__od__live_artifacts_refresh", "od_live_artifacts_refresh"),
        ("connectors_execute", "od_connectors_execute"),
    ] {
        let answer = session.request("tools/call", json!({ "name": asked })).await;
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.ends_with(&format!("did you mean {meant}?")), "{said}");
    }
    let answer = session.request("tools/lists", json!({})).await;
    assert_eq!(
        answer["error"]["message"],
        "there is no method tools/lists; did you mean tools/list?"
    );
}

#[tokio::test]
async fn a_revision_that_is_not_spoken_is_refused_with_those_that_are() {
    let mut session = Session::start(no_door());
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" });
    let answer = session.request("tools/list", json!({ "_meta": meta })).await;
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["supported"].as_array().map(Vec::len), Some(5));
    let opened = session.request("initialize", json!({ "protocolVersion": "2031-01-01" })).await;
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
}
