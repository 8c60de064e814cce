//! The daemon's clock and its watch of files, through its sockets, on a clock that the test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_app::Caller;
use od_app::projects::{CreateProject, create};
use od_core::ids::Timestamp;
use od_daemon::{ComposeOptions, ServeConfig, serve};
use od_ports::system::Clock;
use serde_json::{Value, json};

use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, config};

/// A clock whose time the test sets; waiting takes the time it takes.
#[derive(Debug)]
pub(crate) struct SetClock(AtomicI64);

impl SetClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(1_777_507_200_000)))
    }

    pub(crate) fn advance_minutes(&self, minutes: i64) {
        self.0.fetch_add(minutes * 60_000, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A daemon with a project over one file, and its clock.
async fn start() -> (TestDaemon, Arc<SetClock>) {
    let dirs = Arc::new(tempfile::tempdir().unwrap());
    let clock = SetClock::new();
    let options = ComposeOptions {
        clock: Some(clock.clone() as Arc<dyn Clock>),
        ..ComposeOptions::default()
    };
    let config = ServeConfig { options, ..config(dirs.path()) };
    let daemon = TestDaemon { running: serve(config).await.unwrap(), dirs };
    let root = daemon.dirs.path().join("files");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("n.json"), r#"{"n":1}"#).unwrap();
    let id = Some("web".parse().unwrap());
    let project = CreateProject { id, name: "Web".to_owned(), root: Some(root) };
    create(daemon.running.app(), &Caller::Person, project).await.unwrap();
    (daemon, clock)
}

async fn artifact(daemon: &TestDaemon, title: &str) -> String {
    let body = json!({
        "input": { "title": title, "document": {
            "dataJson": { "n": 0 },
            "sourceJson": { "type": "local_file", "input": { "path": "n.json" } },
            "refresh": { "every": "15m" },
        } },
        "templateHtml": "<!doctype html><title>n</title><p>{{data.n}}</p>",
    });
    let made = daemon.ok("POST", "/api/live-artifacts?projectId=web", Some(body)).await;
    let codes: Vec<&str> = made["warnings"]
        .as_array()
        .map(|all| all.iter().filter_map(|issue| issue["code"].as_str()).collect())
        .unwrap_or_default();
    assert!(codes.contains(&"schedule_proposed"), "{made}");
    made["artifact"]["id"].as_str().unwrap().to_owned()
}

async fn schedule(daemon: &TestDaemon, artifact: &str, body: Value) -> Value {
    let target = format!("/api/live-artifacts/{artifact}/schedule");
    daemon.ok("POST", &target, Some(body)).await
}

async fn until(mut client: RawClient, text: &str) -> (String, RawClient) {
    let wanted = text.to_owned();
    tokio::task::spawn_blocking(move || (client.read_until(wanted.as_bytes()), client))
        .await
        .unwrap()
}

async fn follow(daemon: &TestDaemon) -> RawClient {
    let stream = daemon.begin("GET", "/api/events", &[]).await;
    until(stream, "event: ready").await.1
}

async fn starts(daemon: &TestDaemon, artifact: &str) -> Vec<Value> {
    let history =
        daemon.ok("GET", &format!("/api/live-artifacts/{artifact}/refreshes"), None).await;
    let records = history["refreshes"].as_array().unwrap().clone();
    records.into_iter().filter(|record| record["step"] == "refresh:start").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_runs_a_slot_that_came_and_says_when_the_next_one_does() {
    let (daemon, clock) = start().await;
    let (one, other) = (artifact(&daemon, "One").await, artifact(&daemon, "Other").await);
    let before = schedule(&daemon, &one, json!({ "on": true })).await;
    assert_eq!(before["artifact"]["schedule"]["state"], "active");
    assert_eq!(before["nextRuns"].as_array().map(Vec::len), Some(5));
    assert_eq!(before["nextRuns"][0], "2026-04-30T00:15:00.000Z");
    clock.advance_minutes(16);
    let stream = follow(&daemon).await;
    // The clock was set: the next look finds out, and a change of a schedule is followed by one.
    schedule(&daemon, &other, json!({ "refresh": { "every": "2h" } })).await;
    let (text, _stream) = until(stream, r#""phase":"succeeded""#).await;
    assert!(text.contains(&one), "{text}");
    let starts = starts(&daemon, &one).await;
    assert_eq!(starts.len(), 1, "{starts:?}");
    assert_eq!(starts[0]["trigger"], "schedule");
    assert_eq!(starts[0]["slot"], "2026-04-30T00:15:00.000Z");
    let shown = daemon.ok("GET", &format!("/api/live-artifacts/{one}"), None).await;
    assert_eq!(shown["artifact"]["document"]["dataJson"]["n"], 1);
    assert_eq!(shown["nextDue"], "2026-04-30T00:30:00.000Z");
    let timeline = daemon.ok("GET", &format!("/api/live-artifacts/{one}/revisions"), None).await;
    let newest = &timeline["revisions"][0];
    assert_eq!((&newest["actor"]["kind"], &newest["door"]), (&json!("schedule"), &json!("clock")));
    clock.advance_minutes(60 * 48);
    let listed = daemon.ok("GET", "/api/live-artifacts?projectId=web", None).await;
    let line = listed["artifacts"].as_array().unwrap().iter().find(|line| line["id"] == one);
    let line = line.unwrap();
    assert_eq!((&line["freshness"], &line["staleReason"]), (&json!("stale"), &json!("overdue")));
    schedule(&daemon, &one, json!({ "on": false })).await;
    daemon.stop().await;
}

/// Writes the watched file, with the time that a clock says.
fn write_at(daemon: &TestDaemon, n: u32, at_ms: i64) {
    let path = daemon.dirs.path().join("files/n.json");
    std::fs::write(&path, format!("{{\"n\":{n}}}")).unwrap();
    let at = std::time::UNIX_EPOCH + Duration::from_millis(u64::try_from(at_ms).unwrap());
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(at).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_is_followed_by_one_refresh_also_if_nobody_watched_yet() {
    let (daemon, clock) = start().await;
    let id = artifact(&daemon, "Watched").await;
    let stream = follow(&daemon).await;
    // Written after the switch and before the look that begins to watch, as far as its time says.
    write_at(&daemon, 2, clock.now().unix_ms() + 1);
    schedule(&daemon, &id, json!({ "refresh": { "onChange": true } })).await;
    let (text, stream) = until(stream, r#""phase":"succeeded""#).await;
    assert!(text.contains(&id), "{text}");
    // That refresh was the watch's own, so the next change is one that it sees happen.
    write_at(&daemon, 3, clock.now().unix_ms());
    let (text, _stream) = until(stream, r#""phase":"succeeded""#).await;
    assert!(text.contains(&id), "{text}");
    let starts = starts(&daemon, &id).await;
    assert_eq!(starts.len(), 2, "{starts:?}");
    assert!(starts.iter().all(|start| start["trigger"] == "change"), "{starts:?}");
    let shown = daemon.ok("GET", &format!("/api/live-artifacts/{id}"), None).await;
    assert_eq!(shown["artifact"]["document"]["dataJson"]["n"], 3);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_token_reaches_no_schedule_and_a_bad_one_is_refused_with_its_fix() {
    let (daemon, _clock) = start().await;
    let id = artifact(&daemon, "Refused").await;
    let (_, _, token) = daemon.run().await;
    let target = format!("/api/live-artifacts/{id}/schedule");
    let refused = daemon.call(Some(&token), "POST", &target, Some(&json!({ "on": true }))).await;
    assert_eq!(refused.status, 401, "{}", refused.text());
    let bad = json!({ "refresh": { "cron": "0 9 * *" } });
    let refused = daemon.call(Some(&daemon.person()), "POST", &target, Some(&bad)).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let issue = &refused.json()["error"]["details"]["issues"][0];
    assert_eq!((&issue["path"], &issue["fix"]), (&json!("/refresh/cron"), &json!("0 9 * * *")));
    let plan = format!("{target}?dryRun=true");
    daemon.ok("POST", &plan, Some(json!({ "refresh": { "every": "1h" } }))).await;
    let shown = daemon.ok("GET", &format!("/api/live-artifacts/{id}"), None).await;
    assert_eq!(shown["schedule"]["state"], "proposed", "a dry run changes nothing");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_stops_holding_is_told_once_and_kept_in_the_history() {
    let (daemon, _clock) = start().await;
    let id = artifact(&daemon, "Checked").await;
    let target = format!("/api/live-artifacts/{id}");
    let checks = json!([{ "id": "small", "path": "n", "op": "lt", "value": 5,
        "severity": "critical", "message": "n grew" }]);
    let body = json!({ "input": { "document": { "checks": checks, "sourceJson": {
        "type": "local_file", "input": { "path": "n.json" },
        "refreshPermission": "manual_refresh_granted_for_read_only" } } } });
    let changed = daemon.ok("PATCH", &target, Some(body)).await;
    assert_eq!(changed["artifact"]["checkResults"][0]["state"], "passing", "{changed}");
    let stream = follow(&daemon).await;
    let file = daemon.dirs.path().join("files/n.json");
    for n in [9, 10] {
        std::fs::write(&file, format!("{{\"n\":{n}}}")).unwrap();
        daemon.ok("POST", &format!("{target}/refresh"), Some(json!({}))).await;
    }
    std::fs::write(&file, "{}").unwrap();
    let body = json!({ "input": { "document": { "sourceJson": null, "dataJson": { "m": 1 } } },
        "templateHtml": "<!doctype html><title>n</title><p>{{data.m}}</p>" });
    daemon.ok("PATCH", &target, Some(body)).await;
    let (text, _stream) = until(stream, r#""state":"unknown""#).await;
    assert_eq!(text.matches("event: live_artifact_check").count(), 2, "once a change: {text}");
    assert!(text.contains(r#""state":"failing""#) && text.contains("n grew"), "{text}");
    let listed = daemon.ok("GET", "/api/live-artifacts?projectId=web", None).await;
    let counted = &listed["artifacts"][0]["checks"];
    assert_eq!((&counted["unknown"], &counted["worst"]["id"]), (&json!(1), &json!("small")));
    let timeline = daemon.ok("GET", &format!("{target}/revisions"), None).await;
    let news: Vec<&Value> = timeline["revisions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line.get("checks"))
        .collect();
    assert_eq!(news.len(), 2, "{timeline}");
    assert_eq!(
        news[1][0],
        json!({ "id": "small", "from": "passing", "to": "failing", "found": "9" })
    );
    daemon.stop().await;
}
