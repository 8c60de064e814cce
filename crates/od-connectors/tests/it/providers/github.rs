//! The GitHub connector against a local server with recorded shapes and bad manners.

use std::time::Duration;

use od_connectors::{GitHub, GitHubConfig};
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{ConnectorProvider as _, ProviderError};
use serde_json::{Value, json};

use crate::http_server::{Answer, Seen, TestServer};
use crate::scene::{call, clock};

const TOKEN: &str = "ghp_canary0123456789abcdefABCDEF";
const RELEASES: &str = "github.list_releases";

fn github(server: &TestServer) -> GitHub {
    GitHub::new(GitHubConfig::new(&server.url()).unwrap(), clock())
}

fn repo() -> Value {
    json!({ "owner": "octo", "repo": "hello" })
}

fn release(number: usize) -> Value {
    json!({
        "url": "https://api.github.com/repos/octo/hello/releases/1",
        "html_url": format!("https://github.com/octo/hello/releases/tag/v{number}"),
        "id": number, "tag_name": format!("v{number}"), "name": format!("Release {number}"),
        "draft": false, "prerelease": number.is_multiple_of(2),
        "created_at": "2026-04-01T00:00:00Z", "published_at": "2026-04-02T00:00:00Z",
        "author": { "login": "octocat", "id": 1, "avatar_url": "https://example.com/a.png" },
        "assets": [{ "name": "a.zip", "download_count": 3 }, { "name": "b.zip", "download_count": 4 }],
        "body": "What is **new**.",
    })
}

/// Serves `count` entries, page by page, as GitHub does.
fn paged(seen: &Seen, count: usize, make: impl Fn(usize) -> Value) -> Answer {
    let number = |name| seen.query(name).unwrap().parse::<usize>().unwrap();
    let (page, size) = (number("page"), number("per_page"));
    let entries: Vec<Value> = (1..=count).skip((page - 1) * size).take(size).map(make).collect();
    Answer::json(&entries.into())
}

#[tokio::test]
async fn a_repository_is_summarised_in_our_words() {
    let server = TestServer::start(|seen| {
        assert_eq!(seen.path(), "/repos/octo/hello");
        Answer::json(&json!({
            "id": 1, "full_name": "octo/hello", "html_url": "https://github.com/octo/hello",
            "description": "Greets.", "homepage": "", "language": "Rust",
            "license": { "key": "mit", "spdx_id": "MIT" }, "topics": ["hello"],
            "default_branch": "main", "stargazers_count": 10, "forks_count": 2,
            "subscribers_count": 3, "open_issues_count": 4, "archived": false,
            "created_at": "2020-01-01T00:00:00Z", "pushed_at": "2026-04-01T00:00:00Z",
        }))
    })
    .await;
    let output = call(&github(&server), "github.public_repo_summary", repo(), None).await.unwrap();
    assert_eq!(output.output.to_value()["repository"]["stars"], 10);
    assert_eq!(output.output.to_value()["repository"]["license"], "MIT");
    assert_eq!(output.output.to_value()["repository"]["homepage"], Value::Null);
    assert_eq!(output.metadata["requests"], 1);
}

#[tokio::test]
async fn releases_are_listed_with_notes_and_never_with_a_body() {
    let server = TestServer::start(|seen| paged(seen, 3, release)).await;
    let output = call(&github(&server), RELEASES, repo(), None).await.unwrap();
    assert_eq!(output.output.to_value()["count"], 3);
    assert_eq!(output.output.to_value()["truncated"], false);
    assert_eq!(output.output.to_value()["items"][0]["notes"], "What is **new**.");
    assert_eq!(output.output.to_value()["items"][0]["downloads"], 7);
    assert!(!output.output.to_value().to_string().contains("\"body\""));
}

