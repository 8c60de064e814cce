//! Sessions of browsers: what opens one, what ends it, and what is worth nothing.

use std::sync::Arc;

use od_core::console::Nonce;
use serde_json::{Value, json};

use crate::paired_browser::{Met, PairedBrowser};
use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, request};

async fn status(daemon: &TestDaemon, bearer: &str) -> u16 {
    daemon.call(Some(bearer), "GET", "/api/projects", None).await.status
}

async fn ask(daemon: &TestDaemon, body: &Value) -> u16 {
    daemon.call(None, "POST", "/api/session/bearer", Some(body)).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_outlives_the_daemon_and_its_bearers_do_not() {
    let daemon = TestDaemon::start().await;
    let (browser, first) = PairedBrowser::open(&daemon).await;
    assert_eq!(status(&daemon, &first).await, 200);
    let key = Met::at(&daemon).await.daemon;
    let (dirs, port) = (Arc::clone(&daemon.dirs), daemon.api().port());
    daemon.stop().await;
    let daemon = TestDaemon::start_at(dirs, port).await;
    assert_eq!(status(&daemon, &first).await, 401, "whoever had the port has it now");
    assert_eq!(Met::at(&daemon).await.daemon, key, "the browser knows the daemon again");
    let answer = browser.prove(&daemon).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let bearer = answer.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(status(&daemon, &bearer).await, 200);
    daemon.stop().await;
}

/// A browser keeps its key for the pages of one port. Whoever takes that port serves pages there, and they
/// sign what he likes: for the daemon that had to go to another port, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_a_port_that_the_daemon_left_is_worth_nothing() {
    let daemon = TestDaemon::start().await;
    let (browser, _) = PairedBrowser::open(&daemon).await;
    let (dirs, port) = (Arc::clone(&daemon.dirs), daemon.api().port());
    daemon.stop().await;
    let _taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let daemon = TestDaemon::start_in(dirs).await;
    assert_ne!(daemon.api().port(), port);
    let answer = browser.prove(&daemon).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_is_worth_one_bearer_at_one_daemon() {
    let (daemon, other) = (TestDaemon::start().await, TestDaemon::start().await);
    let (browser, _) = PairedBrowser::open(&daemon).await;
    let good = browser.proof(&Met::at(&daemon).await);
    assert_eq!(ask(&daemon, &good).await, 200);
    assert_eq!(ask(&daemon, &good).await, 401, "a challenge is answered once");

    // Whoever relays between a page at his own port and the daemon has the page sign his port.
    let mut met = Met::at(&daemon).await;
    met.address = other.api().to_string();
    assert_eq!(ask(&daemon, &browser.proof(&met)).await, 401);
    // A key that the page was made to believe is the daemon's.
    let mut met = Met::at(&daemon).await;
    met.daemon = Met::at(&other).await.daemon;
    assert_eq!(ask(&daemon, &browser.proof(&met)).await, 401);
    // A challenge that the daemon never made.
    let mut met = Met::at(&daemon).await;
    met.challenge = Nonce::generate([9; 16]);
    assert_eq!(ask(&daemon, &browser.proof(&met)).await, 401);
    // Another page's nonce than the signed one.
    let mut body = browser.proof(&Met::at(&daemon).await);
    body["nonce"] = json!(Nonce::generate([8; 16]));
    assert_eq!(ask(&daemon, &body).await, 401);
    // Another browser's key.
    let mut thief = PairedBrowser::unknown();
    thief.session.clone_from(&browser.session);
    assert_eq!(ask(&daemon, &thief.proof(&Met::at(&daemon).await)).await, 401);
    // The daemon of another home does not know the session.
    assert_eq!(ask(&other, &browser.proof(&Met::at(&other).await)).await, 401);
    daemon.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_registers_the_key_that_it_was_shown_with_and_no_other() {
    let daemon = TestDaemon::start().await;
    let url = daemon.running.console_url_with_code().unwrap();
    let (_, code) = url.split_once("#code=").unwrap();
    let (code, fingerprint) = code.split_once("&daemon=").unwrap();
    let met = Met::at(&daemon).await;
    assert_eq!(fingerprint, met.daemon.fingerprint(), "the link names the daemon's key");
    let (browser, thief) = (PairedBrowser::unknown(), PairedBrowser::unknown());
    let mut body = browser.registration(&met, code);
    body["publicKey"] = json!(thief.public_key());
    let answer = daemon.call(None, "POST", "/api/session", Some(&body)).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
    let listed = daemon.ok("GET", "/api/sessions", None).await;
    assert_eq!(listed, json!({ "sessions": [] }));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_ends_a_sessions_bearers_and_streams_at_once_and_no_other() {
    let daemon = TestDaemon::start().await;
    let (gone, gone_bearer) = PairedBrowser::open(&daemon).await;
    let (_, kept_bearer) = PairedBrowser::open(&daemon).await;
    let address = daemon.api();
    let close = [("Connection", "close")];
    let follow = request(address, Some(&gone_bearer), "GET", "/api/events", None, &close);
    let stream = tokio::task::spawn_blocking(move || {
        let mut client = RawClient::connect(address);
        client.send(&follow).unwrap();
        String::from_utf8(client.read_to_end()).unwrap()
    });
    while daemon.running.load().1 == 0 {
        tokio::task::yield_now().await;
    }
    let path = format!("/api/sessions/{}", gone.session);
    let dry = daemon.ok("DELETE", &format!("{path}?dryRun=true"), None).await;
    assert_eq!(dry["revoked"][0]["id"], json!(gone.session));
    assert_eq!(status(&daemon, &gone_bearer).await, 200, "a dry run changes nothing");

    let revoked = daemon.ok("DELETE", &path, None).await;
    assert_eq!(revoked, dry);
    assert_eq!(status(&daemon, &gone_bearer).await, 401);
    assert_eq!(gone.prove(&daemon).await.status, 401);
    assert!(stream.await.unwrap().ends_with("0\r\n\r\n"), "its stream has ended");
    assert_eq!(status(&daemon, &kept_bearer).await, 200);
    let again = daemon.call(Some(&daemon.person()), "DELETE", &path, Some(&json!({}))).await;
    assert_eq!(again.status, 404);

    let all = daemon.ok("DELETE", "/api/sessions", None).await;
    assert_eq!(all["revoked"].as_array().unwrap().len(), 1);
    assert_eq!(status(&daemon, &kept_bearer).await, 401);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemons_key_is_in_no_answer_and_no_file_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = TestDaemon::start().await;
    let (browser, bearer) = PairedBrowser::open(&daemon).await;
    let keys = daemon.dirs.path().join("home/keys");
    let secret = std::fs::read(keys.join("daemon.key")).unwrap();
    for file in ["daemon.key", "sessions.json"] {
        let mode = std::fs::metadata(keys.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let listed = daemon.call(Some(&bearer), "GET", "/api/sessions", None).await.text();
    assert!(listed.contains(&browser.session), "{listed}");
    let shown = format!("{listed}{}", std::fs::read_to_string(keys.join("sessions.json")).unwrap());
    // The private number stands in the middle of the document; no piece of it may be anywhere.
    use std::fmt::Write as _;
    let hex = secret[36..68].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    });
    assert!(!shown.contains(&hex) && !shown.contains(&bearer), "{shown}");
    assert!(!format!("{:?}", daemon.running).contains(&hex));
    daemon.stop().await;
}
