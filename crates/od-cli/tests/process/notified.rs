//! Changed checks, told to the receiver that the documentation shows and to a desktop's program.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use od_ports::fakes::{CANARY, assert_no_canary, assert_no_canary_below};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Place};

const NOBODY: &str = "http://127.0.0.1:9";
const PAGE: &str = include_str!("../../../../docs/keep-it-fresh.md");

/// The receiver of the documentation, as a process of Node.js.
struct Receiver {
    child: Child,
    said: BufReader<ChildStdout>,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Receiver {
    fn start(secret: &str) -> Self {
        let script =
            PAGE.split("```js\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("receive.mjs"), script).unwrap();
        std::fs::write(dir.path().join("secret.txt"), format!("{secret}\n")).unwrap();
        let mut child = Command::new("node")
            .args(["receive.mjs", "secret.txt", "0"])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("port ").and_then(|port| port.parse().ok());
        Self { child, said, port: port.unwrap_or_else(|| panic!("{line}")), _dir: dir }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/od", self.port)
    }

    /// Waits for the next body that it took for genuine.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Posts a body with a signature of somebody else; returns the status line.
    fn forge(&self, signature: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request = format!(
            "POST /od HTTP/1.1\r\nHost: x\r\nConnection: close\r\nOd-Signature: {signature}\r\n\
             Content-Length: 2\r\n\r\n{{}}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // One that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn od(place: &Place, words: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_od"))
        .args(words)
        .env("OD_HOME", place.home())
        .env("OD_DATA_DIR", place.data())
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn good(place: &Place, words: &[&str], stdin: &str) -> String {
    let output = od(place, words, stdin);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said} {error}");
    said + &error
}

/// An artifact whose check holds while `n` of `in.json` is below 5.
fn checked(daemon: &Daemon) -> String {
    let body = json!({
        "input": { "title": "Release dashboard", "document": {
            "dataJson": { "n": 1, "private": "not for others" },
            "sourceJson": { "type": "local_file", "input": { "path": "in.json" },
                "refreshPermission": "manual_refresh_granted_for_read_only" },
            "checks": [{ "id": "few", "path": "n", "op": "lt", "value": 5, "severity": "critical" }],
        } },
        "templateHtml": "<!doctype html><title>T</title><h1>{{data.n}}</h1>",
    });
    let made = daemon.ok("POST", "/api/live-artifacts?projectId=web", Some(&body));
    assert_eq!(made["artifact"]["checkResults"][0]["state"], "passing", "{made}");
    made["artifact"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_documented_receiver_takes_what_a_daemon_signed_and_nothing_else() {
    let mut receiver = Receiver::start(CANARY);
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "n": 1, "private": "not for others" }"#);
    let url = receiver.url();
    // What lies in a project, a clone or a data directory registers nobody.
    let planted = json!({ "version": 1, "webhooks": [{ "name": "planted", "url": url,
        "reach": "loopback", "registeredAt": "2026-04-30T00:00:00.000Z" }] });
    for at in [place.data().join("connectors"), place.root().join(".od/connectors")] {
        std::fs::create_dir_all(&at).unwrap();
        std::fs::write(at.join("webhooks.json"), planted.to_string()).unwrap();
    }
    let daemon = Daemon::start(&place, NOBODY);
    assert_eq!(daemon.ok("GET", "/api/webhooks", None), json!({ "webhooks": [] }));
    let mut said = vec![good(&place, &["webhooks", "add", "pager", &url, "--json"], CANARY)];
    // Refused, and not repeated.
    let refused = od(&place, &["webhooks", "add", "bad", "http://192.0.2.1/"], CANARY);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    said.push(String::from_utf8_lossy(&refused.stderr).into_owned());
    let short = json!({ "name": "x", "url": url, "secret": "short" });
    said.push(daemon.call("POST", "/api/webhooks", Some(&short)).text());
    said.push(good(&place, &["webhooks", "test", "pager"], ""));
    let trial = receiver.next();
    assert_eq!((&trial["title"], &trial["check"]), (&json!("Test of od"), &json!("test")));

    let artifact = checked(&daemon);
    place.write("in.json", r#"{ "n": 7, "private": "not for others" }"#);
    let refreshed = daemon.refresh(&artifact);
    assert_eq!(refreshed.status, 200, "{}", refreshed.text());
    let told = receiver.next();
    let mut names: Vec<&String> = told.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["check", "consoleUrl", "state", "title", "value"], "and nothing more");
    assert_eq!((&told["state"], &told["value"]), (&json!("failing"), &json!("7")));
    let page = told["consoleUrl"].as_str().unwrap();
    assert!(page.ends_with(&format!("/#/p/web/live/{artifact}")), "{page}");

    for forged in ["", "t=1,v1=00", &format!("t=1777507200,v1={}", "0".repeat(64))] {
        assert!(receiver.forge(forged).contains(" 401 "), "{forged}");
    }
    let listed = daemon.ok("GET", "/api/webhooks", None);
    assert_eq!(listed["webhooks"][0]["deliveries"]["lost"], 0, "{listed}");
    said.extend([listed.to_string(), good(&place, &["webhooks", "list"], "")]);
    said.push(good(&place, &["doctor", "--json"], ""));
    said.push(good(&place, &["webhooks", "remove", "pager"], ""));
    said.push(daemon.stop());
    for said in &said {
        assert_no_canary("what was said", said);
    }
    assert!(assert_no_canary_below(place.path()).unwrap() > 10);
}

#[test]
fn a_receiver_that_is_gone_delays_no_refresh_and_is_told_of_afterwards() {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "n": 1 }"#);
    let daemon = Daemon::start(&place, NOBODY);
    // It takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/od", silent.local_addr().unwrap());
    let secret = "a-secret-of-this-receiver";
    let body = json!({ "name": "silent", "url": url, "secret": secret });
    daemon.ok("POST", "/api/webhooks", Some(&body));
    let artifact = checked(&daemon);
    place.write("in.json", r#"{ "n": 9 }"#);
    let refreshed = daemon.refresh(&artifact);
    assert_eq!(refreshed.status, 200, "{}", refreshed.text());
    // Somebody tried; the answer to the refresh was there without.
    let (mut asked, _) = silent.accept().unwrap();
    let mut head = [0; 8];
    asked.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"POST /od");
    daemon.stop();
    let listed = good(&place, &["webhooks", "list"], "");
    assert!(listed.contains("1 lost: od ended before it arrived"), "{listed}");
    let doctor = good(&place, &["doctor"], "");
    assert!(doctor.contains("`silent` lost 1"), "{doctor}");
}

/// A directory with a program that writes its arguments into a file beside it.
fn desktop(at: &Path) {
    std::fs::create_dir_all(at).unwrap();
    let file = at.join("notify-send");
    std::fs::write(&file, "#!/bin/sh\nfor word; do printf '%s|' \"$word\"; done >> \"$0.said\"\n")
        .unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_command_without_a_daemon_shows_a_changed_check_once_if_a_person_wants_it() {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "n": 1 }"#);
    let daemon = Daemon::start(&place, NOBODY);
    let artifact = checked(&daemon);
    daemon.stop();
    let bin = place.path().join("bin");
    desktop(&bin);
    let refresh = |n: u32, wanted: bool| {
        place.write("in.json", &format!("{{ \"n\": {n} }}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_od"));
        command.args(["artifacts", "refresh", &artifact, "--project", "web"]);
        command.env("OD_HOME", place.home()).env("OD_DATA_DIR", place.data()).env("PATH", &bin);
        if wanted {
            command.env("OD_DESKTOP_NOTIFICATIONS", "on");
        }
        let output = command.current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        std::fs::read_to_string(bin.join("notify-send.said")).unwrap_or_default()
    };
    assert_eq!(refresh(7, false), "", "off until somebody says otherwise");
    let passing = refresh(2, true);
    assert!(passing.ends_with("--|Release dashboard|few holds again (2)|"), "{passing}");
    assert_eq!(refresh(3, true), passing, "what stays as it is is no news");
    let failing = refresh(8, true);
    assert!(failing.contains("--urgency=critical|--|Release dashboard|few does not hold (8)"));
}
