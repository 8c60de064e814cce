//! What the routes say, word for word. Clock and randomness are fixed; only the ports are not.

use std::fmt::Write as _;
use std::sync::Arc;

use od_core::ids::Timestamp;
use od_daemon::{ComposeOptions, ServeConfig, serve};
use od_ports::fakes::{CountingEntropy, StillClock};
use serde_json::{Value, json};

use crate::paired_browser::{Met, PairedBrowser};
use crate::test_daemon::{TestDaemon, config, create_body, request};

/// A daemon whose answers are the same in every run, and what was said to it.
struct Transcript {
    daemon: TestDaemon,
    text: String,
}

impl Transcript {
    async fn start() -> Self {
        let dirs = Arc::new(tempfile::tempdir().unwrap());
        let options = ComposeOptions {
            clock: Some(Arc::new(StillClock::at(Timestamp::from_unix_ms(1_777_507_200_000)))),
            entropy: Some(Arc::new(CountingEntropy::default())),
            ..ComposeOptions::default()
        };
        let running = serve(ServeConfig { options, ..config(dirs.path()) }).await.unwrap();
        Self { daemon: TestDaemon { running, dirs }, text: String::new() }
    }

    /// Writes down one exchange and returns its body.
    async fn say(
        &mut self,
        bearer: Option<&str>,
        method: &str,
        target: &str,
        body: Option<Value>,
    ) -> Value {
        self.say_with(bearer, method, target, body, &[]).await
    }

