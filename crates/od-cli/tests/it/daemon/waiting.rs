//! Whoever waits longer than half a second is told what for.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

use crate::bench::Bench;

/// An artifact over a provider that answers when the test says so.
const SLOW: &str = r#"{ "title": "Slow", "document": { "format": "html_template_v1", "dataJson": { "items": [] }, "sourceJson": { "type": "connector_tool", "toolName": "github.list_releases", "input": { "owner": "a", "repo": "b" }, "connector": { "connectorId": "github", "toolName": "github.list_releases" }, "refreshPermission": "manual_refresh_granted_for_read_only" } } }"#;

/// Reads until the words have come.
fn read_until(reader: &mut impl Read, words: &str) -> String {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&seen).contains(words) {
        assert_eq!(reader.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn a_slow_refresh_says_so_on_stderr_and_leaves_stdout_alone() {
    let bench = Bench::with_project();
    bench.write("artifact.json", SLOW);
    let run = bench.hold_run();
    let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
    let made = bench.as_agent(&run, &create);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    run.end();
    bench.end_daemon();
    let provider = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", provider.local_addr().unwrap());

    let mut plain = bench
        .command(&["artifacts", "refresh", "slow"])
        .env("OD_GITHUB_BASE_URL", &base)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut asked, _) = provider.accept().unwrap();
    read_until(plain.stderr.as_mut().unwrap(), "… refreshing slow\n");
    asked.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]").unwrap();
    drop(asked);
    let output = plain.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with("refreshed Slow"), "{stdout}");

    // At a terminal the line turns.
    let mut watched = bench
        .command_at_terminal(&["artifacts", "refresh", "slow"])
        .env("OD_GITHUB_BASE_URL", &base)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (asked, _) = provider.accept().unwrap();
    read_until(watched.stdout.as_mut().unwrap(), "\r/ refreshing slow ");
    drop(asked);
    watched.wait().unwrap();
}