#[tokio::test]
async fn pull_requests_among_the_issues_are_left_out() {
    let server = TestServer::start(|seen| {
        assert_eq!(seen.query("state"), Some("all"));
        paged(seen, 10, |number| {
            let mut issue = json!({
                "number": number, "title": format!("Issue {number}"), "state": "open",
                "html_url": "https://github.com/x", "user": { "login": "octocat" },
                "labels": [{ "name": "bug" }], "comments": 1, "body": null,
                "created_at": "2026-04-01T00:00:00Z", "updated_at": "2026-04-01T00:00:00Z",
            });
            if number.is_multiple_of(2) {
                issue["pull_request"] = json!({ "url": "https://api.github.com/x" });
            }
            issue
        })
    })
    .await;
    let input = json!({ "owner": "octo", "repo": "hello", "state": "all", "limit": 100 });
    let output = call(&github(&server), "github.list_issues", input, None).await.unwrap();
    assert_eq!(output.output.to_value()["count"], 5);
    let pulls = json!({ "owner": "octo", "repo": "hello", "state": "all" });
    let output = call(&github(&server), "github.list_pull_requests", pulls, None).await.unwrap();
    assert_eq!(output.output.to_value()["count"], 10);
    assert!(output.output.to_value()["items"][0].get("mergedAt").is_some());
}

#[tokio::test]
async fn pages_are_read_until_there_are_enough_and_never_more_than_five() {
    // Every entry is a pull request, so that no page ever gives an issue.
    let server = TestServer::start(|seen| {
        paged(seen, 100_000, |number| {
            json!({
                "number": number, "title": "t", "state": "open", "html_url": "https://x.example",
                "pull_request": {},
            })
        })
    })
    .await;
    let input = json!({ "owner": "octo", "repo": "hello", "limit": 100 });
    let output = call(&github(&server), "github.list_issues", input, None).await.unwrap();
    assert_eq!(server.seen().len(), 5);
    assert_eq!(output.output.to_value()["count"], 0);
    assert_eq!(output.output.to_value()["truncated"], true);
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let server = TestServer::start(|seen| {
        if seen.header("if-none-match") == Some("\"v1\"") {
            Answer::text(304, "").with("etag", "\"v1\"")
        } else {
            paged(seen, 2, release).with("etag", "\"v1\"")
        }
    })
    .await;
    let github = github(&server);
    let first = call(&github, RELEASES, repo(), None).await.unwrap();
    let second = call(&github, RELEASES, repo(), None).await.unwrap();
    assert_eq!(first.output, second.output);
    assert_eq!(second.metadata["notModified"], 1);
    // Another viewer does not get the first one's answer.
    let third = call(&github, RELEASES, repo(), Some(TOKEN)).await.unwrap();
    assert_eq!(third.metadata["notModified"], 0);
}

#[tokio::test]
async fn a_rate_limit_becomes_advice_when_to_come_back() {
    let now = clock().now().unix_ms() / 1000;
    for (status, headers, expected) in [
        (429, vec![("retry-after", "7".to_owned())], 7_000),
        (
            403,
            vec![
                ("x-ratelimit-remaining", "0".to_owned()),
                ("x-ratelimit-reset", (now + 90).to_string()),
            ],
            90_000,
        ),
        (429, vec![], 60_000),
        (429, vec![("retry-after", "999999999999999999".to_owned())], 3_600_000),
    ] {
        let server = TestServer::start(move |_| {
            headers
                .iter()
                .fold(Answer::text(status, "{}"), |answer, (name, value)| answer.with(name, value))
        })
        .await;
        let fault = call(&github(&server), RELEASES, repo(), None).await.unwrap_err();
        assert_eq!(fault, ProviderError::RateLimited { after_ms: expected });
    }
}

#[tokio::test]
async fn each_refusal_of_the_service_has_its_own_meaning() {
    for (status, expected) in [
        (401, "CredentialRefused"),
        (403, "Forbidden"),
        (404, "Missing"),
        (500, "Unavailable"),
        (204, "Unavailable"),
    ] {
        let server = TestServer::start(move |_| Answer::text(status, "{\"message\":\"no\"}")).await;
        let fault = call(&github(&server), RELEASES, repo(), None).await.unwrap_err();
        assert!(format!("{fault:?}").starts_with(expected), "{status}: {fault:?}");
    }
}