    async fn say_with(
        &mut self,
        bearer: Option<&str>,
        method: &str,
        target: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Value {
        let bytes = request(self.daemon.api(), bearer, method, target, body.as_ref(), headers);
        let answer = self.daemon.send(self.daemon.api(), bytes).await;
        crate::published::check(method, target, &answer);
        writeln!(self.text, "{method} {target}").unwrap();
        writeln!(self.text, "{}", answer.status).unwrap();
        for name in ["etag", "cache-control", "content-type", "content-security-policy"] {
            if answer.header("content-type") != Some("application/json")
                && let Some(value) = answer.header(name)
            {
                writeln!(self.text, "{name}: {value}").unwrap();
            }
        }
        let value = serde_json::from_slice::<Value>(&answer.body).unwrap_or(Value::Null);
        if value.is_null() {
            writeln!(self.text, "{}\n", answer.text()).unwrap();
        } else {
            let mut shown = value.clone();
            hide_uptime(&mut shown);
            writeln!(self.text, "{}\n", serde_json::to_string_pretty(&shown).unwrap()).unwrap();
        }
        value
    }

    /// Ends the daemon; returns what was said, the ports replaced.
    async fn finish(self) -> String {
        let (api, preview) = (self.daemon.api().port(), self.daemon.preview().port());
        self.daemon.stop().await;
        self.text
            .replace(&format!("127.0.0.1:{api}"), "127.0.0.1:API")
            .replace(&format!("127.0.0.1:{preview}"), "127.0.0.1:PREVIEW")
    }
}

/// The one figure that a fixed clock does not fix.
fn hide_uptime(value: &mut Value) {
    if let Some(uptime) = value.get_mut("uptimeMs") {
        *uptime = json!(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_gets_its_bearer_for_a_code_once() {
    let mut said = Transcript::start().await;
    let cli = said.daemon.person();
    said.say(None, "GET", "/api/health", None).await;
    let code = said.say(Some(&cli), "POST", "/api/session/codes", None).await;
    let browser = PairedBrowser::unknown();
    let met = Met::at(&said.daemon).await;
    let body = browser.registration(&met, code["code"].as_str().unwrap());
    let session = said.say(None, "POST", "/api/session", Some(body.clone())).await;
    said.say(None, "POST", "/api/session", Some(body)).await;
    let met = Met::at(&said.daemon).await;
    let again = browser.registration(&met, code["code"].as_str().unwrap());
    said.say(None, "POST", "/api/session", Some(again)).await;
    let bearer = session["token"].as_str().unwrap().to_owned();
    said.say(Some(&bearer), "GET", "/api/projects", None).await;
    said.say(Some(&bearer), "POST", "/api/session/codes", None).await;
    said.say(None, "GET", "/api/projects", None).await;
    said.say(Some("odt.v1.x.y"), "GET", "/api/projects", None).await;
    // The one number that does not come from the counted randomness.
    let said = said.finish().await.replace(&met.daemon.fingerprint(), "<daemon>");
    insta::assert_snapshot!(said.replace(&bearer, "<bearer>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_creates_lists_and_changes_in_its_own_project_only() {
    let mut said = Transcript::start().await;
    let cli = said.daemon.person();
    let project =
        said.say(Some(&cli), "POST", "/api/projects", Some(json!({ "name": "Demo" }))).await;
    let project = project["project"]["id"].as_str().unwrap().to_owned();
    let run = json!({ "projectId": project });
    let started = said.say(Some(&cli), "POST", "/api/runs", Some(run)).await;
    let token = started["toolToken"].as_str().unwrap().to_owned();
    let created = said
        .say(
            Some(&token),
            "POST",
            "/api/tools/live-artifacts/create",
            Some(create_body("Releases")),
        )
        .await;
    let id = created["artifact"]["id"].as_str().unwrap().to_owned();
    said.say(Some(&token), "GET", "/api/tools/live-artifacts/list", None).await;
    let change = json!({ "artifactId": id, "ifRevision": 1, "input": { "title": "Releases 2" } });
    said.say(Some(&token), "POST", "/api/tools/live-artifacts/update", Some(change.clone())).await;
    said.say(Some(&token), "POST", "/api/tools/live-artifacts/update", Some(change)).await;
    let other = json!({ "projectId": "other", "input": { "title": "x" } });
    said.say(Some(&token), "POST", "/api/tools/live-artifacts/create", Some(other)).await;
    said.say(Some(&token), "GET", "/api/tools/live-artifacts/list?runId=run-2", None).await;
    let broken =
        json!({ "input": { "titel": "x", "id": "mine" }, "templateHtml": "<p>{{data.x</p>" });
    said.say(Some(&token), "POST", "/api/tools/live-artifacts/validate", Some(broken)).await;
    said.say(None, "GET", "/api/tools/live-artifacts/list", None).await;
    said.say(Some(&cli), "GET", "/api/tools/live-artifacts/list", None).await;
    said.say(Some(&token), "GET", "/api/projects", None).await;
    let run = started["run"]["runId"].as_str().unwrap().to_owned();
    said.say(Some(&cli), "POST", &format!("/api/runs/{run}/renew"), None).await;
    said.say(Some(&cli), "DELETE", &format!("/api/runs/{run}"), None).await;
    said.say(Some(&token), "GET", "/api/tools/live-artifacts/list", None).await;
    insta::assert_snapshot!(said.finish().await.replace(&token, "<tool token>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_person_sees_changes_removes_and_restores() {
    let mut said = Transcript::start().await;
    let cli = said.daemon.person();
    let (project, _, token) = said.daemon.run().await;
    let id = said.daemon.create(&token, "Board").await;
    let artifact = format!("/api/live-artifacts/{id}");
    said.say(Some(&cli), "GET", &format!("/api/live-artifacts?projectId={project}"), None).await;
    said.say(Some(&cli), "GET", &artifact, None).await;
    said.say(Some(&cli), "PATCH", &artifact, Some(json!({ "input": { "pinned": true } }))).await;
    said.say(Some(&cli), "GET", &format!("{artifact}/refreshes"), None).await;
    said.say(Some(&cli), "GET", &format!("{artifact}/snapshots"), None).await;
    said.say(Some(&cli), "GET", &format!("{artifact}/snapshots/refresh-000001"), None).await;
    said.say(Some(&cli), "DELETE", &artifact, None).await;
    said.say(Some(&cli), "GET", &artifact, None).await;
    said.say(Some(&cli), "POST", &format!("{artifact}/restore"), None).await;
    said.say(Some(&cli), "GET", &format!("{artifact}?projectId=other"), None).await;
    insta::assert_snapshot!(said.finish().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_has_a_strong_validator_and_the_sandbox() {
    let mut said = Transcript::start().await;
    let cli = said.daemon.person();
    let (_, _, token) = said.daemon.run().await;
    let id = said.daemon.create(&token, "Page").await;
    let preview = format!("/api/live-artifacts/{id}/preview");
    said.say(Some(&cli), "GET", &preview, None).await;
    said.say(Some(&cli), "GET", &format!("{preview}?variant=template"), None).await;
    said.say(Some(&cli), "GET", &format!("{preview}?variant=nothing"), None).await;
    let bytes = request(said.daemon.api(), Some(&cli), "GET", &preview, None, &[]);
    let etag = said.daemon.send(said.daemon.api(), bytes).await;
    let etag = etag.header("etag").unwrap().to_owned();
    said.say_with(Some(&cli), "GET", &preview, None, &[("If-None-Match", &etag)]).await;
    insta::assert_snapshot!(said.finish().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_says_where_to_look() {
    let mut said = Transcript::start().await;
    let cli = said.daemon.person();
    said.say(Some(&cli), "GET", "/api/helth", None).await;
    said.say(Some(&cli), "PATCH", "/api/projects", None).await;
    said.say(Some(&cli), "GET", "/api/projects?limit=3", None).await;
    said.say(Some(&cli), "GET", "/api/projects/..%2f..", None).await;
    said.say(Some(&cli), "GET", "/api/live-artifacts/la-none-000000000000", None).await;
    said.say(Some(&cli), "POST", "/api/projects", Some(json!({ "nmae": "x" }))).await;
    said.say(Some(&cli), "POST", "/api/projects", Some(json!([]))).await;
    said.say(Some(&cli), "POST", "/api/live-artifacts", Some(create_body("x"))).await;
    insta::assert_snapshot!(said.finish().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_comes_compressed_to_who_accepts_that_and_nothing_else_does() {
    let daemon = TestDaemon::start().await;
    let ask = async |target: &str, headers: &[(&str, &str)]| {
        let bytes = request(daemon.api(), Some(&daemon.person()), "GET", target, None, headers);
        daemon.send(daemon.api(), bytes).await
    };
    let accepting = ("Accept-Encoding", "gzip, deflate, br");
    let (plain, zipped) = (ask("/", &[]).await, ask("/", &[accepting]).await);
    for (answer, coding) in [(&plain, None), (&zipped, Some("gzip"))] {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-encoding"), coding);
        assert_eq!(answer.header("vary"), Some("accept-encoding"));
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    }
    assert!(zipped.body.len() < plain.body.len());
    let etag = zipped.header("etag").unwrap();
    assert_eq!(ask("/", &[accepting, ("If-None-Match", etag)]).await.status, 304);
    assert_eq!(ask("/", &[("If-None-Match", etag)]).await.status, 200);
    let projects = ask("/api/projects", &[accepting]).await;
    assert_eq!((projects.status, projects.header("content-encoding")), (200, None));
    daemon.stop().await;
}
