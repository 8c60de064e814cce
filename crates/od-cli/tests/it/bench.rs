//! A machine of its own for each test: home, data directory, project, and the daemon it started.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Directories that nothing else uses, and whatever `od` starts in them.
pub(crate) struct Bench {
    root: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(bench.project()).unwrap();
        std::fs::create_dir_all(bench.root.path().join("user")).unwrap();
        bench
    }

    /// With the project's directory registered.
    pub(crate) fn with_project() -> Self {
        let bench = Self::new();
        bench.good(&["init", "--name", "Web"]);
        bench
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("web")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("home/data")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A command with nothing of the machine's own settings in it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_od"));
        command.args(arguments).stdin(Stdio::null());
        self.isolate(&mut command);
        command
    }

    /// As [`Self::command`], at a terminal, which script(1) gives it; everything is on stdout.
    pub(crate) fn command_at_terminal(&self, arguments: &[&str]) -> Command {
        let line = format!("{} {}", env!("CARGO_BIN_EXE_od"), arguments.join(" "));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
        self.isolate(&mut command);
        command.env("TERM", "xterm");
        command
    }

    /// As [`Self::command`], a line that a shell reads.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdin(Stdio::null());
        self.isolate(&mut command);
        command
    }

    fn isolate(&self, command: &mut Command) {
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path().join("user"))
            .env("OD_HOME", self.root.path().join("home"))
            .env("BROWSER", "/bin/false")
            // What lies above the scratch folder is the machine's, and none of the test's business.
            .env("OD_CEILING", self.root.path())
            .env("GIT_CEILING_DIRECTORIES", self.root.path());
    }

    pub(crate) fn od(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that has to succeed, and returns its stdout.
    #[track_caller]
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let output = self.od(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command with `--json` that has to succeed.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        serde_json::from_str(&self.good(&arguments)).unwrap()
    }

    /// Runs a shell script as an agent of the project.
    pub(crate) fn agent(&self, script: &str) -> Output {
        self.write("agent.sh", script);
        self.od(&["run", "--", "sh", "agent.sh"])
    }

    /// Starts a run that lasts until it is ended, so that a test can call what an agent calls.
    pub(crate) fn hold_run(&self) -> HeldRun {
        let script =
            "echo \"$OD_DAEMON_URL\"; echo \"$OD_DAEMON_ID\"; echo \"$OD_TOOL_TOKEN\"; exec cat";
        let mut child = self
            .command(&["run", "--", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        let (url, daemon_id, token) = (next(), next(), next());
        HeldRun { stdin: child.stdin.take(), child, url, daemon_id, token }
    }

    /// Runs one of the agent's commands as the agent of a held run.
    pub(crate) fn as_agent(&self, run: &HeldRun, arguments: &[&str]) -> Output {
        self.command(arguments)
            .env("OD_DAEMON_URL", &run.url)
            .env("OD_DAEMON_ID", &run.daemon_id)
            .env("OD_TOOL_TOKEN", &run.token)
            .output()
            .unwrap()
    }

    /// Creates an artifact over `metrics.json`, called `live`; returns its id.
    pub(crate) fn with_artifact(&self) -> String {
        self.write("metrics.json", r#"{ "n": 1 }"#);
        self.write("artifact.json", LIVE);
        let run = self.hold_run();
        let made =
            self.as_agent(&run, &["tools", "live-artifacts", "create", "--input", "artifact.json"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        run.end();
        made["artifact"]["id"].as_str().unwrap().to_owned()
    }

    /// The running daemon's URL, if it announced itself.
    pub(crate) fn daemon(&self) -> Option<(String, String)> {
        let text = std::fs::read_to_string(self.data().join("daemon.json")).ok()?;
        let said: Value = serde_json::from_str(&text).ok()?;
        Some((said["url"].as_str()?.to_owned(), said["pid"].to_string()))
    }

    /// Ends the daemon that this bench started, and waits until it has gone.
    pub(crate) fn end_daemon(&self) {
        let Some((_, pid)) = self.daemon() else { return };
        // An announcement that a test wrote itself names no process of ours.
        let program = std::fs::read_link(format!("/proc/{pid}/exe"));
        let own = Path::new(env!("CARGO_BIN_EXE_od")).canonicalize().unwrap();
        if program.ok() != Some(own) {
            return;
        }
        let _gone = Command::new("kill").arg(&pid).stderr(Stdio::null()).status();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        // Its announcement goes first, its last writes after it.
        let process = PathBuf::from(format!("/proc/{pid}"));
        while process.exists() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.end_daemon();
    }
}

/// An artifact that follows a file.
pub(crate) const LIVE: &str = r#"{ "title": "Live", "document": { "format": "html_template_v1", "dataJson": { "n": 0 }, "sourceJson": { "type": "local_file", "input": { "path": "metrics.json" }, "refreshPermission": "manual_refresh_granted_for_read_only" } } }"#;

/// A run whose command waits until the test lets it end.
pub(crate) struct HeldRun {
    child: Child,
    stdin: Option<ChildStdin>,
    pub(crate) url: String,
    pub(crate) daemon_id: String,
    pub(crate) token: String,
}

impl HeldRun {
    /// Lets the command end, and with it the run.
    pub(crate) fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for HeldRun {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ended = self.child.wait();
    }
}

/// Waits for a program that has every reason to end, and fails if it does not.
#[track_caller]
pub(crate) fn exit_code(mut child: Child) -> Option<i32> {
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait()));
    let Ok(status) = receiver.recv_timeout(std::time::Duration::from_secs(60)) else {
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        panic!("it does not end");
    };
    status.unwrap().code()
}

/// Returns stderr's last line as JSON.
#[track_caller]
pub(crate) fn refusal(output: &Output) -> Value {
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stderr)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}
