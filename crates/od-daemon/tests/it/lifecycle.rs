//! One daemon per data directory, honest starts, clean stops.

use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use od_daemon::{
    Announcement, ClaimError, ListenError, Port, ServeConfig, StartError, Stopped, serve,
};
use serde_json::json;

use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, config, request};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_is_told_where_the_first_one_is() {
    let daemon = TestDaemon::start().await;
    let error = serve(config(daemon.dirs.path())).await.unwrap_err();
    let StartError::Claim(ClaimError::Running { running }) = error else { panic!("{error}") };
    assert_eq!(running.url, daemon.running.url());
    assert_eq!(running.pid, std::process::id());
    let (dirs, url) = (Arc::clone(&daemon.dirs), daemon.running.url().to_owned());
    daemon.stop().await;
    assert_eq!(Announcement::read(&dirs.path().join("data")), None);
    let next = TestDaemon::start_in(dirs).await;
    assert_ne!(next.running.url(), url);
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_of_another_version_is_named() {
    let daemon = TestDaemon::start().await;
    let path = daemon.dirs.path().join("data/daemon.json");
    let mut announced: Announcement =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    announced.version = "0.0.9".to_owned();
    std::fs::write(&path, serde_json::to_vec(&announced).unwrap()).unwrap();
    let error = serve(config(daemon.dirs.path())).await.unwrap_err();
    assert!(matches!(&error, StartError::Claim(ClaimError::OtherVersion { .. })), "{error}");
    assert!(error.to_string().contains("0.0.9"), "{error}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_port_is_the_cause_and_leaves_no_daemon_behind() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let dirs = tempfile::tempdir().unwrap();
    let start = ServeConfig { port: Port::Fixed(port), ..config(dirs.path()) };
    let error = serve(start).await.unwrap_err();
    assert!(matches!(&error, StartError::Listen(ListenError::PortTaken { port: p }) if *p == port));
    TestDaemon::start_in(Arc::new(dirs)).await.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_keyring_is_an_error_at_start() {
    for damage in ["", "{}", "not json", r#"{"schemaVersion":9,"current":"00"}"#] {
        let dirs = tempfile::tempdir().unwrap();
        let keys = dirs.path().join("home/keys");
        std::fs::create_dir_all(&keys).unwrap();
        std::fs::write(keys.join("keyring.json"), damage).unwrap();
        let error = serve(config(dirs.path())).await.unwrap_err();
        assert!(matches!(&error, StartError::Compose(_)), "{damage}: {error}");
        assert!(error.to_string().contains("keyring"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_nobody_explains_is_named() {
    let dirs = tempfile::tempdir().unwrap();
    let data = dirs.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let foreign = options.open(data.join("daemon.lock")).unwrap();
    foreign.lock().unwrap();
    let error = serve(config(dirs.path())).await.unwrap_err();
    assert!(matches!(&error, StartError::Claim(ClaimError::ForeignLock { .. })), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_with_a_stream_and_idle_connections_open_is_quick_and_clean() {
    let daemon = TestDaemon::start().await;
    let (_, _, token) = daemon.run().await;
    let address = daemon.api();
    let follow = request(address, Some(&daemon.person()), "GET", "/api/events", None, &[]);
    let mut following = tokio::task::spawn_blocking(move || {
        let mut client = RawClient::connect(address);
        client.send(&follow).unwrap();
        client.read_until(b"event: ready");
        client
    })
    .await
    .unwrap();
    let _idle = RawClient::connect(address);
    let artifact = daemon.create(&token, "Kept").await;
    let dirs = Arc::clone(&daemon.dirs);
    assert_eq!(daemon.stop().await, Stopped::Complete);
    let rest = tokio::task::spawn_blocking(move || following.read_to_end()).await.unwrap();
    let text = String::from_utf8(rest).unwrap();
    assert!(text.contains(&artifact), "the event came before the end: {text}");
    assert!(text.ends_with("0\r\n\r\n"), "the stream ended properly: {text}");
    let next = TestDaemon::start_in(dirs).await;
    let shown = next.ok("GET", &format!("/api/live-artifacts/{artifact}"), None).await;
    assert_eq!(shown["artifact"]["title"], "Kept");
    // The run is durable: its token is still good.
    let list = next.call(Some(&token), "GET", "/api/tools/live-artifacts/list", None).await;
    assert_eq!(list.status, 200, "{}", list.text());
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_does_not_cut_a_change_in_two() {
    let daemon = TestDaemon::start().await;
    let (project, _, token) = daemon.run().await;
    let address = daemon.api();
    for n in 0..20 {
        let body = crate::test_daemon::create_body(&format!("Gone {n}"));
        let bytes = request(
            address,
            Some(&token),
            "POST",
            "/api/tools/live-artifacts/create",
            Some(&body),
            &[],
        );
        tokio::task::spawn_blocking(move || {
            let mut client = RawClient::connect(address);
            client.send(&bytes).unwrap();
        })
        .await
        .unwrap();
    }
    let dirs = Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let next = TestDaemon::start_in(dirs).await;
    let list = next.ok("GET", &format!("/api/live-artifacts?projectId={project}"), None).await;
    for artifact in list["artifacts"].as_array().unwrap() {
        assert_eq!(artifact["health"], json!({ "state": "healthy" }), "{artifact}");
    }
    next.stop().await;
}
