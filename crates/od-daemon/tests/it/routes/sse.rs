//! Event streams through a real socket.

use std::sync::Arc;

use od_app::Caller;
use od_app::projects::{CreateProject, create};
use od_core::event::ArtifactAction;
use od_core::refresh::Phase;
use od_core::token::{Claims, CliClaims, ConsoleClaims};
use od_wire::event::EventName;
use serde_json::json;

use crate::paired_browser::PairedBrowser;
use crate::published;
use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, create_body, request};

async fn follow(daemon: &TestDaemon, target: &str, after: Option<&str>) -> RawClient {
    let headers: Vec<(&str, &str)> = after.map(|id| ("Last-Event-ID", id)).into_iter().collect();
    daemon.begin("GET", target, &headers).await
}

async fn until(mut client: RawClient, text: &str) -> (String, RawClient) {
    let wanted = text.to_owned();
    tokio::task::spawn_blocking(move || (client.read_until(wanted.as_bytes()), client))
        .await
        .unwrap()
}

fn id_before(text: &str, event: &str) -> String {
    let at = text.find(event).unwrap_or_else(|| panic!("no {event} in {text}"));
    let line = text[..at].lines().rev().find(|line| line.starts_with("id: ")).unwrap();
    line["id: ".len()..].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_sees_its_project_and_resumes_where_it_left() {
    let daemon = TestDaemon::start().await;
    let (project, _, token) = daemon.run().await;
    let (other, _, _) = daemon.run().await;
    assert_ne!(project, other);
    let all = follow(&daemon, "/api/events", None).await;
    let (_, all) = until(all, "event: ready").await;
    let elsewhere = follow(&daemon, &format!("/api/projects/{other}/events"), None).await;
    let (_, elsewhere) = until(elsewhere, "event: ready").await;
    let first = daemon.create(&token, "First").await;
    let (text, all) = until(all, &first).await;
    assert!(text.contains("event: live_artifact"), "{text}");
    assert!(text.contains(r#""action":"created""#), "{text}");
    let id = id_before(&text, "event: live_artifact");
    drop(all);
    let second = daemon.create(&token, "Second").await;
    let again = follow(&daemon, "/api/events", Some(&id)).await;
    let (text, _again) = until(again, &second).await;
    assert!(text.contains(r#"{"resumed":true}"#), "{text}");
    assert!(!text.contains(&first), "only what was missed: {text}");
    // The other project's stream has seen nothing but its beginning.
    let dirs = Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let mut elsewhere = elsewhere;
    let rest = tokio::task::spawn_blocking(move || elsewhere.read_to_end()).await.unwrap();
    let rest = String::from_utf8(rest).unwrap();
    assert!(!rest.contains(&first) && !rest.contains(&second), "{rest}");
    // An id of an earlier daemon means: read everything again.
    let next = TestDaemon::start_in(dirs).await;
    let stream = follow(&next, "/api/events", Some(&id)).await;
    let (text, _) = until(stream, "event: resync").await;
    assert!(text.contains(r#"{"resumed":false}"#), "{text}");
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event_fits_its_published_schema() {
    let daemon = TestDaemon::start().await;
    let root = daemon.dirs.path().join("files");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("n.json"), r#"{"n":1}"#).unwrap();
    let id = Some("web".parse().unwrap());
    let project = CreateProject { id, name: "Web".to_owned(), root: Some(root.clone()) };
    create(daemon.running.app(), &Caller::Person, project).await.unwrap();
    let (_, all) = until(follow(&daemon, "/api/events", Some("1-1")).await, "200 OK").await;
    let mut body = create_body("Page");
    body["input"]["document"]["sourceJson"] = json!({
        "type": "local_file",
        "input": { "path": "n.json" },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    });
    let made = daemon.ok("POST", "/api/live-artifacts?projectId=web", Some(body)).await;
    let artifact = format!("/api/live-artifacts/{}", made["artifact"]["id"].as_str().unwrap());
    let refresh = format!("{artifact}/refresh");
    daemon.ok("POST", &refresh, None).await;
    std::fs::write(root.join("n.json"), "{ broken").unwrap();
    let failed = daemon.call(Some(&daemon.person()), "POST", &refresh, None).await;
    assert_ne!(failed.status, 200);
    daemon.ok("PATCH", &artifact, Some(json!({ "input": { "pinned": true } }))).await;
    daemon.ok("DELETE", &artifact, None).await;
    daemon.ok("POST", &format!("{artifact}/restore"), None).await;
    daemon.stop().await;
    let mut all = all;
    let text = tokio::task::spawn_blocking(move || all.read_to_end()).await.unwrap();
    let events = published::check_events(&String::from_utf8(text).unwrap());
    let seen = |name: EventName, field: &str, word: &str| {
        events.iter().any(|(known, data)| *known == name && data[field] == word)
    };
    assert!(events.iter().any(|(name, _)| *name == EventName::Ready), "{events:?}");
    assert!(events.iter().any(|(name, _)| *name == EventName::Resync), "{events:?}");
    for action in ArtifactAction::ALL {
        assert!(seen(EventName::Artifact, "action", action.as_str()), "{action}: {events:?}");
    }
    for phase in Phase::ALL {
        assert!(seen(EventName::Refresh, "phase", phase.as_str()), "{phase}: {events:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_who_stops_reading_delays_nobody() {
    let daemon = TestDaemon::start().await;
    let (project, _, token) = daemon.run().await;
    let slow = follow(&daemon, "/api/events", None).await;
    let fast = follow(&daemon, "/api/events", None).await;
    let (_, mut fast) = until(fast, "event: ready").await;
    let artifact = daemon.create(&token, "Busy").await;
    for n in 0..50 {
        let body = json!({ "input": { "title": format!("Busy {n}") } });
        daemon
            .ok("PATCH", &format!("/api/live-artifacts/{artifact}?projectId={project}"), Some(body))
            .await;
        let wanted = format!(r#""title":"Busy {n}""#);
        (_, fast) = until(fast, &wanted).await;
    }
    drop((slow, fast));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_leave_nothing_behind() {
    let daemon = TestDaemon::start().await;
    for _ in 0..200 {
        let stream = follow(&daemon, "/api/events", None).await;
        let (_, stream) = until(stream, "event: ready").await;
        drop(stream);
    }
    // The last few are noticed when their sockets report the end; each look gives them a turn.
    let mut looks = 0;
    while daemon.running.load() != (0, 0) {
        tokio::task::yield_now().await;
        looks += 1;
        assert!(looks < 10_000_000, "{:?} still there", daemon.running.load());
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_bearer_it_was_opened_with() {
    let daemon = TestDaemon::start().await;
    let (browser, _) = PairedBrowser::open(&daemon).await;
    let ports = &daemon.running.app().ports;
    let issued_at = ports.clock.now();
    let expires_at = issued_at.plus_ms(1_500);
    let token_id: od_core::ids::TokenId = "short-lived".parse().unwrap();
    let terminal = daemon.running.audience().clone();
    let bearers = [
        Claims::Cli(CliClaims {
            token_id: token_id.clone(),
            audience: terminal.clone(),
            issued_at,
            expires_at,
        }),
        Claims::Console(ConsoleClaims {
            token_id,
            session_id: browser.session.parse().unwrap(),
            audience: terminal,
            issued_at,
            expires_at,
        }),
    ];
    let address = daemon.api();
    let streams = bearers.map(|claims| {
        let bearer = ports.tokens.sign(&claims).unwrap();
        let close = [("Connection", "close")];
        let bytes = request(address, Some(&bearer), "GET", "/api/events", None, &close);
        tokio::task::spawn_blocking(move || {
            let mut client = RawClient::connect(address);
            client.send(&bytes).unwrap();
            String::from_utf8(client.read_to_end()).unwrap()
        })
    });
    for stream in streams {
        let text = stream.await.unwrap();
        assert!(text.contains("event: ready"), "it was opened: {text}");
        assert!(text.ends_with("0\r\n\r\n"), "it ends properly, by itself: {text}");
    }
    assert!(ports.clock.now() >= expires_at, "not before its time");
    daemon.stop().await;
}
