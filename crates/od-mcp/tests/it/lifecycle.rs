//! Every revision, both ways to open, and the end.

use od_mcp::Server;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::json;

use crate::session::{Session, guide, initialize, no_door, request_meta};

const NAMES: [&str; 9] = [
    "od_live_artifacts_create",
    "od_live_artifacts_list",
    "od_live_artifacts_get",
    "od_live_artifacts_update",
    "od_live_artifacts_refresh",
    "od_live_artifacts_validate",
    "od_live_artifacts_delete",
    "od_connectors_list",
    "od_connectors_execute",
];

#[tokio::test]
async fn each_older_revision_is_answered_in_kind_and_lists_the_tools_in_order() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = Session::start(no_door());
        let opened = session.request("initialize", initialize(version)).await;
        assert_eq!(opened["result"]["protocolVersion"], version);
        assert_eq!(opened["result"]["serverInfo"]["name"], "od-live-artifacts");
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        let listed = session.request("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, NAMES, "{version}");
        for tool in tools {
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
            }
        }
        session.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_newer_lifecycle_needs_no_initialize() {
    let mut session = Session::start(no_door());
    let found = session.request("server/discover", json!({ "_meta": request_meta() })).await;
    let versions = &found["result"]["supportedVersions"];
    let all = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    assert_eq!(*versions, json!(all), "{found}");
    let listed = session.request("tools/list", json!({ "_meta": request_meta() })).await;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(NAMES.len()), "{listed}");
    session.close().await.unwrap();
}

#[tokio::test]
async fn discover_and_initialize_share_one_connection_in_either_order() {
    let mut session = Session::start(no_door());
    session.request("server/discover", json!({ "_meta": request_meta() })).await;
    let opened = session.request("initialize", initialize("2025-06-18")).await;
    assert_eq!(opened["result"]["protocolVersion"], "2025-06-18");
    let listed = session.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(NAMES.len()));
    let found = session.request("server/discover", json!({ "_meta": request_meta() })).await;
    assert!(found["result"]["supportedVersions"].is_array(), "{found}");
    session.close().await.unwrap();
}

#[tokio::test]
async fn the_sdks_own_client_opens_both_ways() {
    let newest = vec![ProtocolVersion::V_2026_07_28];
    for mode in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: newest.clone() },
        ClientLifecycleMode::Auto { preferred_versions: newest.clone(), legacy_version: None },
    ] {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(od_mcp::serve(Server::new(no_door(), guide()), reader, writer));
        let client = ().serve_with_lifecycle(ours, mode.clone()).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), NAMES, "{mode:?}");
        let result =
            client.call_tool(CallToolRequestParams::new("od_live_artifacts_list")).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        client.cancel().await.unwrap();
        server.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn faults_of_the_protocol_are_protocol_errors_and_the_connection_stays() {
    let mut session = Session::initialized(no_door(), "2025-11-25").await;
    let unknown = session.request("tools/call", json!({ "name": "od_nothing" })).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let nameless = session.request("tools/call", json!({ "arguments": {} })).await;
    assert_eq!(nameless["error"]["code"], -32602, "{nameless}");
    let paged = session.request("tools/list", json!({ "cursor": "2" })).await;
    assert_eq!(paged["error"]["code"], -32602, "{paged}");
    let method = session.request("tools/forget", json!({})).await;
    assert_eq!(method["error"]["code"], -32601, "{method}");
    let alive = session.request("ping", json!({})).await;
    assert_eq!(alive["result"], json!({}));
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_before_it_asks_is_no_fault() {
    Session::start(no_door()).close().await.unwrap();
}
