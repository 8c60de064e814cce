//! A client that hangs up does not take its refresh with it.

use std::sync::Arc;

use od_daemon::{ComposeOptions, ServeConfig, serve};
use serde_json::json;

use crate::gated_github::GatedGitHub;
use crate::test_daemon::{TestDaemon, config, create_body};

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_goes_on_when_whoever_asked_for_it_is_gone() {
    let github = Arc::new(GatedGitHub::start());
    let dirs = Arc::new(tempfile::tempdir().unwrap());
    let options =
        ComposeOptions { github_base_url: Some(github.url()), ..ComposeOptions::default() };
    let running = serve(ServeConfig { options, ..config(dirs.path()) }).await.unwrap();
    let daemon = TestDaemon { running, dirs };
    let (_, _, token) = daemon.run().await;
    let mut body = create_body("Kept");
    body["input"]["document"]["sourceJson"] = json!({
        "type": "connector_tool",
        "input": { "owner": "octo", "repo": "cat" },
        "connector": { "connectorId": "github", "toolName": "github.public_repo_summary" },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    });
    let target = "/api/tools/live-artifacts/create";
    let created = daemon.call(Some(&token), "POST", target, Some(&body)).await.json();
    let artifact = created["artifact"]["id"].as_str().unwrap().to_owned();
    let mut events = daemon.begin("GET", "/api/events", &[]).await;

    let target = format!("/api/live-artifacts/{artifact}/refresh");
    let asking = daemon.begin("POST", &target, &[]).await;
    let gate = Arc::clone(&github);
    tokio::task::spawn_blocking(move || gate.wait_for_call()).await.unwrap();
    drop(asking);
    // Only the stream is left: the daemon has noticed.
    while daemon.running.load().0 > 1 {
        tokio::task::yield_now().await;
    }
    github.open();

    let told = tokio::task::spawn_blocking(move || events.read_until(br#""action":"updated""#));
    let told = told.await.unwrap();
    assert!(told.contains(r#""phase":"succeeded""#), "{told}");
    let shown = daemon.ok("GET", &format!("/api/live-artifacts/{artifact}"), None).await;
    assert_eq!(shown["artifact"]["revision"], 2, "{shown}");
    assert_eq!(shown["artifact"]["document"]["dataJson"]["repository"]["stars"], 7);
    let history =
        daemon.ok("GET", &format!("/api/live-artifacts/{artifact}/refreshes"), None).await;
    let steps: Vec<&str> = history["refreshes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["step"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["refresh:commit", "document", "refresh:start"]);
    daemon.stop().await;
}
