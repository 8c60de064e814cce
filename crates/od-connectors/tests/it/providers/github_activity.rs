//! Commits, workflow runs, milestones, contributors and lines by week, from a local server.

use od_connectors::{GitHub, GitHubConfig};
use od_core::json::Value;
use od_ports::connector_provider::ProviderError;
use serde_json::json;

use crate::http_server::{Answer, TestServer};
use crate::scene::{call, clock};

fn answer(path: &str) -> Answer {
    match path {
        "/repos/octo/hello/commits" => Answer::json(&json!([{
            "sha": "0123456789abcdef0123456789abcdef01234567",
            "html_url": "https://github.com/octo/hello/commit/0123456",
            "commit": {
                "author": { "name": "Ada", "email": "ada@example.com", "date": "2026-04-01T00:00:00Z" },
                "message": "Fix it\n\nAt length.",
            },
            "author": { "login": "ada" },
        }])),
        "/repos/octo/hello/actions/runs" => Answer::json(&json!({
            "total_count": 1,
            "workflow_runs": [{
                "id": 9, "run_number": 42, "name": "CI", "display_title": "Fix it", "head_branch": "main",
                "event": "push", "status": "completed", "conclusion": "failure", "run_attempt": 1,
                "actor": { "login": "ada" }, "created_at": "2026-04-01T00:00:00Z",
                "run_started_at": "2026-04-01T00:00:01Z", "updated_at": "2026-04-01T00:05:00Z",
                "html_url": "https://github.com/octo/hello/actions/runs/9",
            }],
        })),
        "/repos/octo/hello/milestones" => Answer::json(&json!([{
            "number": 1, "title": "1.0", "state": "open", "open_issues": 3, "closed_issues": 7,
            "due_on": "2026-06-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z", "closed_at": null,
            "html_url": "https://github.com/octo/hello/milestone/1",
        }])),
        "/repos/octo/hello/contributors" => Answer::json(&json!([
            { "login": "ada", "contributions": 12, "html_url": "https://github.com/ada" },
            { "name": "Bob", "email": "bob@example.com", "contributions": 1, "type": "Anonymous" },
        ])),
        "/repos/octo/hello/stats/code_frequency" => {
            Answer::json(&json!([[1_774_742_400, 100, -20], [1_775_347_200, 5, 0]]))
        }
        "/repos/octo/hello/issues" => Answer::json(&json!([{
            "number": 5, "title": "Broken", "html_url": "https://github.com/octo/hello/issues/5",
            "state": "closed", "user": { "login": "ada" }, "assignee": { "login": "bob" },
            "milestone": { "title": "1.0" }, "created_at": "2026-04-01T00:00:00Z",
            "updated_at": "2026-04-03T00:00:00Z", "closed_at": "2026-04-03T00:00:00Z",
        }])),
        _ => Answer::text(404, ""),
    }
}

async fn items(tool: &str, further: Value) -> Value {
    let server = TestServer::start(|seen| answer(seen.path())).await;
    let github = GitHub::new(GitHubConfig::new(&server.url()).unwrap(), clock());
    let mut input = json!({ "owner": "octo", "repo": "hello" });
    for (key, value) in further.as_object().unwrap() {
        input[key] = value.clone();
    }
    let value = call(&github, tool, input, None).await.unwrap().output.to_value();
    assert!(!value.to_string().contains("@example.com"), "addresses stay where they are");
    value["items"].clone()
}

#[tokio::test]
async fn activity_comes_in_rows_of_our_words() {
    let commits = items("github.list_commits", json!({ "author": "ada" })).await;
    assert_eq!(
        commits,
        json!([{
            "commit": "0123456789abcdef0123456789abcdef01234567", "short": "0123456", "author": "ada",
            "time": "2026-04-01T00:00:00Z", "title": "Fix it",
            "url": "https://github.com/octo/hello/commit/0123456",
        }])
    );
    let runs = items("github.list_workflow_runs", json!({ "status": "failure" })).await;
    assert_eq!(runs[0]["number"], 42);
    assert_eq!(runs[0]["conclusion"], "failure");
    assert_eq!(runs[0]["startedAt"], "2026-04-01T00:00:01Z");
    let milestones = items("github.list_milestones", json!({ "state": "all" })).await;
    assert_eq!(
        (&milestones[0]["closedIssues"], &milestones[0]["dueOn"]),
        (&json!(7), &json!("2026-06-01T00:00:00Z"))
    );
    let people = items("github.list_contributors", json!({})).await;
    assert_eq!((&people[0]["commits"], &people[1]["author"]), (&json!(12), &json!("Bob")));
    let weeks = items("github.read_code_frequency", json!({})).await;
    assert_eq!(weeks[1], json!({ "week": "2026-03-29", "additions": 100, "deletions": 20 }));
    let issues = items("github.list_issues", json!({ "state": "all", "limit": 500 })).await;
    assert_eq!(
        (&issues[0]["assignee"], &issues[0]["closedAt"], &issues[0]["milestone"]),
        (&json!("bob"), &json!("2026-04-03T00:00:00Z"), &json!("1.0"))
    );
}

#[tokio::test]
async fn filters_become_parameters_and_nothing_else_does() {
    let server = TestServer::start(|seen| {
        assert_eq!(seen.query("sha"), Some("main%26x%3D1"));
        assert_eq!(seen.query("path"), Some("..%2Fsrc"));
        assert_eq!(seen.query("x"), None);
        answer(seen.path())
    })
    .await;
    let github = GitHub::new(GitHubConfig::new(&server.url()).unwrap(), clock());
    let input = json!({ "owner": "octo", "repo": "hello", "branch": "main&x=1", "path": "../src" });
    call(&github, "github.list_commits", input, None).await.unwrap();
}

#[tokio::test]
async fn numbers_that_github_is_still_counting_are_asked_for_later() {
    for (status, what) in [(202, "still counting"), (422, "too large")] {
        let server = TestServer::start(move |_| Answer::text(status, "")).await;
        let github = GitHub::new(GitHubConfig::new(&server.url()).unwrap(), clock());
        let input = json!({ "owner": "octo", "repo": "hello" });
        let fault: ProviderError =
            call(&github, "github.read_code_frequency", input, None).await.unwrap_err();
        assert!(fault.to_string().contains(what), "{fault}");
    }
}
