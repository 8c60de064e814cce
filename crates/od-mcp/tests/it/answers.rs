//! What a call comes to: the daemon's answer as it is, or a refusal that a model can act on.

use serde_json::{Value, json};

use crate::peer;
use crate::session::{Session, door, no_door};

fn text(result: &Value, n: usize) -> &str {
    result["content"][n]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn an_answer_is_passed_on_as_it_is_structured_and_as_text() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let payload = r#"{"artifacts":[{"id":"la-a-0123456789ab","z":1,"a":2.0}]}"#;
    let daemon = tokio::spawn(async move {
        let asked = requests.recv().await.unwrap();
        let seen = (asked.line.clone(), asked.authorization.clone(), asked.body.clone());
        asked.answer(200, payload).await;
        seen
    });
    let result = session.call("od_live_artifacts_list", json!({ "projectId": "p&1" })).await;
    assert_eq!(result["isError"], false);
    assert_eq!(text(&result, 0), payload);
    assert_eq!(result["structuredContent"], serde_json::from_str::<Value>(payload).unwrap());
    let (line, authorization, body) = daemon.await.unwrap();
    assert_eq!(line, "GET /api/tools/live-artifacts/list?projectId=p%261");
    assert_eq!(authorization, "Bearer odt.v1.test");
    assert_eq!(body, "");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_validation_failure_is_a_result_with_every_fix_and_the_envelope_in_its_meta() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2024-11-05").await;
    let error = json!({
        "code": "LIVE_ARTIFACT_INVALID",
        "message": "/input/title: `title` is missing",
        "retry": { "kind": "not_retryable" },
        "suggestion": "add `title`",
        "details": { "kind": "validation", "issues": [
            { "path": "/input/title", "code": "required", "message": "`title` is missing", "fix": "add `title`" },
        ] },
        "requestId": "req-7",
    });
    let envelope = json!({ "error": error }).to_string();
    tokio::spawn(async move { requests.recv().await.unwrap().answer(400, &envelope).await });
    let result = session.call("od_live_artifacts_create", json!({ "input": {} })).await;
    assert_eq!(result["isError"], true);
    assert_eq!(result.get("structuredContent"), None);
    assert_eq!(
        text(&result, 0),
        "LIVE_ARTIFACT_INVALID: /input/title: `title` is missing\n\
         - /input/title [required]: `title` is missing; fix: add `title`\n\
         To do: add `title`"
    );
    assert_eq!(result["_meta"]["od/error"], error);
    session.close().await.unwrap();
}

#[tokio::test]
async fn an_object_sent_as_text_is_read_and_the_model_is_told() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-06-18").await;
    let daemon = tokio::spawn(async move {
        let mut bodies = Vec::new();
        for _ in 0..3 {
            let asked = requests.recv().await.unwrap();
            bodies.push(asked.body.clone());
            asked.answer(200, "{}").await;
        }
        bodies
    });
    let one = session
        .call(
            "od_connectors_execute",
            json!({ "connectorId": "git", "toolName": "git.summary", "input": "{\"n\":1}" }),
        )
        .await;
    assert!(text(&one, 1).starts_with("Note: /input came as the text of JSON"), "{one}");
    // Some send all arguments as one text.
    let whole = session
        .request("tools/call", json!({ "name": "od_live_artifacts_refresh", "arguments": "{\"artifactId\":\"la-a-0123456789ab\"}" }))
        .await;
    assert!(text(&whole["result"], 1).starts_with("Note: arguments came"), "{whole}");
    let plain = session.call("od_connectors_execute", json!({ "input": {} })).await;
    assert_eq!(plain["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        daemon.await.unwrap(),
        [
            r#"{"connectorId":"git","toolName":"git.summary","input":{"n":1}}"#,
            r#"{"artifactId":"la-a-0123456789ab"}"#,
            r#"{"input":{}}"#,
        ]
    );
    session.close().await.unwrap();
}

#[tokio::test]
async fn without_a_token_or_a_daemon_each_call_says_what_to_do() {
    let mut session = Session::initialized(no_door(), "2025-11-25").await;
    let result = session.call("od_connectors_list", json!({})).await;
    assert_eq!(result["isError"], true);
    assert_eq!(
        text(&result, 0).lines().next(),
        Some("TOOL_TOKEN_MISSING: OD_TOOL_TOKEN is not set")
    );
    session.close().await.unwrap();

    let (url, requests) = peer::listen().await;
    drop(requests);
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let broken = session.call("od_live_artifacts_list", json!({})).await;
    assert_eq!(broken["isError"], true, "{broken}");
    assert!(!broken.to_string().contains("odt.v1.test"));

    let mut session = Session::initialized(door("http://127.0.0.1:1"), "2025-11-25").await;
    let gone = session.call("od_live_artifacts_list", json!({})).await;
    assert!(text(&gone, 0).contains("od run --"), "{gone}");
}

#[tokio::test]
async fn an_argument_that_no_parameter_is_meant_by_is_refused_with_its_fix() {
    let mut session = Session::initialized(door("http://127.0.0.1:1"), "2025-11-25").await;
    let result = session.call("od_live_artifacts_list", json!({ "limt": 3, "all": true })).await;
    assert_eq!(result["_meta"]["od/error"]["code"], "BAD_REQUEST");
    assert!(text(&result, 0).contains("fix: rename it to `limit`"), "{result}");
    assert!(text(&result, 0).contains("fix: leave `all` out"), "{result}");
    let result = session.call("od_live_artifacts_get", json!({ "path": ["a"] })).await;
    assert!(text(&result, 0).contains("add `artifactId`, as the list has it"), "{result}");
}
