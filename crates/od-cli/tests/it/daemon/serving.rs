//! `od serve`: a second start, and a start that cannot be.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt};
use std::process::{Child, Stdio};

use serde_json::json;

use crate::bench::{Bench, exit_code, refusal};

/// Starts a daemon in the foreground; returns it and the first line that it said.
fn serve(bench: &Bench, arguments: &[&str]) -> (Child, String) {
    let mut words = vec!["serve", "--port", "0"];
    words.extend(arguments);
    let mut child =
        bench.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

fn end(child: Child) -> Option<i32> {
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    exit_code(child)
}

#[test]
fn a_second_start_prints_where_the_first_one_is_and_ends_well() {
    let bench = Bench::with_project();
    let (first, line) = serve(&bench, &["--no-code"]);
    let (url, _) = bench.daemon().unwrap();
    assert_eq!(line, format!("od serves {url}\n"));
    let second = bench.od(&["serve"]);
    assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
    assert!(String::from_utf8_lossy(&second.stdout).contains(&url));
    let json = bench.json(&["serve"]);
    assert_eq!((&json["url"], &json["running"]), (&json!(url), &json!(true)));
    assert_eq!(end(first), Some(0), "a signal ends it in order");
    assert_eq!(bench.daemon(), None, "its announcement is withdrawn");
}

#[test]
fn the_console_is_named_with_its_one_time_code() {
    let bench = Bench::with_project();
    let words = ["serve", "--port", "0", "--json"];
    let mut child =
        bench.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let lines = serde_json::Deserializer::from_reader(stdout).into_iter::<serde_json::Value>();
    let said = lines.take(1).next().unwrap().unwrap();
    assert!(said["consoleUrl"].as_str().unwrap().contains("code="), "{said}");
    assert_eq!(end(child), Some(0));
}

/// Holds the data directory's lock, as a daemon would.
pub(crate) fn hold_lock(bench: &Bench) -> std::fs::File {
    let path = bench.data().join("daemon.lock");
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    let lock = options.open(path).unwrap();
    lock.lock().unwrap();
    lock
}

#[track_caller]
fn refused(bench: &Bench, arguments: &[&str], cause: &str, fix: &str) {
    let mut words = vec!["serve", "--json"];
    words.extend(arguments);
    let output = bench.od(&words);
    let said = refusal(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let text = |field: &str| said["error"][field].as_str().unwrap().to_owned();
    assert!(text("message").contains(cause), "{said}");
    assert!(text("suggestion").contains(fix), "{said}");
}

#[test]
fn a_daemon_of_another_version_is_named_and_ends_the_start_with_2() {
    let bench = Bench::with_project();
    let _lock = hold_lock(&bench);
    let other = json!({ "url": "http://127.0.0.1:1", "previewUrl": "http://127.0.0.1:2", "pid": 4_000_000_000_u32, "version": "9.9.9" });
    std::fs::write(bench.data().join("daemon.json"), other.to_string()).unwrap();
    refused(&bench, &[], "a daemon of version 9.9.9 (process 4000000000)", "kill 4000000000");
    std::fs::remove_file(bench.data().join("daemon.json")).unwrap();
}

#[test]
fn a_lock_that_nobody_explains_ends_the_start_with_2() {
    let bench = Bench::with_project();
    let _lock = hold_lock(&bench);
    refused(&bench, &[], "is held by a process that has not announced itself", "fuser");
}

#[test]
fn a_taken_port_ends_the_start_with_2() {
    let bench = Bench::with_project();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    refused(&bench, &["--port", &port], &port, "--port 0");
}

#[test]
fn a_keyring_that_others_can_read_ends_the_start_with_2() {
    let bench = Bench::with_project();
    let keyring = bench.root().join("home/keys/keyring.json");
    std::fs::set_permissions(&keyring, std::fs::Permissions::from_mode(0o644)).unwrap();
    refused(&bench, &[], "keyring", "chmod 600 ");
    std::fs::write(&keyring, "{").unwrap();
    std::fs::set_permissions(&keyring, std::fs::Permissions::from_mode(0o600)).unwrap();
    refused(&bench, &[], "keyring", "move ");
}

#[test]
fn a_daemon_in_the_background_logs_into_a_bounded_file() {
    let bench = Bench::with_project();
    let log = bench.data().join("daemon.log");
    // Longer than one file may be.
    std::fs::write(&log, "x".repeat(5 * 1024 * 1024)).unwrap();
    let run = bench.hold_run();
    let listed = bench.as_agent(&run, &["tools", "live-artifacts", "list"]);
    assert!(listed.status.success());
    let token = run.token.clone();
    run.end();
    bench.end_daemon();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.len() < 100_000, "{} bytes", text.len());
    assert!(text.contains("/api/tools/live-artifacts/list"), "{text}");
    assert!(!text.contains(&token));
    assert!(std::fs::metadata(bench.data().join("daemon.log.1")).unwrap().len() >= 5 * 1024 * 1024);
}
