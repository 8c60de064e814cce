//! `od mcp live-artifacts` as an agent launches it once: its daemon is killed, its run is ended, and the
//! session goes on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use od_daemon::Announcement;
use serde_json::{Value, json};

use crate::daemon::Place;

/// One session of a client.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Session {
    /// Starts the server in a directory, with nothing of a run in its environment.
    fn start(place: &Place, directory: &std::path::Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_od"))
            .args(["mcp", "live-artifacts"])
            .env_clear()
            .env("OD_HOME", place.home())
            .env("OD_DATA_DIR", place.data())
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { child, input, output, last_id: 0 };
        let client = json!({ "name": "Test Client", "version": "1" });
        session.request(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        session
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", &params)["result"].clone()
    }

    fn good(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    fn end(mut self) {
        self.input.take();
        assert!(self.child.wait().unwrap().success(), "it ends well when its input closes");
    }
}

/// Kills the daemon that the server started.
fn kill_daemon(place: &Place) -> u32 {
    let found = Announcement::of_living(&place.data()).expect("the server has started one");
    let killed = Command::new("kill").args(["-KILL", &found.pid.to_string()]).status().unwrap();
    assert!(killed.success());
    found.pid
}

fn stop_daemon(place: &Place) {
    let stopped = Command::new(env!("CARGO_BIN_EXE_od"))
        .arg("stop")
        .env("OD_HOME", place.home())
        .env("OD_DATA_DIR", place.data())
        .output()
        .unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
}

#[test]
fn a_session_of_500_calls_loses_its_daemon_twice_and_is_never_started_again() {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "n": 1 }"#);
    let mut session = Session::start(&place, &place.root());
    let created = session.good(
        "od_live_artifacts_create",
        &json!({ "input": { "title": "Numbers", "document": { "dataJson": { "n": 0 }, "sourceJson": {
            "type": "local_file", "input": { "path": "in.json" },
            "refreshPermission": "manual_refresh_granted_for_read_only" } } },
            "templateHtml": "<!doctype html><title>t</title><p>{{data.n}}</p>" }),
    );
    let id = created["artifact"]["id"].clone();
    let read = json!({ "connectorId": "project_files", "toolName": "read_json", "input": { "path": "in.json" } });
    let mut pids = Vec::new();
    for call in 0..500 {
        match call {
            100 | 300 => pids.push(kill_daemon(&place)),
            _ => {}
        }
        if call % 2 == 0 {
            let got = session.good("od_live_artifacts_get", &json!({ "artifactId": id }));
            assert_eq!(got["artifact"]["title"], "Numbers");
        } else {
            session.good("od_connectors_execute", &read);
        }
    }
    assert_ne!(pids[0], pids[1], "another daemon was started");
    let refreshed = session.good("od_live_artifacts_refresh", &json!({ "artifactId": id }));
    assert_eq!(refreshed["refresh"]["changed"], true);
    session.end();
    stop_daemon(&place);
}

#[test]
fn outside_every_project_it_serves_and_says_what_to_run_and_then_works() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut session = Session::start(&place, elsewhere.path());
    let listed = session.request("tools/list", &json!({}));
    assert!(listed["result"]["tools"].as_array().unwrap().len() >= 9, "{listed}");
    let refused = session.call("od_live_artifacts_list", &json!({}));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("od init"), "{text}");
    assert!(Announcement::of_living(&place.data()).is_none(), "nothing was started for nothing");
    let init = Command::new(env!("CARGO_BIN_EXE_od"))
        .arg("init")
        .arg(elsewhere.path())
        .env("OD_HOME", place.home())
        .env("OD_DATA_DIR", place.data())
        .output()
        .unwrap();
    assert!(init.status.success(), "{init:?}");
    assert_eq!(session.good("od_live_artifacts_list", &json!({}))["total"], 0);
    session.end();
    stop_daemon(&place);
}
