//! A token is for one daemon: one keyring signs for every data directory of a person's.

use std::sync::Arc;

use od_daemon::{Announcement, ServeConfig, serve};
use serde_json::json;

use crate::test_daemon::{TestDaemon, config};

/// Exchanges a code for the console's bearer.
async fn console(daemon: &TestDaemon) -> String {
    let url = daemon.running.console_url_with_code().unwrap();
    let code = url.rsplit('=').next().unwrap();
    let body = json!({ "code": code });
    let answer = daemon.call(None, "POST", "/api/session", Some(&body)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["token"].as_str().unwrap().to_owned()
}

async fn status(daemon: &TestDaemon, bearer: &str) -> u16 {
    daemon.call(Some(bearer), "GET", "/api/projects", None).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_to_the_daemon_of_one_data_directory_opens_nothing_at_another() {
    let one = TestDaemon::start().await;
    let dirs = Arc::new(tempfile::tempdir().unwrap());
    let other = ServeConfig { home: one.dirs.path().join("home"), ..config(dirs.path()) };
    let other = TestDaemon { running: serve(other).await.unwrap(), dirs };
    for bearer in [one.person(), console(&one).await] {
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
async fn a_restart_ends_the_terminals_tokens_and_not_the_consoles() {
    let daemon = TestDaemon::start().await;
    let (terminal, console) = (daemon.person(), console(&daemon).await);
    let data = daemon.dirs.path().join("data");
    let (_, audience) = Announcement::of_living_with_audience(&data).unwrap();
    assert_eq!(audience.as_ref(), Some(daemon.running.audience()));
    let dirs = Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let next = TestDaemon::start_in(dirs).await;
    assert_eq!(status(&next, &terminal).await, 401);
    assert_eq!(status(&next, &console).await, 200);
    assert_eq!(status(&next, &next.person()).await, 200);
    next.stop().await;
}
