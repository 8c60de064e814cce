//! An agent for tests: it speaks the Agent Client Protocol as real ones do, or as badly as can be.
//!
//! Each line of a prompt is one command; `$HOME/mode` says how it is from the start, `as NAME` that it
//! sends what that real agent sent. The same program stands in for `od` as the supervisor of agents, and
//! as a daemon that is killed.

mod daemon;
mod recorded;
mod script;

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdout};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex as AsyncMutex, Notify, oneshot};

use recorded::{Recorded, SESSION};
use script::Script;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::FAILURE };
    let first = words.first().and_then(|word| word.to_str());
    match first {
        Some(od_agents::SUPERVISOR_VERB) => {
            let parent = words.get(1).and_then(|word| word.to_str()?.parse().ok()).unwrap_or(0);
            let code = runtime.block_on(od_agents::supervise(parent, &words[2..]));
            ExitCode::from(code.unwrap_or(127))
        }
        Some("daemon") => runtime.block_on(daemon::run(&words[1..])),
        Some(_) | None => runtime.block_on(serve()),
    }
}

/// The agent's ends of the conversation.
pub(crate) struct Agent {
    out: AsyncMutex<Stdout>,
    mode: String,
    /// What it sends in the place of its own words.
    pub(crate) recorded: Option<Recorded>,
    /// Where od's tools are, and the header that opens them.
    tools: Mutex<Option<(String, String)>>,
    answers: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    pub(crate) cancelled: Notify,
    next: Mutex<u64>,
}

async fn serve() -> ExitCode {
    let mode = std::env::var_os("HOME")
        .and_then(|home| std::fs::read_to_string(std::path::Path::new(&home).join("mode")).ok());
    let mode = mode.unwrap_or_default().trim().to_owned();
    if mode == "broken" {
        complain("fake agent: cannot find its configuration\n").await;
        return ExitCode::from(3);
    }
    // It listens to the signal, and does nothing about it when it is stuck.
    let Ok(mut told) = signal(SignalKind::terminate()) else { return ExitCode::FAILURE };
    let agent = Arc::new(Agent {
        out: AsyncMutex::new(tokio::io::stdout()),
        recorded: mode.strip_prefix("as ").and_then(Recorded::of),
        mode,
        tools: Mutex::default(),
        answers: Mutex::default(),
        cancelled: Notify::new(),
        next: Mutex::new(100),
    });
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => match line {
                Ok(Some(line)) => agent.take(&line).await,
                _ if agent.mode == "stuck" => std::future::pending().await,
                _ => return ExitCode::SUCCESS,
            },
            _ = told.recv(), if agent.mode != "stuck" => return ExitCode::from(143),
        }
    }
}

async fn complain(text: &str) {
    let mut err = tokio::io::stderr();
    let _ = err.write_all(text.as_bytes()).await;
    let _ = err.flush().await;
}

impl Agent {
    async fn take(self: &Arc<Self>, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") => self.initialize(id).await,
            Some("session/new" | "session/resume" | "session/load") => {
                self.open(id, &message).await;
            }
            Some("session/prompt") => {
                let text = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default();
                let (agent, text) = (Arc::clone(self), text.to_owned());
                tokio::spawn(async move {
                    let reason = Script { agent: &agent }.play(&text).await;
                    agent.reply(id, json!({ "stopReason": reason })).await;
                });
            }
            Some("session/cancel") => self.cancelled.notify_waiters(),
            Some(_) => self.reply(id, json!({})).await,
            None => {
                let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(waiting) = id.as_u64().and_then(|id| answers.remove(&id)) {
                    let _ = waiting.send(message["result"].clone());
                }
            }
        }
    }

    async fn initialize(&self, id: Value) {
        if self.mode == "silent" {
            return;
        }
        if let Some(met) = self.recorded.as_ref().and_then(|it| it.answer("initialize")) {
            return self.reply(id, met).await;
        }
        let version = if self.mode == "future" { 2 } else { 1 };
        self.reply(
            id,
            json!({
                "protocolVersion": version,
                "agentInfo": { "name": "fake", "version": "1" },
                "agentCapabilities": {
                    "loadSession": true,
                    "mcpCapabilities": { "http": self.mode != "no-http" },
                    "sessionCapabilities": { "resume": {} },
                },
                "authMethods": [],
            }),
        )
        .await;
    }

    async fn open(&self, id: Value, message: &Value) {
        if self.mode == "signed-out" {
            let error = json!({ "code": -32000, "message": "Authentication required" });
            self.write(&json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
            return;
        }
        let server = &message["params"]["mcpServers"][0];
        let url = server["url"].as_str().unwrap_or_default();
        let base = url.strip_suffix("/mcp").unwrap_or(url).to_owned();
        let header = server["headers"][0]["value"].as_str().unwrap_or_default().to_owned();
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = Some((base, header));
        if let Some(opened) = self.recorded.as_ref().and_then(|it| it.answer("session/new")) {
            return self.reply(id, opened).await;
        }
        let modes = json!({ "currentModeId": "yolo", "availableModes": [{ "id": "default" }] });
        self.reply(id, json!({ "sessionId": SESSION, "modes": modes })).await;
        if message["method"] == "session/load" {
            // As Gemini does: everything is told again after the answer, and has to be dropped.
            for _ in 0..20 {
                let words = json!({ "type": "text", "text": "told again" });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": words });
                self.update(update).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    pub(crate) fn tools(&self) -> (String, String) {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    async fn reply(&self, id: Value, result: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    pub(crate) async fn update(&self, update: Value) {
        let params = json!({ "sessionId": SESSION, "update": update });
        self.write(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
            .await;
    }

    /// Asks the client, and waits for its answer.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            *next += 1;
            *next
        };
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(id, answer);
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        answered.await.unwrap_or_default()
    }

    pub(crate) async fn write(&self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn raw(&self, bytes: &[u8]) {
        let mut out = self.out.lock().await;
        let _ = out.write_all(bytes).await;
        let _ = out.flush().await;
    }
}
