//! A daemon that is killed leaves the last good state, and every refresh one ending.

use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::daemon::{Daemon, Place, file_source, releases};
use crate::http;
use crate::source_server::SourceServer;

const NOBODY: &str = "http://127.0.0.1:9";

#[test]
fn killed_in_the_middle_of_a_refresh_everything_is_as_it_was() {
    let (arrived, arrivals) = mpsc::channel();
    // The first call is never answered; those after it are.
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let server = SourceServer::start(move |_, mut stream| {
        let first = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        arrived.send(()).unwrap();
        if first {
            let _ = stream.read(&mut [0]);
        }
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n[]");
    });
    let place = Place::new();
    place.init();
    let first = Daemon::start(&place, &server.url());
    let artifact = first.create(&releases("hello"));
    first.stop();
    let daemon = Daemon::start(&place, &server.url());
    let (files, served) = (place.generation(&artifact), daemon.served(&artifact));

    let waiting = daemon.send("POST", &format!("/api/live-artifacts/{artifact}/refresh"), None);
    arrivals.recv().unwrap();
    daemon.kill();
    assert!(http::read(waiting).is_none(), "nobody was told that it succeeded");

    let next = Daemon::start(&place, &server.url());
    assert_eq!(next.served(&artifact), served);
    assert_eq!(place.generation(&artifact), files, "byte for byte");
    assert_eq!(next.endings(&artifact), [(1, "abandoned".to_owned())]);
    let refreshed = next.refresh(&artifact);
    assert_eq!(refreshed.status, 200, "{}", refreshed.text());
    assert_eq!(refreshed.json()["refresh"]["id"], "refresh-000002");
    let endings = next.endings(&artifact);
    assert_eq!(endings, [(1, "abandoned".to_owned()), (2, "succeeded".to_owned())]);
    next.stop();
}

#[test]
fn killed_at_any_moment_of_many_refreshes_no_answer_was_a_lie() {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "title": "t0" }"#);
    let daemon = Daemon::start(&place, NOBODY);
    let artifact = daemon.create(&file_source("in.json"));
    daemon.stop();
    let mut acknowledged = 0_u64;
    for round in 0..12_u64 {
        let daemon = Daemon::start(&place, NOBODY);
        let mut events = daemon.send("GET", "/api/events", None);
        events.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        // Each round lets a different number of bytes of its events pass before the kill.
        let mut seen = vec![0; 350 + usize::try_from(round).unwrap() * 90];
        place.write("in.json", &json!({ "title": format!("t{round}") }).to_string());
        let waiting = daemon.send("POST", &format!("/api/live-artifacts/{artifact}/refresh"), None);
        let _ = events.read_exact(&mut seen);
        daemon.kill();
        if let Some(answer) = http::read(waiting).filter(|answer| answer.status == 200) {
            let id = answer.json()["refresh"]["id"].as_str().unwrap().to_owned();
            acknowledged = id.trim_start_matches("refresh-").parse().unwrap();
        }
    }
    let daemon = Daemon::start(&place, NOBODY);
    let (_, document, revision) = daemon.served(&artifact);
    let endings = daemon.endings(&artifact);
    let ids: Vec<u64> = endings.iter().map(|(id, _)| *id).collect();
    let expected: Vec<u64> = (1..=ids.len() as u64).collect();
    assert_eq!(ids, expected, "every refresh ended exactly once, and no id was used twice");
    let committed = endings.iter().filter(|(_, status)| status == "succeeded").count() as u64;
    println!("{} refreshes begun, {committed} succeeded, {document}", ids.len());
    assert!(revision.as_u64().unwrap() <= committed + 1);
    let of = |id: u64| endings.iter().any(|(found, status)| *found == id && status == "succeeded");
    assert!(acknowledged == 0 || of(acknowledged), "an acknowledged refresh is gone");
    daemon.stop();
}
