//! Malformed and hostile requests: a 4xx or a close, never a 500, never a hang, one framing.

use std::sync::Arc;

use od_daemon::{ServeConfig, serve};

use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, config};

/// What has to come of a case.
enum Outcome {
    /// This status, and the connection closed behind it.
    Refused(&'static [u16]),
    /// This status; the connection may go on.
    Answered(u16),
}

use Outcome::{Answered, Refused};

#[rustfmt::skip]
#[expect(clippy::too_many_lines, reason = "a table")]
fn cases(host: &str) -> Vec<(&'static str, Vec<u8>, Outcome)> {
    let ok = format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let post =
        format!("POST /api/session HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    let text = |text: String| text.into_bytes();
    vec![
        ("a plain request", text(ok.clone()), Answered(200)),
        (
            "line feeds without carriage returns",
            text(format!("GET /api/health HTTP/1.1\nHost: {host}\n\n")),
            Refused(&[400]),
        ),
        (
            "one bare line feed among the headers",
            text(format!("GET /api/health HTTP/1.1\r\nHost: {host}\nX: y\r\n\r\n")),
            Refused(&[400]),
        ),
        ("no host", text("GET /api/health HTTP/1.1\r\n\r\n".to_owned()), Answered(400)),
        (
            "two hosts",
            text(format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n")),
            Answered(400),
        ),
        (
            "an empty host",
            text("GET /api/health HTTP/1.1\r\nHost:\r\n\r\n".to_owned()),
            Answered(403),
        ),
        (
            "another host",
            text("GET /api/health HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned()),
            Answered(403),
        ),
        (
            "host with userinfo",
            text(format!("GET /api/health HTTP/1.1\r\nHost: a@{host}\r\n\r\n")),
            Answered(403),
        ),
        (
            "host without port",
            text("GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
            Answered(403),
        ),
        (
            "absolute form, same authority",
            text(format!("GET http://{host}/api/health HTTP/1.1\r\nHost: {host}\r\n\r\n")),
            Answered(200),
        ),
        (
            "absolute form, another authority",
            text(format!("GET http://evil.test/api/health HTTP/1.1\r\nHost: {host}\r\n\r\n")),
            Answered(400),
        ),
        (
            "absolute form, another host header",
            text(format!("GET http://{host}/api/health HTTP/1.1\r\nHost: evil.test\r\n\r\n")),
            Answered(400),
        ),
        (
            "authority form",
            text(format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n")),
            Answered(404),
        ),
        (
            "asterisk form",
            text(format!("OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n")),
            Answered(404),
        ),
        (
            "HTTP/1.0",
            text(format!("GET /api/health HTTP/1.0\r\nHost: {host}\r\n\r\n")),
            Refused(&[400]),
        ),
        ("HTTP/0.9", text("GET /api/health\r\n\r\n".to_owned()), Refused(&[400])),
        (
            "HTTP/2 preface",
            text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
            Refused(&[400, 505]),
        ),
        (
            "folded header",
            text(format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\nX-A: b\r\n c\r\n\r\n")),
            Refused(&[400]),
        ),
        (
            "space before colon",
            text(format!("GET /api/health HTTP/1.1\r\nHost : {host}\r\n\r\n")),
            Refused(&[400]),
        ),
        (
            "bare CR in a header",
            text(format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\nX-A: b\rc\r\n\r\n")),
            Refused(&[400]),
        ),
        (
            "NUL in a header",
            text(format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\nX-A: b\0c\r\n\r\n")),
            Refused(&[400]),
        ),
        (
            "TE and CL",
            text(format!(
                "{post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
            )),
            Refused(&[400]),
        ),
        (
            "CL and TE",
            text(format!(
                "{post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
            )),
            Refused(&[400]),
        ),
        (
            "TE alone",
            text(format!("{post}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n")),
            Refused(&[400]),
        ),
        (
            "TE that is not chunked",
            text(format!("{post}Transfer-Encoding: gzip\r\n\r\nxx")),
            Refused(&[400]),
        ),
        (
            "bad chunks",
            text(format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n")),
            Refused(&[400]),
        ),
        (
            "two lengths",
            text(format!("{post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}")),
            Refused(&[400]),
        ),
        ("a negative length", text(format!("{post}Content-Length: -1\r\n\r\n")), Refused(&[400])),
        (
            "a length with a sign",
            text(format!("{post}Content-Length: +2\r\n\r\n{{}}")),
            Refused(&[400]),
        ),
        (
            "a length beyond every number",
            text(format!("{post}Content-Length: 99999999999999999999999\r\n\r\n")),
            Refused(&[400, 413]),
        ),
        (
            "a length beyond the limit",
            text(format!("{post}Content-Length: 2097153\r\n\r\n")),
            Refused(&[413]),
        ),
        (
            "1 MB of headers",
            text(format!(
                "GET /api/health HTTP/1.1\r\nHost: {host}\r\nX-A: {}\r\n\r\n",
                "a".repeat(1_000_000)
            )),
            Refused(&[431]),
        ),
        (
            "10,000 headers",
            text(format!(
                "GET /api/health HTTP/1.1\r\nHost: {host}\r\n{}\r\n",
                "A: b\r\n".repeat(10_000)
            )),
            Refused(&[431]),
        ),
        (
            "a path of 1 MB",
            text(format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "a".repeat(1_000_000))),
            Refused(&[414, 431]),
        ),
        ("pipelined garbage", text(format!("{ok}\0\0\0garbage\r\n\r\n")), Answered(200)),
        ("only garbage", vec![0xff; 4096], Refused(&[400])),
        (
            "a TLS hello",
            vec![0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03],
            Refused(&[400]),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_request_is_a_4xx_or_a_close() {
    let daemon = TestDaemon::start().await;
    for address in [daemon.api(), daemon.preview()] {
        let host = address.to_string();
        for (name, request, outcome) in cases(&host) {
            let is_api = address == daemon.api();
            let (answer, rest) = tokio::task::spawn_blocking(move || {
                let mut client = RawClient::connect(address);
                let answer = client.exchange(&request);
                client.finish_sending();
                (answer, client.read_to_end())
            })
            .await
            .unwrap();
            let status = answer.as_ref().map(|answer| answer.status);
            assert!(status.is_none_or(|s| s < 500), "{name}: {answer:?}");
            assert!(!String::from_utf8_lossy(&rest).contains("HTTP/1.1 5"), "{name}: {rest:?}");
            match outcome {
                Refused(allowed) => {
                    // The preview port refuses other methods before it looks at anything else.
                    let refused = |s| allowed.contains(&s) || (!is_api && s == 403);
                    assert!(status.is_none_or(refused), "{name}: {answer:?}");
                    assert!(rest.is_empty(), "{name}: more than one answer: {rest:?}");
                }
                Answered(expected) if is_api => assert_eq!(status, Some(expected), "{name}"),
                // The preview port has no other route: it must only not be worse.
                Answered(_) => assert!(status.is_some_and(|s| (400..500).contains(&s)), "{name}"),
            }
        }
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_refused_without_being_read() {
    let daemon = TestDaemon::start().await;
    let address = daemon.api();
    let sent = tokio::task::spawn_blocking(move || {
        let mut client = RawClient::connect(address);
        let head = format!(
            "POST /api/session HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 1000000000000\r\n\r\n"
        );
        client.send(head.as_bytes()).unwrap();
        let mut sent = 0_u64;
        let chunk = vec![b' '; 64 * 1024];
        while client.send(&chunk).is_ok() {
            sent += chunk.len() as u64;
            assert!(sent < 1 << 30, "the daemon reads without end");
        }
        sent
    })
    .await
    .unwrap();
    // What fits into the socket buffers of both sides, and not more.
    assert!(sent < 64 << 20, "{sent}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_bodies_lock_nobody_out() {
    let dirs = Arc::new(tempfile::tempdir().unwrap());
    let config = ServeConfig { connections_max: Some(4), ..config(dirs.path()) };
    let daemon = TestDaemon { running: serve(config).await.unwrap(), dirs };
    let address = daemon.api();
    let held = tokio::task::spawn_blocking(move || {
        let head = format!(
            "POST /api/session HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{{"
        );
        let mut held = Vec::new();
        // Each is as good as being answered, as far as its sender can make it so.
        for _ in 0..12 {
            let mut client = RawClient::connect(address);
            client.send(head.as_bytes()).unwrap();
            held.push(client);
            let health = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n\r\n");
            let answer = RawClient::connect(address).exchange(health.as_bytes());
            assert_eq!(answer.expect("a place for the honest").status, 200);
        }
        held
    })
    .await
    .unwrap();
    drop(held);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_long_is_told_its_length() {
    let daemon = TestDaemon::start().await;
    let address = daemon.api();
    let head = format!(
        "POST /api/session HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 1025\r\n\r\n"
    );
    let answer = daemon.send(address, head.into_bytes()).await;
    assert_eq!(answer.status, 413);
    let details = &answer.json()["error"]["details"];
    assert_eq!((&details["measured"], &details["allowed"]), (&1025.into(), &1024.into()));
    assert_eq!(details["limit"], "open_request_body");
    daemon.stop().await;
}
