//! `od run`: signals, the exit code, the lease, the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use od_core::ids::Timestamp;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::serving::hold_lock;
use crate::bench::{Bench, exit_code};

/// Starts a command under `od run` and waits until it says that it is ready.
fn start(bench: &Bench, script: &str) -> (Child, String) {
    bench.write("agent.sh", script);
    let mut child =
        bench.command(&["run", "--", "sh", "agent.sh"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

/// Whether the run's record says that it is over.
fn is_over(bench: &Bench, run: &str) -> bool {
    let path = bench.data().join("runs").join(format!("{run}.json"));
    let record: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    record["run"]["state"] == "ended"
}

#[test]
fn a_signal_reaches_the_command_and_what_it_makes_of_it_is_the_exit_code() {
    for (signal, name, code) in
        [(Signal::TERM, "TERM", 5), (Signal::INT, "INT", 6), (Signal::HUP, "HUP", 7)]
    {
        let bench = Bench::with_project();
        let script = format!(
            "trap 'kill $!; echo {name} > got; exit {code}' {name}\n\
             tail -f /dev/null > /dev/null &\necho \"$OD_RUN_ID\"\nwait\n"
        );
        let (child, run) = start(&bench, &script);
        assert!(!is_over(&bench, &run));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(exit_code(child), Some(code));
        let got = std::fs::read_to_string(bench.project().join("got")).unwrap();
        assert_eq!(got.trim(), name);
        assert!(is_over(&bench, &run), "the run outlives its command");
    }
}

#[test]
fn a_command_that_a_signal_ends_gives_128_and_its_number() {
    let bench = Bench::with_project();
    let (child, run) = start(&bench, "echo \"$OD_RUN_ID\"; exec tail -f /dev/null\n");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(exit_code(child), Some(128 + 15));
    assert!(is_over(&bench, &run));
}

#[test]
fn the_command_has_what_the_contract_promises_in_its_environment() {
    let bench = Bench::with_project();
    let output = bench
        .agent("env | grep '^OD_' | sort | sed 's/=.*//'\n\"$OD_NODE_BIN\" \"$OD_BIN\" version\n");
    assert!(output.status.success());
    let names: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().take(9).map(str::to_owned).collect();
    assert_eq!(
        names,
        [
            "OD_BIN",
            // Like OD_HOME from the test's own environment, which the command keeps.
            "OD_CEILING",
            "OD_DAEMON_ID",
            "OD_DAEMON_URL",
            "OD_DATA_DIR",
            "OD_HOME",
            "OD_NODE_BIN",
            "OD_RUN_ID",
            "OD_TOOL_TOKEN"
        ]
    );
}

/// A daemon that grants leases of half a second, and tells the test what it is asked.
fn short_leases(listener: &TcpListener, asked: &std::sync::mpsc::Sender<String>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        let asked = asked.clone();
        std::thread::spawn(move || answer_all(stream, &asked));
    }
}

fn answer_all(mut stream: TcpStream, asked: &std::sync::mpsc::Sender<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut line, mut length) = (String::new(), 0);
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            if header.trim().is_empty() {
                break;
            }
            if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let route = line.trim_end_matches(" HTTP/1.1\r\n").to_owned();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let until = Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap() + 500);
        let run =
            json!({ "runId": "run-1", "projectId": "web", "live": true, "leaseExpiresAt": until });
        let answer = match route.as_str() {
            "GET /api/health" => json!({ "service": "od" }),
            "POST /api/runs" => json!({ "run": run, "toolToken": "odt.v1.x.y" }),
            _ => json!({ "run": run }),
        };
        let text = answer.to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        write!(stream, "{head} {}\r\n\r\n{text}", text.len()).unwrap();
        // The test may have seen enough.
        let _enough = asked.send(route);
    }
}

fn announce(bench: &Bench) -> Receiver<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let said = json!({ "url": url, "previewUrl": url, "pid": 4_000_000_000_u32, "version": "0", "instance": "i" });
    std::fs::write(bench.data().join("daemon.json"), said.to_string()).unwrap();
    let (sender, receiver) = channel();
    std::thread::spawn(move || short_leases(&listener, &sender));
    receiver
}

#[test]
fn whoever_listens_at_a_killed_daemons_port_gets_no_token() {
    let bench = Bench::with_project();
    // The lock is free: whoever announced that is dead.
    let asked = announce(&bench);
    let output = bench.od(&["run", "--", "true"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(asked.try_recv().ok(), None);
    bench.end_daemon();
}

#[test]
fn the_lease_is_renewed_while_the_command_lives_and_the_run_ended_after_it() {
    let bench = Bench::with_project();
    let asked = announce(&bench);
    let _lock = hold_lock(&bench);
    let mut child = bench
        .command(&["run", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let next = || loop {
        let route = asked.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        if route != "GET /api/health" {
            return route;
        }
    };
    assert_eq!(next(), "POST /api/runs");
    for _ in 0..3 {
        assert_eq!(next(), "POST /api/runs/run-1/renew");
    }
    drop(child.stdin.take());
    assert_eq!(exit_code(child), Some(0));
    let last = std::iter::from_fn(|| Some(next())).find(|route| !route.ends_with("/renew"));
    assert_eq!(last.as_deref(), Some("DELETE /api/runs/run-1"));
    std::fs::remove_file(bench.data().join("daemon.json")).unwrap();
}

#[test]
fn the_skill_is_made_known_where_it_is_missing_and_a_changed_copy_stays() {
    let bench = Bench::with_project();
    let copies = [".agents", ".claude"]
        .map(|place| bench.project().join(place).join("skills/live-artifact/SKILL.md"));
    let said = |arguments: &[&str]| {
        let output = bench.od(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!said(&["run", "--no-skill", "--", "true"]).contains("skill"));
    assert!(!copies[0].exists() && !copies[1].exists());
    let first = said(&["run", "--", "true"]);
    assert!(first.contains("installed the skill live-artifact in .agents/skills"), "{first}");
    assert!(copies[0].exists() && copies[1].exists());
    std::fs::write(&copies[1], "mine").unwrap();
    assert!(!said(&["run", "--", "true"]).contains("skill"));
    assert_eq!(std::fs::read_to_string(&copies[1]).unwrap(), "mine");
    bench.end_daemon();
}
