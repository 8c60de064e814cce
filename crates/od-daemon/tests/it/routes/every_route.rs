//! Every route answers once with success, and every answer is held against its published schema.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;

use od_app::Caller;
use od_app::projects::{CreateProject, create};
use od_daemon::{ComposeOptions, ServeConfig, Stopped, serve};
use od_wire::route::{Operation, ROUTES};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::paired_browser::PairedBrowser;
use crate::published;
use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, config, create_body, request};

/// A daemon whose GitHub takes calls and never answers.
struct Stuck {
    daemon: TestDaemon,
    github: TcpListener,
}

impl Stuck {
    async fn start() -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap())).await
    }

    async fn start_in(dirs: Arc<TempDir>) -> Self {
        let github = TcpListener::bind("127.0.0.1:0").unwrap();
        let options = ComposeOptions {
            github_base_url: Some(format!("http://{}", github.local_addr().unwrap())),
            ..ComposeOptions::default()
        };
        let running = serve(ServeConfig { options, ..config(dirs.path()) }).await.unwrap();
        Self { daemon: TestDaemon { running, dirs }, github }
    }

    /// Makes a project over a directory with one JSON file; returns its id and a run's token.
    async fn project(&self) -> (String, String, String) {
        let root = self.daemon.dirs.path().join("root");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("numbers.json"), r#"{"count":1}"#).unwrap();
        let request = CreateProject { id: None, name: "Numbers".to_owned(), root: Some(root) };
        let app = self.daemon.running.app();
        let project = create(app, &Caller::Person, request).await.unwrap().id.to_string();
        let run = json!({ "projectId": project });
        let started = self.daemon.ok("POST", "/api/runs", Some(run)).await;
        let run = started["run"]["runId"].as_str().unwrap().to_owned();
        (project, run, started["toolToken"].as_str().unwrap().to_owned())
    }

    /// Creates an artifact with a source; returns its id.
    async fn create(&self, token: &str, source: Value) -> String {
        let mut body = create_body("Sourced");
        body["input"]["document"]["sourceJson"] = source;
        let target = "/api/tools/live-artifacts/create";
        let answer = self.daemon.call(Some(token), "POST", target, Some(&body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["artifact"]["id"].as_str().unwrap().to_owned()
    }

    /// Starts a refresh that hangs in its source; returns the connection that waits for its answer.
    async fn hang(&self, artifact: &str) -> RawClient {
        let target = format!("/api/live-artifacts/{artifact}/refresh");
        let address = self.daemon.api();
        let bytes = request(address, Some(&self.daemon.person()), "POST", &target, None, &[]);
        let github = self.github.try_clone().unwrap();
        tokio::task::spawn_blocking(move || {
            let mut client = RawClient::connect(address);
            client.send(&bytes).unwrap();
            let (mut call, _) = github.accept().unwrap();
            // The call has come: the refresh is in the middle of its source.
            assert!(call.read(&mut [0; 64]).unwrap() > 0);
            std::mem::forget(call);
            client
        })
        .await
        .unwrap()
    }
}

/// Registers the daemon itself as a service, asks it, and removes it.
async fn services(daemon: &TestDaemon, token: &str) {
    let ask = json!({ "connectorId": "http", "toolName": "http.get_json", "input": { "source": "billing" } });
    daemon.call(Some(token), "POST", "/api/tools/connectors/execute", Some(&ask)).await;
    let asked = daemon.ok("GET", "/api/sources", None).await;
    assert_eq!(
        asked["requests"][0]["name"], "billing",
        "an agent asks and registers nothing: {asked}"
    );
    assert_eq!(asked["services"], json!([]));
    let left = daemon.ok("DELETE", "/api/source-requests/billing", None).await;
    assert_eq!(left["requests"], Value::Null, "{left}");
    let service = json!({ "name": "self", "url": format!("http://{}", daemon.api()) });
    daemon.ok("POST", "/api/sources", Some(service)).await;
    daemon.ok("GET", "/api/sources", None).await;
    let health = json!({ "path": "api/health" });
    daemon.ok("POST", "/api/sources/self/test", Some(health)).await;
    daemon.ok("DELETE", "/api/sources/self", None).await;
}

/// Registers a webhook, sends it a test, and removes it.
async fn webhooks(daemon: &TestDaemon) {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/od", receiver.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        use std::io::{BufRead as _, BufReader, Write as _};
        let (stream, _) = receiver.accept().unwrap();
        let mut reader = BufReader::new(&stream);
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
            let named = line.to_ascii_lowercase();
            let told =
                named.strip_prefix("content-length:").and_then(|text| text.trim().parse().ok());
            length = told.unwrap_or(length);
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        (&stream).write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
    });
    let webhook = json!({ "name": "pager", "url": url, "secret": "a-secret-of-this-hook" });
    daemon.ok("POST", "/api/webhooks", Some(webhook)).await;
    daemon.ok("GET", "/api/webhooks", None).await;
    let tested = daemon.ok("POST", "/api/webhooks/pager/test", None).await;
    assert_eq!(tested["answered"], 204, "{tested}");
    answering.join().unwrap();
    daemon.ok("DELETE", "/api/webhooks/pager", None).await;
}

