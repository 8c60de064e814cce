//! Another program at the address of a run's daemon: it is shown nothing that it can use.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use od_core::console::{Meeting, Nonce};
use od_fs::FileConsoleSessions;
use od_ports::access::console_sessions::ConsoleSessions as _;
use serde_json::{Value, json};

use crate::bench::{Bench, HeldRun, LIVE};

/// The way in which an impostor answers the demand for a proof.
#[derive(Clone, Debug)]
enum Cheat {
    /// As it answers everything else: with an empty list.
    Nothing,
    /// With what the real daemon says to the same demand.
    PassOn(String),
    /// With the proof of a daemon of its own, at the very address.
    OwnKey(std::path::PathBuf),
    /// With the key of the real daemon, which is public, and a signature of its own.
    OthersKey(String, std::path::PathBuf),
}

/// A program that took an address.
struct Impostor {
    url: String,
    /// Everything that it was sent, as it came.
    received: Arc<Mutex<String>>,
}

impl Impostor {
    fn listen(cheat: Cheat) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let url = format!("http://{address}");
        let received = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (cheat, heard, address) = (cheat.clone(), Arc::clone(&heard), address.clone());
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    while let Some((head, body)) = request(&mut stream) {
                        heard.lock().unwrap().push_str(&format!("{head}{body}\n"));
                        let is_challenge = head.starts_with("POST /api/session/challenge ");
                        let answer = if is_challenge {
                            cheat.proof(&address, &body)
                        } else {
                            json!({ "artifacts": [], "total": 0 }).to_string()
                        };
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
                        let length = answer.len();
                        write!(stream, "{head}content-length: {length}\r\n\r\n{answer}").unwrap();
                    }
                });
            }
        });
        Self { url, received }
    }

    #[track_caller]
    fn assert_nothing_of_use(&self, run: &HeldRun, place: &str) {
        let received = self.received.lock().unwrap();
        assert!(!received.contains(&run.token), "{place}: the token in {received}");
        let lowered = received.to_lowercase();
        for word in ["authorization", "bearer", "odt.", "title", "live-artifacts"] {
            assert!(!lowered.contains(word), "{place}: {word} in {received}");
        }
    }
}

impl Cheat {
    fn proof(&self, address: &str, body: &str) -> String {
        match self {
            Self::Nothing => json!({ "artifacts": [] }).to_string(),
            Self::PassOn(url) => {
                let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
                let host = url.strip_prefix("http://").unwrap();
                let length = body.len();
                write!(
                    stream,
                    "POST /api/session/challenge HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
                     content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                )
                .unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                let (head, proof) = answer.split_once("\r\n\r\n").unwrap();
                assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
                proof.to_owned()
            }
            Self::OwnKey(home) => proof(address, body, home, None),
            Self::OthersKey(url, home) => {
                let theirs: Value =
                    serde_json::from_str(&Self::PassOn(url.clone()).proof(address, body)).unwrap();
                proof(address, body, home, theirs["daemonKey"].as_str())
            }
        }
    }
}

/// Signs as a daemon with the key of another home would.
fn proof(address: &str, body: &str, home: &std::path::Path, named: Option<&str>) -> String {
    let keys = FileConsoleSessions::in_home(home);
    let asked: Value = serde_json::from_str(body).unwrap();
    let page_nonce: Nonce = asked["nonce"].as_str().unwrap().parse().unwrap();
    let daemon_nonce = Nonce::generate([7; 16]);
    let daemon = match named {
        Some(key) => key.parse().unwrap(),
        None => keys.daemon_key().unwrap(),
    };
    let meeting =
        Meeting { address, daemon: &daemon, page_nonce: &page_nonce, daemon_nonce: &daemon_nonce };
    let signature = keys.sign(&meeting.daemon_text()).unwrap();
    json!({
        "challenge": daemon_nonce, "daemonKey": daemon, "signature": signature,
        "expiresAt": "2099-01-01T00:00:00.000Z",
    })
    .to_string()
}

/// Reads one request: its head and its body.
fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8_lossy(&body).into_owned()))
}

/// Runs an agent's command that cannot see the data directory; `stdin` is what it is told.
fn as_blind_agent(bench: &Bench, words: &[&str], env: &[(&str, &str)], stdin: &str) -> Output {
    let mut command = bench.command(words);
    command.env_remove("OD_HOME").env("HOME", bench.root().join("user"));
    command.envs(env.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ended_already = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// One call of a tool over MCP.
fn mcp_call() -> String {
    let client = json!({ "name": "t", "version": "1" });
    let opened =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let call = json!({ "name": "od_live_artifacts_list", "arguments": {} });
    [("initialize", opened), ("tools/call", call)]
        .into_iter()
        .zip(1..)
        .map(|((method, params), id)| {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            format!("{message}\n")
        })
        .collect()
}

#[test]
fn a_program_at_the_daemons_address_is_shown_no_token_by_commands_that_see_no_data_directory() {
    let bench = Bench::with_project();
    bench.write("artifact.json", LIVE);
    let run = bench.hold_run();
    let own_home = tempfile::tempdir().unwrap();
    let home = own_home.path().to_owned();
    let cheats = [
        Cheat::Nothing,
        Cheat::PassOn(run.url.clone()),
        Cheat::OwnKey(home.clone()),
        Cheat::OthersKey(run.url.clone(), home),
    ];
    let missing = bench.root().join("nothing").display().to_string();
    for cheat in cheats {
        let place = format!("{cheat:?}");
        let impostor = Impostor::listen(cheat);
        let base = [
            ("OD_DAEMON_URL", impostor.url.as_str()),
            ("OD_TOOL_TOKEN", run.token.as_str()),
            ("OD_RUN_ID", "run-1"),
        ];
        let id = ("OD_DAEMON_ID", run.daemon_id.as_str());
        let unseen = ("OD_DATA_DIR", missing.as_str());
        let list = ["tools", "live-artifacts", "list"];
        let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
        for env in [vec![id], vec![id, unseen], vec![], vec![unseen]] {
            let env = [&base[..], &env].concat();
            for words in [&list[..], &create] {
                let output = as_blind_agent(&bench, words, &env, "");
                assert_eq!(output.status.code(), Some(9), "{place}: {output:?}");
                let said = String::from_utf8(output.stderr).unwrap();
                assert!(said.contains("DAEMON_UNAVAILABLE") && said.contains("od run"), "{said}");
            }
            let output = as_blind_agent(&bench, &["mcp", "live-artifacts"], &env, &mcp_call());
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(said.contains("\"isError\":true"), "{place}: {said}");
        }
        impostor.assert_nothing_of_use(&run, &place);
    }
    run.end();
}

#[test]
fn a_command_that_sees_no_data_directory_works_with_the_daemon_that_proves_itself() {
    let bench = Bench::with_project();
    bench.write("artifact.json", LIVE);
    bench.write("metrics.json", r#"{ "n": 1 }"#);
    let run = bench.hold_run();
    let env = [
        ("OD_DAEMON_URL", run.url.as_str()),
        ("OD_DAEMON_ID", run.daemon_id.as_str()),
        ("OD_TOOL_TOKEN", run.token.as_str()),
    ];
    let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
    let made = as_blind_agent(&bench, &create, &env, "");
    assert!(made.status.success(), "{made:?}");
    let called = as_blind_agent(&bench, &["mcp", "live-artifacts"], &env, &mcp_call());
    let said = String::from_utf8(called.stdout).unwrap();
    assert!(said.contains("\"isError\":false") && said.contains("Live"), "{said}");
    run.end();
}
