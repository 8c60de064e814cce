//! `od chat` with a small agent on the machine's path, and with none.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

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
  }
  send({ id, result: results[method] ?? {} });
});
"#;

fn chat(bench: &Bench, path: &Path, words: &[&str]) -> Output {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", path.display());
    let mut command = bench.command(words);
    command.env("OD_AGENTS_PATH", path).env("OD_AGENTS_HOME", bench.root().join("user"));
    command.output().unwrap()
}

#[test]
fn a_prompt_without_a_terminal_is_answered_once_and_the_chat_is_kept() {
    let bench = Bench::with_project();
    let programs = bench.root().join("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("gemini"), AGENT).unwrap();
    fs::set_permissions(programs.join("gemini"), fs::Permissions::from_mode(0o755)).unwrap();
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