#[tokio::test]
async fn an_error_with_status_200_is_not_data() {
    for body in [
        r#"{"message":"Not Found","documentation_url":"https://docs.github.com"}"#,
        "null",
        "\"maintenance\"",
        "[1,2,3]",
        "<html>",
        "",
    ] {
        let server = TestServer::start(move |_| Answer::text(200, body)).await;
        let fault = call(&github(&server), RELEASES, repo(), None).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Malformed { .. }), "{body}: {fault:?}");
    }
}

#[tokio::test]
async fn a_compressed_answer_is_refused_unread() {
    let server = TestServer::start(|seen| {
        assert_eq!(seen.header("accept-encoding"), Some("identity"));
        Answer::text(200, "[]").with("content-encoding", "gzip")
    })
    .await;
    let fault = call(&github(&server), RELEASES, repo(), None).await.unwrap_err();
    assert!(matches!(fault, ProviderError::Malformed { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_document_a_hundred_thousand_levels_deep_is_only_an_error() {
    for body in [
        "[".repeat(100_000),
        format!(
            "[{{\"tag_name\":\"v\",\"html_url\":\"u\",\"author\":{}",
            "{\"login\":".repeat(100_000)
        ),
        format!("[{{\"x\":{}", "[".repeat(100_000)),
    ] {
        let server = TestServer::start(move |_| Answer::text(200, &body)).await;
        let fault = call(&github(&server), RELEASES, repo(), None).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Malformed { .. }), "{fault:?}");
    }
}

#[tokio::test]
async fn a_broken_connection_is_an_unavailable_service() {
    for answer in [Answer::Torn, Answer::Noise] {
        let server = TestServer::start(move |_| answer.clone()).await;
        let fault = call(&github(&server), RELEASES, repo(), None).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Unavailable { .. }), "{fault:?}");
    }
    let closed = TestServer::start(|_| Answer::Silence).await.url();
    let github = GitHub::new(GitHubConfig::new(&closed).unwrap(), clock());
    let fault = call(&github, RELEASES, repo(), None).await.unwrap_err();
    assert!(matches!(fault, ProviderError::Unavailable { .. }), "{fault:?}");
}

#[tokio::test]
async fn dropping_the_call_closes_the_connection() {
    for answer in [Answer::Trickle, Answer::Silence] {
        let server = TestServer::start(move |_| answer.clone()).await;
        let github = github(&server);
        let work = call(&github, RELEASES, repo(), None);
        let ended = tokio::time::timeout(Duration::from_millis(200), work).await;
        assert!(ended.is_err(), "the server never finishes an answer");
    }
}