/// Lists, shows, compares and restores the revisions of an artifact, and shows the first as it looked.
async fn revisions(daemon: &TestDaemon, artifact: &str) {
    let page = daemon.ok("GET", &format!("{artifact}/revisions?limit=3"), None).await;
    let kinds = |page: &Value| -> Vec<String> {
        let lines = page["revisions"].as_array().unwrap().iter();
        lines.map(|line| line["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&page), ["restore", "update", "schedule"], "{page}");
    assert_eq!(page["revisions"][0]["door"], "http");
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = daemon.ok("GET", &format!("{artifact}/revisions?cursor={cursor}"), None).await;
    assert_eq!(kinds(&rest), ["refresh", "update", "create"], "{rest}");
    assert_eq!(rest["revisions"][2]["actor"]["kind"], "agent");
    assert!(rest.get("nextCursor").is_none());
    let first = daemon.ok("GET", &format!("{artifact}/revisions/1"), None).await;
    assert_eq!(first["revision"]["dataJson"]["title"], "Sourced", "{first}");
    let compared = daemon.ok("GET", &format!("{artifact}/compare?from=first&to=3"), None).await;
    let changes = &compared["comparison"]["data"]["changes"];
    assert_eq!(changes[0]["path"], "/count", "{compared}");
    let exported = daemon.ok("GET", &format!("{artifact}/export?format=json"), None).await;
    let file: Value = serde_json::from_str(exported["export"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(file["title"], "Sourced", "{exported}");
    let page = daemon.ok("GET", &format!("{artifact}/export"), None).await;
    assert_eq!(page["export"]["mediaType"], "text/html; charset=utf-8");
    let unknown = format!("{artifact}/export?format=pdf");
    let unknown = daemon.call(Some(&daemon.person()), "GET", &unknown, None).await;
    assert_eq!(unknown.status, 400, "{}", unknown.text());
    let restored = daemon.ok("POST", &format!("{artifact}/revisions/1/restore"), None).await;
    assert_eq!(restored["artifact"]["restored"]["revision"], 1, "{restored}");
    let detail = daemon.ok("GET", artifact, None).await;
    assert_eq!(detail["artifact"]["restored"]["revision"], 1, "{detail}");
    let ticket = json!({ "revision": 1 });
    daemon.ok("POST", &format!("{artifact}/preview-ticket"), Some(ticket)).await;
    let page = format!("{artifact}/preview?revision=1");
    let page = daemon.call(Some(&daemon.person()), "GET", &page, None).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Sourced"), "{}", page.text());
}

fn local_file() -> Value {
    json!({
        "type": "local_file",
        "input": { "path": "numbers.json" },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

fn github() -> Value {
    json!({
        "type": "connector_tool",
        "toolName": "github.public_repo_summary",
        "input": { "owner": "octo", "repo": "cat" },
        "connector": { "connectorId": "github", "toolName": "github.public_repo_summary" },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one call for each route")]
async fn every_route_answers_as_published() {
    let stuck = Stuck::start().await;
    let daemon = &stuck.daemon;
    let (project, run, token) = stuck.project().await;
    daemon.call(None, "GET", "/api/health", None).await;
    console_sessions(daemon).await;
    daemon.ok("GET", "/api/projects", None).await;
    let other = daemon.ok("POST", "/api/projects", Some(json!({ "name": "Other" }))).await;
    let other = format!("/api/projects/{}", other["project"]["id"].as_str().unwrap());
    let renamed = daemon.ok("PATCH", &other, Some(json!({ "name": "Third" }))).await;
    assert_eq!(renamed["project"]["name"], "Third");
    daemon.ok("DELETE", &other, None).await;
    daemon.ok("GET", &format!("/api/projects/{project}"), None).await;
    let files = daemon.ok("GET", &format!("/api/projects/{project}/files"), None).await;
    assert_eq!(files["files"][0]["path"], "numbers.json");
    let sourced = stuck.create(&token, local_file()).await;
    let of_person = format!("/api/live-artifacts?projectId={project}");
    daemon.ok("POST", &of_person, Some(create_body("Mine"))).await;
    daemon.ok("GET", "/api/live-artifacts", None).await;
    let artifact = format!("/api/live-artifacts/{sourced}");
    daemon.ok("GET", &artifact, None).await;
    daemon.ok("PATCH", &artifact, Some(json!({ "input": { "pinned": true } }))).await;
    let refreshed = daemon.ok("POST", &format!("{artifact}/refresh"), None).await;
    assert_eq!(refreshed["refresh"]["changed"], true, "{refreshed}");
    let scheduled = Some(json!({ "refresh": { "every": "1h" } }));
    daemon.ok("POST", &format!("{artifact}/schedule"), scheduled).await;
    daemon.ok("GET", &format!("{artifact}/refreshes"), None).await;
    daemon.ok("GET", &format!("{artifact}/snapshots"), None).await;
    let id = refreshed["refresh"]["id"].as_str().unwrap();
    daemon.ok("GET", &format!("{artifact}/snapshots/{id}"), None).await;
    daemon.ok("PATCH", &artifact, Some(json!({ "input": { "document": { "dataJson": { "title": "By hand", "rows": [] } } } }))).await;
    let restored = daemon.ok("POST", &format!("{artifact}/snapshots/{id}/restore"), None).await;
    assert_eq!(restored["rollback"]["changed"], true, "{restored}");
    assert_eq!(restored["artifact"]["document"]["dataJson"]["count"], 1, "{restored}");
    revisions(daemon, &artifact).await;
    let snapshot = json!({ "variant": "inspect", "snapshot": id });
    daemon.ok("POST", &format!("{artifact}/preview-ticket"), Some(snapshot)).await;
    agents_door(&stuck, &token, &sourced).await;
    daemon.ok("DELETE", &artifact, None).await;
    let trash = daemon.ok("GET", "/api/live-artifacts?trash=true", None).await;
    assert_eq!(trash["trash"][0]["artifactId"], json!(sourced));
    daemon.ok("POST", &format!("{artifact}/restore"), None).await;
    daemon.ok("GET", "/api/connectors", None).await;
    services(daemon, &token).await;
    webhooks(daemon).await;
    daemon.ok("GET", "/api/connectors/git", None).await;
    daemon.ok("DELETE", "/api/connectors/git/connection", None).await;
    daemon.ok("POST", "/api/connectors/git/connect", None).await;
    let hanging = stuck.create(&token, github()).await;
    let waiting = stuck.hang(&hanging).await;
    daemon.ok("POST", &format!("/api/live-artifacts/{hanging}/refresh/cancel"), None).await;
    drop(waiting);
    let own = stuck.create(&token, local_file()).await;
    let own = Some(json!({ "artifactId": own }));
    let deleted =
        daemon.call(Some(&token), "POST", "/api/tools/live-artifacts/delete", own.as_ref()).await;
    assert_eq!(deleted.status, 200, "{}", deleted.text());
    daemon.ok("POST", &format!("/api/runs/{run}/renew"), None).await;
    daemon.ok("DELETE", &format!("/api/runs/{run}"), None).await;
    agents(daemon, &project).await;
    daemon.call(None, "GET", "/openapi.json", None).await;
    // An agent cancels in the test below; the program puts the server of /mcp in, whose tests have it.
    let silent = [
        Operation::PreviewArtifact,
        Operation::FollowAll,
        Operation::FollowProject,
        Operation::ToolCancelRefresh,
        Operation::McpMessage,
        // They take a running agent; the tests with a real browser have one.
        Operation::CancelAgent,
        Operation::AnswerPermission,
    ];
    for route in ROUTES.iter().filter(|route| !silent.contains(&route.operation)) {
        assert!(published::has_been_seen(route.operation), "{} {}", route.method, route.path);
    }
    stuck.daemon.stop().await;
}

/// A chat whose agent there is none of: it is kept, and says so.
async fn agents(daemon: &TestDaemon, project: &str) {
    let listed = daemon.ok("GET", "/api/agents", None).await;
    assert!(listed["agents"].as_array().unwrap().len() > 5);
    let open = json!({ "projectId": project, "agent": "none", "prompt": "Make it" });
    let opened = daemon.ok("POST", "/api/agent-sessions", Some(open)).await;
    let session = format!("/api/agent-sessions/{}", opened["session"]["id"].as_str().unwrap());
    while daemon.ok("GET", &session, None).await["session"]["status"] != "failed" {
        tokio::task::yield_now().await;
    }
    daemon.ok("GET", "/api/agent-sessions", None).await;
    daemon.ok("POST", &format!("{session}/prompt"), Some(json!({ "text": "Again" }))).await;
    while daemon.ok("GET", &session, None).await["session"]["status"] != "failed" {
        tokio::task::yield_now().await;
    }
    daemon.ok("DELETE", &session, None).await;
}

async fn console_sessions(daemon: &TestDaemon) {
    let code = daemon.ok("POST", "/api/session/codes", None).await;
    assert!(code["url"].as_str().unwrap().contains(code["code"].as_str().unwrap()));
    let (browser, _) = PairedBrowser::open(daemon).await;
    assert_eq!(browser.prove(daemon).await.status, 200);
    daemon.ok("GET", "/api/sessions", None).await;
    daemon.ok("DELETE", &format!("/api/sessions/{}", browser.session), None).await;
    daemon.ok("DELETE", "/api/sessions", None).await;
}

async fn agents_door(stuck: &Stuck, token: &str, artifact: &str) {
    let of_artifact = format!("live-artifacts/{artifact}?path=rows&include=page");
    let tools = [
        ("POST", "live-artifacts/validate", Some(create_body("Valid"))),
        ("GET", "live-artifacts/list", None),
        ("GET", &of_artifact, None),
        (
            "POST",
            "live-artifacts/update",
            Some(json!({ "artifactId": artifact, "input": { "title": "Renamed" } })),
        ),
        ("POST", "live-artifacts/refresh", Some(json!({ "artifactId": artifact }))),
        ("GET", "connectors/list", None),
        (
            "POST",
            "connectors/execute",
            Some(
                json!({ "connectorId": "project_files", "toolName": "read_json", "input": { "path": "numbers.json" } }),
            ),
        ),
        ("GET", "schema", None),
    ];
    for (method, path, body) in tools {
        let target = format!("/api/tools/{path}");
        let answer = stuck.daemon.call(Some(token), method, &target, body.as_ref()).await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_with_a_refresh_running_cancels_it_and_loses_nothing() {
    let stuck = Stuck::start().await;
    let (_, _, token) = stuck.project().await;
    let artifact = stuck.create(&token, github()).await;
    let shown = stuck.daemon.ok("GET", &format!("/api/live-artifacts/{artifact}"), None).await;
    let mut waiting = stuck.hang(&artifact).await;
    let dirs = Arc::clone(&stuck.daemon.dirs);
    assert_eq!(stuck.daemon.stop().await, Stopped::Complete);
    let answer = tokio::task::spawn_blocking(move || waiting.read(false)).await.unwrap();
    let answer = answer.expect("the client is told");
    assert_eq!(answer.code(), "REFRESH_CANCELLED", "{}", answer.text());
    let next = Stuck::start_in(dirs).await;
    let after = next.daemon.ok("GET", &format!("/api/live-artifacts/{artifact}"), None).await;
    assert_eq!(after["artifact"]["revision"], shown["artifact"]["revision"]);
    assert_eq!(after["artifact"]["document"], shown["artifact"]["document"]);
    assert_eq!(after["health"], json!({ "state": "healthy" }));
    let history =
        next.daemon.ok("GET", &format!("/api/live-artifacts/{artifact}/refreshes"), None).await;
    assert_eq!(history["refreshes"][0]["status"], "cancelled", "{history}");
    next.daemon.stop().await;
}
