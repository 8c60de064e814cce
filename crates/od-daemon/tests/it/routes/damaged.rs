//! One damaged artifact: shown as it is, served as it last was, and in nobody else's way.

use std::sync::Arc;

use od_app::Caller;
use od_app::artifacts::{Address, RepairArtifact, repair};
use od_ports::store::RepairMode;
use serde_json::json;

use crate::test_daemon::TestDaemon;

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_artifact_is_counted_listed_served_and_mended() {
    let daemon = TestDaemon::start().await;
    let (project, _, token) = daemon.run().await;
    let (hurt, whole) = (daemon.create(&token, "Hurt").await, daemon.create(&token, "Whole").await);
    // A restart waits until every copy is on the disk.
    let dirs = Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let daemon = TestDaemon::start_in(dirs).await;
    let preview = format!("/api/live-artifacts/{hurt}/preview");
    let person = daemon.person();
    let before = daemon.call(Some(&person), "GET", &preview, None).await;
    // Health counts what was read, and reads nothing itself.
    let all = format!("/api/live-artifacts?projectId={project}");
    daemon.ok("GET", &all, None).await;
    let health = daemon.ok("GET", "/api/health", None).await;
    assert_eq!((&health["store"], &health["artifacts"]["healthy"]), (&json!("ok"), &json!(2)));

    let live = daemon.dirs.path().join("data/projects").join(&project).join(".live-artifacts");
    std::fs::write(live.join(&hurt).join("data.json"), b"{ not json").unwrap();

    let list = daemon.ok("GET", &all, None).await;
    let health = daemon.ok("GET", "/api/health", None).await;
    assert_eq!(health["store"], "degraded", "{health}");
    assert_eq!(health["artifacts"]["total"], 2);
    assert_eq!(health["artifacts"]["healthy"], 1);
    assert_eq!(health["artifacts"]["corruptHead"], 1, "{health}");
    let line = |id: &str| {
        let lines = list["artifacts"].as_array().unwrap();
        lines.iter().find(|line| line["id"] == id).unwrap()["health"].clone()
    };
    assert_eq!(line(&hurt), json!({ "state": "corrupt_head", "reason": "data_invalid" }));
    assert_eq!(line(&whole), json!({ "state": "healthy" }));
    let after = daemon.call(Some(&person), "GET", &preview, None).await;
    assert_eq!((after.status, &after.body), (200, &before.body), "the last good page");

    let change = json!({ "input": { "title": "Changed" } });
    let target = format!("/api/live-artifacts/{hurt}");
    let refused = daemon.call(Some(&person), "PATCH", &target, Some(&change)).await;
    assert_eq!(refused.code(), "LIVE_ARTIFACT_NOT_HEALTHY", "{}", refused.text());
    let suggestion = refused.json()["error"]["suggestion"].as_str().unwrap().to_owned();
    assert!(suggestion.contains("repair"), "{suggestion}");
    daemon.ok("PATCH", &format!("/api/live-artifacts/{whole}"), Some(change.clone())).await;

    // What it suggests works.
    let address =
        Address { project: Some(project.parse().unwrap()), artifact: hurt.parse().unwrap() };
    let request = RepairArtifact { address, mode: RepairMode::Apply };
    repair(daemon.running.app(), &Caller::Person, request).await.unwrap();
    daemon.ok("PATCH", &target, Some(change)).await;
    daemon.ok("GET", &all, None).await;
    let health = daemon.ok("GET", "/api/health", None).await;
    assert_eq!(health["store"], "ok", "{health}");
    daemon.stop().await;
}
