//! The tools over MCP at `POST /mcp`: plain JSON, a live token, nothing else.

use serde_json::{Value, json};

use crate::daemon::{Daemon, Place};

const NOBODY: &str = "http://127.0.0.1:9";

fn message(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn an_artifact_is_made_over_http_without_a_session_or_a_stream() {
    let place = Place::new();
    place.init();
    let daemon = Daemon::start(&place, NOBODY);
    let opened = daemon.call_as_agent(
        "/mcp",
        &message(
            0,
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "probe", "version": "1" },
            }),
        ),
    );
    assert_eq!(opened.status, 200, "{}", opened.text());
    assert!(opened.head.to_lowercase().contains("content-type: application/json"));
    assert!(!opened.head.to_lowercase().contains("mcp-session-id"), "{}", opened.head);
    assert_eq!(opened.json()["result"]["protocolVersion"], "2025-06-18");
    // Told, not asked: there is nothing to answer.
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let told = daemon.call_as_agent("/mcp", &told);
    assert_eq!((told.status, told.body.as_slice()), (202, &b""[..]));
    let listed = daemon.call_as_agent("/mcp", &message(1, "tools/list", &json!({})));
    assert_eq!(listed.json()["result"]["tools"].as_array().unwrap().len(), 9);
    let made = daemon.call_as_agent(
        "/mcp",
        &message(
            2,
            "tools/call",
            &json!({
                "name": "od_live_artifacts_create",
                "arguments": {
                    "input": { "title": "Over HTTP", "document": { "dataJson": { "n": 1 } } },
                    "templateHtml": "<!doctype html><title>T</title><p>{{data.n}}</p>",
                },
            }),
        ),
    );
    let result = &made.json()["result"];
    assert_eq!(result["isError"], false, "{result}");
    let id = result["structuredContent"]["artifact"]["id"].as_str().unwrap().to_owned();
    let shown = daemon.ok("GET", &format!("/api/live-artifacts/{id}"), None);
    assert_eq!(shown["artifact"]["title"], "Over HTTP");
    assert!(shown["artifact"]["createdByRunId"].is_string(), "the agent's run made it");
    daemon.stop();
}

#[test]
fn neither_a_person_nor_another_method_nor_noise_gets_through() {
    let place = Place::new();
    place.init();
    let daemon = Daemon::start(&place, NOBODY);
    let ping = message(1, "ping", &json!({}));
    // The bearer of the console and of the command line is no tool token.
    let person = daemon.call("POST", "/mcp", Some(&ping));
    assert_eq!((person.status, person.code().as_str()), (401, "TOOL_TOKEN_INVALID"));
    let streamed = daemon.call("GET", "/mcp", None);
    assert_eq!(streamed.status, 405, "{}", streamed.text());
    assert!(streamed.head.to_lowercase().contains("allow: post"), "{}", streamed.head);
    let noise = daemon.call_as_agent("/mcp", &json!([1, 2, 3]));
    assert_eq!(noise.status, 200, "JSON-RPC says what is wrong: {}", noise.text());
    assert!(noise.json()["error"]["code"].is_number(), "{}", noise.text());
    daemon.stop();
}