#[tokio::test]
async fn a_redirect_to_a_local_address_is_not_followed() {
    let inner = TestServer::start(|_| Answer::json(&json!([]))).await;
    let targets = [
        inner.url(),
        format!("http://localhost:{}", inner.address().port()),
        format!("http://[::ffff:127.0.0.1]:{}", inner.address().port()),
        format!("http://2130706433:{}", inner.address().port()),
        format!("http://0:{}", inner.address().port()),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://[fe80::1]/".to_owned(),
    ];
    for target in targets {
        let location = target.clone();
        let server =
            TestServer::start(move |_| Answer::text(302, "").with("location", &location)).await;
        let fault = call(&github(&server), RELEASES, repo(), Some(TOKEN)).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Forbidden { .. }), "{target}: {fault:?}");
    }
    assert_eq!(inner.seen().len(), 0);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_followed_without_the_secret() {
    let other = TestServer::start(|seen| paged(seen, 1, release)).await;
    let port = other.address().port();
    let server = TestServer::start(move |seen| {
        let location = format!("http://other.example:{port}{}", seen.target);
        Answer::text(301, "").with("location", &location)
    })
    .await;
    let config =
        GitHubConfig::new(&server.url()).unwrap().with_host_at("other.example", other.address());
    let github = GitHub::new(config, clock());
    let output = call(&github, RELEASES, repo(), Some(TOKEN)).await.unwrap();
    assert_eq!(output.output.to_value()["count"], 1);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(server.seen()[0].header("authorization"), Some(bearer.as_str()));
    assert_eq!(other.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_redirect_on_the_same_host_keeps_the_secret_and_a_circle_ends() {
    let server = TestServer::start(|seen| match seen.path() {
        "/repositories/1/releases" => paged(seen, 1, release),
        path if path.contains("/loop/") => Answer::text(302, "").with("location", &seen.target),
        _ => {
            let (_, query) = seen.target.split_once('?').unwrap();
            Answer::text(301, "").with("location", &format!("/repositories/1/releases?{query}"))
        }
    })
    .await;
    let github = github(&server);
    call(&github, RELEASES, repo(), Some(TOKEN)).await.unwrap();
    assert!(server.seen().iter().all(|seen| seen.header("authorization").is_some()));
    let circle = json!({ "owner": "octo", "repo": "loop" });
    let fault = call(&github, RELEASES, circle, None).await.unwrap_err();
    assert!(matches!(fault, ProviderError::Forbidden { .. }), "{fault:?}");
    assert!(server.seen().len() <= 6);
}

#[tokio::test]
async fn nothing_the_server_says_about_the_secret_reaches_an_error() {
    let base64 = "Z2hwX2NhbmFyeTAxMjM0NTY3ODlhYmNkZWZBQkNERUY";
    for status in [200, 301, 302, 400, 401, 403, 404, 418, 429, 500] {
        let server = TestServer::start(move |seen| {
            let echo = seen.header("authorization").unwrap_or_default().to_owned();
            let token = echo.trim_start_matches("Bearer ").to_owned();
            Answer::text(status, &format!("{{\"message\":\"bad {echo} {base64}\"}}"))
                .with("x-github-request-id", &token)
                .with("etag", &format!("\"{token}\""))
                .with("retry-after", &token)
                .with("location", &format!("http://{token}.invalid/{token}?t={token}"))
        })
        .await;
        let fault = call(&github(&server), RELEASES, repo(), Some(TOKEN)).await.unwrap_err();
        let said = format!("{fault:?} {fault}").to_lowercase();
        assert!(!said.contains("canary"), "{status}: {said}");
        assert!(!said.contains(&base64.to_lowercase()), "{status}: {said}");
    }
}

#[tokio::test]
async fn a_token_is_asked_whose_it_is() {
    let server = TestServer::start(|seen| {
        assert_eq!(seen.path(), "/user");
        Answer::json(&json!({ "login": "octocat", "id": 1 }))
    })
    .await;
    let secret = Secret::parse(TOKEN).unwrap();
    assert_eq!(github(&server).identify(&secret).await.unwrap(), "octocat");
    let refusing = TestServer::start(|_| Answer::text(401, "{}")).await;
    assert_eq!(
        github(&refusing).identify(&secret).await.unwrap_err(),
        ProviderError::CredentialRefused
    );
}

#[tokio::test]
async fn names_that_would_leave_their_path_segment_are_refused() {
    let server = TestServer::start(|_| Answer::json(&json!([]))).await;
    for owner in ["..", ".", "a/b", "a%2fb", "", "ä", "a b"] {
        let input = json!({ "owner": owner, "repo": "x" });
        let fault = call(&github(&server), RELEASES, input, None).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Input { .. }), "{owner}: {fault:?}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_base_url_is_http_or_https_and_without_credentials() {
    for bad in ["", "api.github.com", "ftp://x", "file:///etc/passwd", "https://u:p@x.example"] {
        assert!(GitHubConfig::new(bad).is_err(), "{bad}");
    }
    assert!(GitHubConfig::new("https://ghe.example/api/v3").is_ok());
}

/// Returns the most memory this process ever had resident, in MiB.
pub(crate) fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn a_stream_of_a_gigabyte_is_refused_within_64_mib() {
    let server = TestServer::start(|_| Answer::Flood { bytes: 1 << 30 }).await;
    let github = github(&server);
    let before = peak_mib();
    let fault = call(&github, RELEASES, repo(), None).await.unwrap_err();
    assert!(matches!(fault, ProviderError::TooLarge { .. }), "{fault:?}");
    let grown = peak_mib() - before;
    assert!(grown <= 64, "memory grew by {grown} MiB");
}
