//! `od chat` with a small agent on the machine's path, and with none.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Output, Stdio};

use crate::bench::Bench;

/// Speaks just enough of the Agent Client Protocol for one turn.
const AGENT: &str = r#"#!/usr/bin/env node
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const results = {
    initialize: { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } },
    "session/new": { sessionId: "s1" },
    "session/prompt": { stopReason: "end_turn" },
  };
  if (method === "session/prompt") {
    const content = { type: "text", text: `heard: ${params.prompt[0].text}` };
    const update = { sessionUpdate: "agent_message_chunk", content };
    send({ method: "session/update", params: { sessionId: "s1", update } });
    if (params.prompt[0].text.includes("ask me")) {
      // The turn goes on until it is stopped.
      const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }, { optionId: "n", name: "No", kind: "reject_once" }];
      const toolCall = { toolCallId: "c", title: "Build", rawInput: { command: "make everything" } };
      send({ id: 70, method: "session/request_permission", params: { sessionId: "s1", toolCall, options } });
      return;
    }
  }
  send({ id, result: results[method] ?? {} });
});
"#;

fn with_agents(mut command: Command, bench: &Bench, path: &Path) -> Command {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", path.display());
    command.env("OD_AGENTS_PATH", path).env("OD_AGENTS_HOME", bench.root().join("user"));
    command
}

fn chat(bench: &Bench, path: &Path, words: &[&str]) -> Output {
    with_agents(bench.command(words), bench, path).output().unwrap()
}

/// Installs the small agent as Gemini; returns the folder it is in.
fn install(bench: &Bench) -> PathBuf {
    let programs = bench.root().join("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("gemini"), AGENT).unwrap();
    fs::set_permissions(programs.join("gemini"), fs::Permissions::from_mode(0o755)).unwrap();
    programs
}

/// What stands on a terminal.
struct Screen {
    terminal: ChildStdout,
    said: String,
}

impl Screen {
    /// Reads until this is said; the program must not end before.
    fn until(&mut self, words: &str) {
        let mut part = [0; 4096];
        while !self.said.contains(words) {
            match self.terminal.read(&mut part) {
                Ok(len) if len > 0 => {
                    self.said.push_str(&String::from_utf8_lossy(&part[..len]));
                }
                end => panic!("{end:?} before {words:?}: {}", self.said),
            }
        }
    }
}

#[test]
fn ctrl_c_stops_the_turn_also_while_something_is_asked() {
    let bench = Bench::with_project();
    let programs = install(&bench);
    let words = ["chat", "--agent", "gemini", "'ask me'"];
    let mut chat = with_agents(bench.command_at_terminal(&words), &bench, &programs)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = chat.stdin.take().unwrap();
    let mut ctrl_c = || keys.write_all(b"\x03").and_then(|()| keys.flush()).unwrap();
    let mut screen = Screen { terminal: chat.stdout.take().unwrap(), said: String::new() };
    screen.until("y, n or a number:");
    assert!(screen.said.contains("make everything"), "what would run is shown: {}", screen.said);
    ctrl_c();
    screen.until("no program of the agent is left");
    screen.until("> ");
    // The second one, with nothing under way, leaves.
    ctrl_c();
    screen.until("is kept");
    chat.wait().unwrap();
    bench.good(&["stop"]);
}

#[test]
fn a_prompt_without_a_terminal_is_answered_once_and_the_chat_is_kept() {
    let bench = Bench::with_project();
    let programs = install(&bench);
    let said = chat(&bench, &programs, &["chat", "--agent", "gemini", "hello there"]);
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr)
    );
    assert!(said.status.success(), "{text}");
    assert!(text.contains("heard: ") && text.contains("hello there"), "{text}");
    let listed = chat(&bench, &programs, &["chat", "--list"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(
        listed.lines().any(|line| line.contains("gemini") && line.contains("hello there")),
        "{listed}"
    );
    bench.good(&["stop"]);
}

#[test]
fn an_agent_that_is_not_there_is_told_with_the_line_that_installs_it() {
    let bench = Bench::with_project();
    let nowhere = bench.root().join("nowhere");
    let mut command = bench.command(&["chat", "--agent", "claude", "hello"]);
    command.env("OD_AGENTS_PATH", &nowhere).env("OD_AGENTS_HOME", bench.root().join("user"));
    let refused = command.output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    let said = String::from_utf8_lossy(&refused.stdout);
    assert_eq!(refused.status.code(), Some(9), "{told}{said}");
    assert!(told.contains("PROGRAM_UNAVAILABLE") && told.contains("npm install"), "{told}");
    bench.good(&["stop"]);
}
