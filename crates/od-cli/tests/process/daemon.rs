//! `od serve` as a child process, over directories of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use od_app::Caller;
use od_app::projects::{CreateProject, create};
use od_core::token::{Claims, CliClaims};
use od_daemon::{Announcement, ComposeOptions, compose};
use od_fs::{FileTokenAuthority, SystemClock, SystemEntropy};
use od_ports::access::token_authority::TokenAuthority as _;
use od_ports::system::Clock as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{self, Answer};

/// Home, data directory and a project's root.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    /// Makes a place with the project `web` over `root/`.
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(place.root()).unwrap();
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join("root")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Makes the project, as `od init` does.
    pub(crate) fn init(&self) {
        self.init_in(ComposeOptions::default());
    }

    /// Makes the project in the store that the options name.
    pub(crate) fn init_in(&self, options: ComposeOptions) {
        let app = compose(&self.home(), &self.data(), options).unwrap();
        let request = CreateProject {
            id: Some("web".parse().unwrap()),
            name: "Web".to_owned(),
            root: Some(self.root()),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(create(&app, &Caller::Person, request)).unwrap();
    }

    /// Returns an artifact's directory.
    pub(crate) fn artifact(&self, id: &str) -> PathBuf {
        self.data().join("projects/web/.live-artifacts").join(id)
    }

    /// Reads the bytes that a refresh which fails must not change.
    pub(crate) fn generation(&self, id: &str) -> Vec<Vec<u8>> {
        ["artifact.json", "template.html", "data.json", "provenance.json", "index.html"]
            .map(|name| std::fs::read(self.artifact(id).join(name)).unwrap())
            .to_vec()
    }
}

/// A daemon that runs.
pub(crate) struct Daemon {
    child: Child,
    api: SocketAddr,
    home: PathBuf,
    data: PathBuf,
    said: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Starts one whose GitHub is at `github`.
    pub(crate) fn start(place: &Place, github: &str) -> Self {
        Self::start_under(place, github, Command::new(env!("CARGO_BIN_EXE_od")))
    }

    /// Starts one by a command to which the arguments of `od` are added.
    pub(crate) fn start_under(place: &Place, github: &str, mut command: Command) -> Self {
        let mut child = command
            .args(["serve", "--port", "0", "--no-code"])
            .env("OD_HOME", place.home())
            .env("OD_DATA_DIR", place.data())
            .env("OD_GITHUB_BASE_URL", github)
            .env("OD_LOG", "debug")
            .current_dir(place.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (mut stderr, heard) = (child.stderr.take().unwrap(), Arc::clone(&said));
        let listening = Some(std::thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                heard.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        }));
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("od serves http://");
        let url = url.unwrap_or_else(|| panic!("{line:?} {}", lossy(&said.lock().unwrap())));
        let api = url.parse().unwrap();
        Self { child, api, home: place.home(), data: place.data(), said, listening }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn bearer(&self) -> String {
        let authority = FileTokenAuthority::open(&self.home, &SystemEntropy::new()).unwrap();
        let issued_at = SystemClock.now();
        let expires_at = issued_at.plus_ms(60_000);
        let token_id = "cli-test".parse().unwrap();
        let (_, audience) = Announcement::of_living_with_audience(&self.data).unwrap();
        let audience = audience.unwrap();
        authority
            .sign(&Claims::Cli(CliClaims { token_id, audience, issued_at, expires_at }))
            .unwrap()
    }

    /// Sends a request as the person and does not wait for the answer.
    pub(crate) fn send(&self, method: &str, target: &str, body: Option<&Value>) -> TcpStream {
        http::send(self.api, &self.bearer(), method, target, body)
    }

    pub(crate) fn call(&self, method: &str, target: &str, body: Option<&Value>) -> Answer {
        http::read(self.send(method, target, body)).expect("an answer")
    }

    /// Calls with 200 expected.
    pub(crate) fn ok(&self, method: &str, target: &str, body: Option<&Value>) -> Value {
        let answer = self.call(method, target, body);
        assert_eq!(answer.status, 200, "{method} {target}: {}", answer.text());
        answer.json()
    }

    /// Calls an agent's route with the token of a fresh run.
    pub(crate) fn call_as_agent(&self, target: &str, body: &Value) -> Answer {
        let started = self.ok("POST", "/api/runs", Some(&json!({ "projectId": "web" })));
        let token = started["toolToken"].as_str().unwrap();
        http::read(http::send(self.api, token, "POST", target, Some(body))).expect("an answer")
    }

    /// Creates an artifact over a source; returns its id.
    pub(crate) fn create(&self, source: &Value) -> String {
        let body = json!({
            "input": {
                "title": "Watched",
                "document": { "dataJson": { "title": "before" }, "sourceJson": source },
            },
            "templateHtml": "<!doctype html><title>T</title><h1>{{data.title}}</h1>",
        });
        let made = self.ok("POST", "/api/live-artifacts?projectId=web", Some(&body));
        made["artifact"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn refresh(&self, artifact: &str) -> Answer {
        self.call("POST", &format!("/api/live-artifacts/{artifact}/refresh"), None)
    }

    /// Returns what must not change when a refresh fails: the page as served, data and revision.
    pub(crate) fn served(&self, artifact: &str) -> (Vec<u8>, Value, Value) {
        let target = format!("/api/live-artifacts/{artifact}");
        let page = self.call("GET", &format!("{target}/preview"), None);
        assert_eq!(page.status, 200, "{}", page.text());
        let shown = self.ok("GET", &target, None);
        assert_eq!(shown["health"], json!({ "state": "healthy" }), "{shown}");
        let artifact = &shown["artifact"];
        (page.body, artifact["document"].clone(), artifact["revision"].clone())
    }

    /// Returns the last record of every refresh, oldest first: number and status.
    pub(crate) fn endings(&self, artifact: &str) -> Vec<(u64, String)> {
        let history = self.ok("GET", &format!("/api/live-artifacts/{artifact}/refreshes"), None);
        let mut endings: Vec<(u64, String)> = history["refreshes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|record| {
                ["refresh:commit", "refresh:failed"].contains(&record["step"].as_str().unwrap())
            })
            .map(|record| {
                let id = record["refreshId"].as_str().unwrap().trim_start_matches("refresh-");
                (id.parse().unwrap(), record["status"].as_str().unwrap().to_owned())
            })
            .collect();
        endings.sort();
        endings
    }

    /// Kills it, as no process can prevent.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.end()
    }

    /// Ends it in order; returns what it wrote to standard error.
    pub(crate) fn stop(self) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.end()
    }

    /// Ends a daemon that another program watches: the one that is announced, not its watcher.
    pub(crate) fn stop_traced(self, place: &Place) -> String {
        let announced = std::fs::read(place.data().join("daemon.json")).unwrap();
        let announced: Value = serde_json::from_slice(&announced).unwrap();
        let pid = announced["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.end()
    }

    fn end(mut self) -> String {
        self.child.wait().unwrap();
        self.listening.take().unwrap().join().unwrap();
        lossy(&self.said.lock().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A source that reads a file of the project.
pub(crate) fn file_source(path: &str) -> Value {
    json!({
        "type": "local_file",
        "input": { "path": path },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

/// A source that asks GitHub for the releases of a repository.
pub(crate) fn releases(repo: &str) -> Value {
    json!({
        "type": "connector_tool",
        "input": { "owner": "octo", "repo": repo },
        "connector": { "connectorId": "github", "toolName": "github.list_releases" },
        "outputMapping": { "dataPaths": [{ "from": "items", "to": "releases" }] },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}
