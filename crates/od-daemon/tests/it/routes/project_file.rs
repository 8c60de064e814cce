//! One file of a project, as a refresh would read it.

use od_app::Caller;
use od_app::projects::{CreateProject, create};
use serde_json::json;

use crate::test_daemon::TestDaemon;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_as_a_refresh_would_read_it_or_refused_like_one() {
    let daemon = TestDaemon::start().await;
    let root = daemon.dirs.path().join("files");
    std::fs::create_dir_all(root.join("data")).unwrap();
    let rows = json!([{ "id": 1, "note": "plain" }]);
    std::fs::write(root.join("data/rows.json"), rows.to_string()).unwrap();
    std::fs::write(root.join("broken.json"), "{ not json").unwrap();
    std::fs::write(
        root.join("secret.json"),
        r#"{ "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789" }"#,
    )
    .unwrap();
    let request = CreateProject {
        id: Some("web".parse().unwrap()),
        name: "Web".to_owned(),
        root: Some(root.clone()),
    };
    create(daemon.running.app(), &Caller::Person, request).await.unwrap();

    let all = daemon.ok("GET", "/api/projects/web/files", None).await;
    assert_eq!(all["files"].as_array().unwrap().len(), 3);
    assert_eq!(all.get("content"), None, "a list holds no contents: {all}");
    let one = daemon.ok("GET", "/api/projects/web/files?path=data%2Frows.json", None).await;
    assert_eq!((&one["content"], &one["files"][0]["path"]), (&rows, &json!("data/rows.json")));
    assert_eq!(one["files"].as_array().unwrap().len(), 1);

    let person = daemon.person();
    for (path, code) in [
        ("broken.json", "SOURCE_UNREADABLE"),
        ("gone.json", "SOURCE_UNREADABLE"),
        ("..%2Fdata%2Fdaemon.json", "BAD_REQUEST"),
    ] {
        let target = format!("/api/projects/web/files?path={path}");
        let answer = daemon.call(Some(&person), "GET", &target, None).await;
        assert_eq!(answer.code(), code, "{path}: {}", answer.text());
    }
    let target = "/api/projects/web/files?path=secret.json";
    let answer = daemon.call(Some(&person), "GET", target, None).await;
    assert!(!answer.text().contains("ghp_abc"), "{}", answer.text());
    daemon.stop().await;
}
