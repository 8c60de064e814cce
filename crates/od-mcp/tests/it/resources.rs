//! The guide, the artifacts and the view, as resources and as a prompt.

use serde_json::{Value, json};

use crate::peer;
use crate::session::{Session, door, no_door, request_meta};

fn uris(listed: &Value) -> Vec<&str> {
    let resources = listed["result"]["resources"].as_array().unwrap();
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_guide_and_the_view_are_there_without_a_daemon() {
    let mut session = Session::initialized(no_door(), "2025-11-25").await;
    let listed = session.request("resources/list", json!({})).await;
    assert_eq!(uris(&listed), ["od://guide", "od://guide/references/more.md", "ui://od/artifact"]);
    let guide = session.request("resources/read", json!({ "uri": "od://guide" })).await;
    assert_eq!(guide["result"]["contents"][0]["text"], "# Guide");
    let view = session.request("resources/read", json!({ "uri": "ui://od/artifact" })).await;
    let view = &view["result"]["contents"][0];
    assert_eq!(view["mimeType"], "text/html;profile=mcp-app");
    assert!(view["text"].as_str().unwrap().contains("ui/initialize"));
    let prompt = json!({ "name": "make_live_artifact", "arguments": { "what": "our releases" } });
    let prompt = session.request("prompts/get", prompt).await;
    let messages = &prompt["result"]["messages"];
    assert_eq!(messages[0]["content"]["text"], "Make a live artifact: our releases");
    assert_eq!(messages[1]["content"]["resource"]["text"], "# Guide");
    let tools = session.request("tools/list", json!({})).await;
    let shown: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["_meta"]["ui"]["resourceUri"] == "ui://od/artifact")
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        shown,
        [
            "od_live_artifacts_create",
            "od_live_artifacts_get",
            "od_live_artifacts_update",
            "od_live_artifacts_refresh"
        ]
    );
}

#[tokio::test]
async fn artifacts_are_resources_by_pages_and_their_page_is_html() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let daemon = tokio::spawn(async move {
        let mut lines = Vec::new();
        for answer in [
            r#"{"artifacts":[{"id":"la-a-0123456789ab","title":"A","age":"3h"}],"nextCursor":"1.x"}"#,
            r#"{"artifacts":[]}"#,
            r#"{"artifact":{"id":"la-a-0123456789ab"}}"#,
            r#"{"artifact":{"id":"la-a-0123456789ab"},"pageHtml":"<p>3</p>"}"#,
        ] {
            let asked = requests.recv().await.unwrap();
            lines.push(asked.line.clone());
            asked.answer(200, answer).await;
        }
        lines
    });
    let listed = session.request("resources/list", json!({})).await;
    assert_eq!(uris(&listed)[3..], ["od://artifacts/la-a-0123456789ab"]);
    assert_eq!(listed["result"]["nextCursor"], "1.x");
    let rest = session.request("resources/list", json!({ "cursor": "1.x" })).await;
    assert_eq!(uris(&rest), [""; 0]);
    let uri = "od://artifacts/la-a-0123456789ab";
    let read = session.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["result"]["contents"][0]["mimeType"], "application/json");
    let page = session.request("resources/read", json!({ "uri": format!("{uri}/page") })).await;
    let page = &page["result"]["contents"][0];
    assert_eq!((&page["mimeType"], &page["text"]), (&json!("text/html"), &json!("<p>3</p>")));
    assert_eq!(
        daemon.await.unwrap(),
        [
            "GET /api/tools/live-artifacts/list",
            "GET /api/tools/live-artifacts/list?cursor=1.x",
            "GET /api/tools/live-artifacts/la-a-0123456789ab",
            "GET /api/tools/live-artifacts/la-a-0123456789ab?include=page",
        ]
    );
}

#[tokio::test]
async fn what_is_no_resource_is_refused_in_the_words_of_the_revision() {
    let mut session = Session::start(no_door());
    let old = session.request("resources/read", json!({ "uri": "file:///etc/passwd" })).await;
    assert_eq!(old["error"]["code"], -32002, "{old}");
    let params = json!({ "uri": "od://nothing", "_meta": request_meta() });
    assert_eq!(session.request("resources/read", params).await["error"]["code"], -32602);
}
