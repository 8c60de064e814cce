//! A token is for one daemon: one keyring signs for every data directory of a person's.

use std::sync::Arc;

use od_daemon::{Announcement, ServeConfig, serve};
use serde_json::json;

use crate::paired_browser::PairedBrowser;
use crate::test_daemon::{TestDaemon, config, request};

async fn status(daemon: &TestDaemon, bearer: &str) -> u16 {
    daemon.call(Some(bearer), "GET", "/api/projects", None).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_to_the_daemon_of_one_data_directory_opens_nothing_at_another() {
    let one = TestDaemon::start().await;
    let dirs = Arc::new(tempfile::tempdir().unwrap());
    let other = ServeConfig { home: one.dirs.path().join("home"), ..config(dirs.path()) };
    let other = TestDaemon { running: serve(other).await.unwrap(), dirs };
    for bearer in [one.person(), PairedBrowser::open(&one).await.1] {
        assert_eq!(status(&one, &bearer).await, 200);
        assert_eq!(status(&other, &bearer).await, 401);
        let body = json!({});
        let code = other.call(Some(&bearer), "POST", "/api/session/codes", Some(&body)).await;
        assert!([401, 403, 404].contains(&code.status), "{}", code.status);
    }
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_ends_every_token_of_a_person() {
    let daemon = TestDaemon::start().await;
    let (terminal, console) = (daemon.person(), PairedBrowser::open(&daemon).await.1);
    let data = daemon.dirs.path().join("data");
    let (_, audience) = Announcement::of_living_with_audience(&data).unwrap();
    assert_eq!(audience.as_ref(), Some(daemon.running.audience()));
    let dirs = Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let next = TestDaemon::start_in(dirs).await;
    assert_eq!(status(&next, &terminal).await, 401);
    assert_eq!(status(&next, &console).await, 401);
    assert_eq!(status(&next, &next.person()).await, 200);
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_ends_the_tickets_of_previews() {
    let daemon = TestDaemon::start().await;
    let (_, _, token) = daemon.run().await;
    let artifact = daemon.create(&token, "Shown").await;
    let target = format!("/api/live-artifacts/{artifact}/preview-ticket");
    let ticket = daemon.ok("POST", &target, Some(json!({}))).await;
    let url = ticket["url"].as_str().unwrap().to_owned();
    let path = &url[url.find("/preview/").unwrap()..];
    let navigates = [
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "iframe"),
    ];
    let shown = async |daemon: &TestDaemon| {
        let asked = request(daemon.preview(), None, "GET", path, None, &navigates);
        daemon.send(daemon.preview(), asked).await.status
    };
    assert_eq!(shown(&daemon).await, 200);
    let dirs = Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let next = TestDaemon::start_in(dirs).await;
    assert_eq!(shown(&next).await, 401, "whoever had the port has the ticket");
    next.stop().await;
}
