//! A daemon on ports of its own, over a data directory of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use od_core::token::{Claims, CliClaims};
use od_daemon::{LogSink, Port, RunningDaemon, ServeConfig, Stopped, serve};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::published;
use crate::raw_client::{Answer, RawClient};

/// A running daemon and the directories it works on.
pub(crate) struct TestDaemon {
    pub(crate) running: RunningDaemon,
    pub(crate) dirs: Arc<TempDir>,
}

impl TestDaemon {
    pub(crate) async fn start() -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap())).await
    }

    pub(crate) async fn start_in(dirs: Arc<TempDir>) -> Self {
        let running = serve(config(dirs.path())).await.unwrap();
        Self { running, dirs }
    }

    /// Starts where another one was before.
    pub(crate) async fn start_at(dirs: Arc<TempDir>, port: u16) -> Self {
        let config = ServeConfig { port: Port::Fixed(port), ..config(dirs.path()) };
        Self { running: serve(config).await.unwrap(), dirs }
    }

    pub(crate) async fn stop(self) -> Stopped {
        self.running.shutdown().await
    }

    pub(crate) fn api(&self) -> SocketAddr {
        address(self.running.url())
    }

    pub(crate) fn preview(&self) -> SocketAddr {
        address(self.running.preview_url())
    }

    /// A token as the command line makes it.
    pub(crate) fn person(&self) -> String {
        let ports = &self.running.app().ports;
        let now = ports.clock.now();
        let claims = CliClaims {
            token_id: "cli-test".parse().unwrap(),
            audience: self.running.audience().clone(),
            issued_at: now,
            expires_at: now.plus_ms(60_000),
        };
        ports.tokens.sign(&Claims::Cli(claims)).unwrap()
    }

    /// Sends one request on a connection of its own.
    pub(crate) async fn call(
        &self,
        bearer: Option<&str>,
        method: &str,
        target: &str,
        body: Option<&Value>,
    ) -> Answer {
        let request = request(self.api(), bearer, method, target, body, &[]);
        let answer = self.send(self.api(), request).await;
        published::check(method, target, &answer);
        answer
    }

    /// Sends a request as the person on a connection of its own, and reads nothing yet.
    pub(crate) async fn begin(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> RawClient {
        let address = self.api();
        let bytes = request(address, Some(&self.person()), method, target, None, headers);
        tokio::task::spawn_blocking(move || {
            let mut client = RawClient::connect(address);
            client.send(&bytes).unwrap();
            client
        })
        .await
        .unwrap()
    }

    /// Sends prepared bytes and reads one answer.
    pub(crate) async fn send(&self, address: SocketAddr, request: Vec<u8>) -> Answer {
        tokio::task::spawn_blocking(move || {
            RawClient::connect(address).exchange(&request).expect("an answer")
        })
        .await
        .unwrap()
    }

    /// As the person, with 200 expected.
    pub(crate) async fn ok(&self, method: &str, target: &str, body: Option<Value>) -> Value {
        let answer = self.call(Some(&self.person()), method, target, body.as_ref()).await;
        assert_eq!(answer.status, 200, "{method} {target}: {}", answer.text());
        answer.json()
    }

    /// Makes a project and starts a run in it: project, run, tool token.
    pub(crate) async fn run(&self) -> (String, String, String) {
        let project = self.ok("POST", "/api/projects", Some(json!({ "name": "Demo" }))).await;
        let project = project["project"]["id"].as_str().unwrap().to_owned();
        let started = self.ok("POST", "/api/runs", Some(json!({ "projectId": project }))).await;
        let run = started["run"]["runId"].as_str().unwrap().to_owned();
        (project, run, started["toolToken"].as_str().unwrap().to_owned())
    }

    /// Creates an artifact as an agent; returns its id.
    pub(crate) async fn create(&self, token: &str, title: &str) -> String {
        let body = create_body(title);
        let answer =
            self.call(Some(token), "POST", "/api/tools/live-artifacts/create", Some(&body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["artifact"]["id"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn create_body(title: &str) -> Value {
    json!({
        "input": {
            "title": title,
            "document": {
                "format": "html_template_v1",
                "dataJson": { "title": title, "rows": [{ "name": "a", "value": 1 }] },
            },
        },
        "templateHtml": "<!doctype html><html><head><title>{{data.title}}</title></head><body><h1>{{data.title}}</h1><ul><li data-od-repeat=\"row in data.rows\">{{row.name}}: {{row.value}}</li></ul></body></html>",
    })
}

pub(crate) fn config(root: &Path) -> ServeConfig {
    ServeConfig {
        port: Port::Any,
        access_log: LogSink::Off,
        ..ServeConfig::new(root.join("home"), root.join("data"))
    }
}

pub(crate) fn address(url: &str) -> SocketAddr {
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Writes a well-formed request.
pub(crate) fn request(
    address: SocketAddr,
    bearer: Option<&str>,
    method: &str,
    target: &str,
    body: Option<&Value>,
    headers: &[(&str, &str)],
) -> Vec<u8> {
    use std::fmt::Write as _;
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: {address}\r\n");
    if let Some(bearer) = bearer {
        write!(text, "Authorization: Bearer {bearer}\r\n").unwrap();
    }
    if !matches!(method, "GET" | "HEAD") {
        text.push_str("Content-Type: application/json\r\n");
    }
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    text.into_bytes()
}
