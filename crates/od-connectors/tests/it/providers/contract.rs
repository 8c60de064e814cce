//! The three connectors keep the contract of their port.

use std::sync::Arc;

use od_connectors::{Fence, Git, GitHub, GitHubConfig, ProjectFilesConnector};
use od_core::json::Value;
use od_ports::access::credential_vault::Secret;
use od_ports::contract::{ConnectorTrial, check_connector_provider};
use serde_json::json;
use tempfile::TempDir;

use crate::http_server::{Answer, TestServer};
use crate::scene::{OneRoot, clock, project, write};

fn trial(tool: &str, input: Value) -> ConnectorTrial {
    let Value::Object(input): Value = input else { panic!("an input is an object") };
    ConnectorTrial { project: project(), tool: tool.parse().unwrap(), input, secret: None }
}

#[tokio::test]
async fn project_files_keeps_the_contract() {
    let root = TempDir::new().unwrap();
    write(root.path(), "data/one.json", r#"{ "count": 1 }"#);
    write(root.path(), "data/two.json", r#"{ "count": 2 }"#);
    write(root.path(), "data/rows.csv", "a,b\n1,2\n");
    write(root.path(), "data/okr.yaml", "owner: ada\n");
    let files = Arc::new(OneRoot(root.path().to_path_buf()));
    let connector = ProjectFilesConnector::new(files, Fence::around([]));
    for (tool, input) in [
        ("project_files.read_json", json!({ "path": "data/one.json" })),
        ("project_files.read_json_folder", json!({ "folder": "data" })),
        ("project_files.search", json!({ "query": "count" })),
        ("project_files.read_table", json!({ "path": "data/rows.csv" })),
        ("project_files.read_data", json!({ "path": "data/okr.yaml" })),
    ] {
        check_connector_provider(&connector, &trial(tool, input)).await;
    }
}

#[tokio::test]
async fn git_keeps_the_contract() {
    let root = super::git::repository();
    let files = Arc::new(OneRoot(root.path().to_path_buf()));
    let connector = Git::new(files, Fence::around([]));
    check_connector_provider(&connector, &trial("git.summary", json!({ "commits": 1 }))).await;
}

#[tokio::test]
async fn github_keeps_the_contract() {
    let server = TestServer::start(|seen| match seen.path() {
        "/user" => Answer::json(&json!({ "login": "octocat" })),
        "/repos/octo/hello" => Answer::json(&json!({
            "full_name": "octo/hello", "html_url": "https://github.com/octo/hello",
            "default_branch": "main", "stargazers_count": 10, "forks_count": 2,
            "open_issues_count": 4, "archived": false,
            "created_at": "2020-01-01T00:00:00Z", "pushed_at": "2026-04-01T00:00:00Z",
        })),
        _ => Answer::json(&json!([])),
    })
    .await;
    let connector = GitHub::new(GitHubConfig::new(&server.url()).unwrap(), clock());
    let secret = Some(Secret::parse("ghp_canary0123456789abcdefABCDEF").unwrap());
    for tool in [
        "github.public_repo_summary",
        "github.list_releases",
        "github.list_issues",
        "github.list_pull_requests",
    ] {
        let trial = trial(tool, json!({ "owner": "octo", "repo": "hello" }));
        let trial = ConnectorTrial { secret: secret.clone(), ..trial };
        check_connector_provider(&connector, &trial).await;
    }
}
