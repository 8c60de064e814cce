//! What the agent does: one command a line of its prompt.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Agent;
use crate::recorded::SESSION;

pub(crate) struct Script<'a> {
    pub(crate) agent: &'a Agent,
}

impl Script<'_> {
    /// Plays a prompt; returns the reason for which the turn ends.
    pub(crate) async fn play(&self, prompt: &str) -> &'static str {
        let cancelled = self.agent.cancelled.notified();
        tokio::pin!(cancelled);
        for line in prompt.lines() {
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            tokio::select! {
                () = &mut cancelled => return "cancelled",
                reason = self.command(command, rest) => if let Some(reason) = reason {
                    return reason;
                },
            }
        }
        "end_turn"
    }

    async fn command(&self, command: &str, rest: &str) -> Option<&'static str> {
        let agent = self.agent;
        match command {
            "say" => self.words("agent_message_chunk", rest).await,
            "think" => self.words("agent_thought_chunk", rest).await,
            "plan" => {
                let steps = [("Read the file", "completed"), (rest, "in_progress")]
                    .map(|(content, status)| json!({ "content": content, "status": status }));
                agent.update(json!({ "sessionUpdate": "plan", "entries": steps })).await;
            }
            "usage" => {
                let cost = json!({ "amount": 0.25, "currency": "USD" });
                let update = json!({ "sessionUpdate": "usage_update", "used": 1200, "size": 200000, "cost": cost });
                agent.update(update).await;
            }
            "tool" => self.tool(rest).await,
            "ask" => self.ask(rest).await,
            "make" => self.make(rest).await,
            // An update as it stands there.
            "emit" => agent.update(serde_json::from_str(rest).unwrap_or_default()).await,
            "pause" => {
                tokio::time::sleep(Duration::from_millis(rest.parse().unwrap_or(100))).await;
            }
            "flood" => {
                for number in 0..rest.parse().unwrap_or(1000) {
                    self.words("agent_message_chunk", &format!("{number} ")).await;
                }
            }
            "calls" => {
                for number in 0..rest.parse().unwrap_or(1000) {
                    let id = format!("call-{number}");
                    agent.update(json!({
                        "sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Call {number}"),
                        "status": "completed", "rawInput": { "number": number },
                    }))
                    .await;
                }
            }
            "door" => {
                // As it is told; the token itself would be taken out of what is shown.
                let (_, header) = agent.tools();
                let is_set = std::env::var_os("OD_CHAT_TOKEN").is_some();
                let told = if header.contains("odt.v1.") { "a token" } else { header.as_str() };
                self.words("agent_message_chunk", &format!("told {told}, variable {is_set}")).await;
            }
            "replay" => self.replay().await,
            "bomb" => {
                self.everywhere(&serde_json::from_str::<String>(rest).unwrap_or_default()).await;
            }
            "asks" => self.ask_at_once(rest.parse().unwrap_or(50)).await,
            "noise" | "line" | "fork" => self.misbehave(command, rest).await,
            "hang" => std::future::pending::<()>().await,
            "crash" => {
                let _ = std::io::stderr().write_all(b"fake agent: out of memory\n");
                std::process::exit(9);
            }
            "refuse" => return Some("refusal"),
            "unknown" => {
                let answer = agent.ask("fs/read_text_file", json!({ "path": "/etc/passwd" })).await;
                self.words("agent_message_chunk", &format!("read: {answer}")).await;
            }
            _ => self.words("agent_message_chunk", &format!("You said: {command} {rest}")).await,
        }
        None
    }

    /// Sends what no agent should: noise, a line without an end, processes that stay.
    async fn misbehave(&self, command: &str, rest: &str) {
        let agent = self.agent;
        match command {
            "noise" => agent.raw(b"Warning: something\n{\"half\": \n\xff\xfe\n\n").await,
            "line" => {
                let part = vec![b'x'; 1 << 20];
                for _ in 0..rest.parse().unwrap_or(32) {
                    agent.raw(&part).await;
                }
                agent.raw(b"\n").await;
            }
            _ => {
                // One in the group, one in a session of its own.
                for program in [&["sleep", "300"][..], &["setsid", "sleep", "301"][..]] {
                    let mut started = Command::new(program[0]);
                    started.args(&program[1..]).stdin(Stdio::null()).stdout(Stdio::null());
                    let id = started.spawn().map(|child| child.id()).unwrap_or_default();
                    self.words("agent_message_chunk", &format!("pid {id} ")).await;
                }
            }
        }
    }

    async fn words(&self, kind: &str, text: &str) {
        let text = text.replace("\\n", "\n");
        let content = json!({ "type": "text", "text": text });
        self.agent.update(json!({ "sessionUpdate": kind, "content": content })).await;
    }

    async fn tool(&self, title: &str) {
        let call = json!({
            "sessionUpdate": "tool_call", "toolCallId": format!("t-{title}"), "title": title,
            "kind": "execute", "status": "in_progress", "rawInput": { "command": title },
        });
        self.agent.update(call).await;
        let content =
            [json!({ "type": "content", "content": { "type": "text", "text": "its result" } })];
        self.agent
            .update(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": format!("t-{title}"),
                "status": "completed", "content": content,
            }))
            .await;
    }

    async fn ask(&self, title: &str) {
        let options = [
            ("all", "Always", "allow_always"),
            ("once", "Allow", "allow_once"),
            ("no", "Reject", "reject_once"),
        ]
        .map(|(id, name, kind)| json!({ "optionId": id, "name": name, "kind": kind }));
        let call = json!({
            "toolCallId": format!("shell__{title}"), "title": title, "kind": "execute",
            "status": "pending", "rawInput": { "command": title },
        });
        let params = json!({ "sessionId": SESSION, "toolCall": call, "options": options });
        let answer = self.agent.ask("session/request_permission", params).await;
        let outcome = &answer["outcome"];
        let said =
            outcome["optionId"].as_str().or(outcome["outcome"].as_str()).unwrap_or("nothing");
        self.words("agent_message_chunk", &format!("answer: {said}\n")).await;
    }

    /// Sends what a real agent sent; what it asked waits for its answer.
    async fn replay(&self) {
        let agent = self.agent;
        for sent in agent.recorded.iter().flat_map(|recorded| recorded.sent()) {
            if sent.is_asked {
                let answer = agent.ask(&sent.method, sent.params).await;
                self.words("agent_message_chunk", &format!("\n[answered {answer}]\n")).await;
            } else {
                let (method, params) = (sent.method, sent.params);
                let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                agent.write(&message).await;
            }
        }
    }

    /// Says one text wherever an agent can say something.
    async fn everywhere(&self, text: &str) {
        let agent = self.agent;
        let words = json!({ "type": "text", "text": text });
        for kind in ["agent_message_chunk", "agent_thought_chunk"] {
            agent.update(json!({ "sessionUpdate": kind, "content": words })).await;
        }
        agent
            .update(json!({
                "sessionUpdate": "tool_call", "toolCallId": text, "title": text, "name": text,
                "kind": text, "status": "completed", "rawInput": { text: text },
                "content": [{ "type": "content", "content": words },
                    { "type": "diff", "path": text, "oldText": text, "newText": text }],
            }))
            .await;
        let steps = [json!({ "content": text, "status": text })];
        agent.update(json!({ "sessionUpdate": "plan", "entries": steps })).await;
        let cost = json!({ "amount": 1, "currency": text });
        agent.update(json!({ "sessionUpdate": "usage_update", "used": 1, "cost": cost })).await;
        agent.update(json!({ "sessionUpdate": "session_info_update", "title": text })).await;
    }

    /// Asks so many questions under one id, and waits for no answer.
    async fn ask_at_once(&self, count: u64) {
        let options = [json!({ "optionId": "no", "name": "Reject", "kind": "reject_once" })];
        for number in 0..count {
            let call = json!({ "toolCallId": format!("q-{number}"), "title": format!("Question {number}") });
            let params = json!({ "sessionId": SESSION, "toolCall": call, "options": options });
            let message = json!({
                "jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params,
            });
            self.agent.write(&message).await;
        }
    }

    /// Makes an artifact with od's tools, as its own tool call.
    async fn make(&self, title: &str) {
        let (base, header) = self.agent.tools();
        // As Claude Code does with the headers of its tool servers.
        let variable = std::env::var("OD_CHAT_TOKEN").unwrap_or_default();
        let header = header.replace("${OD_CHAT_TOKEN}", &variable);
        let body = json!({
            "input": { "title": title, "document": {
                "format": "html_template_v1", "dataJson": { "visits": 12 },
            } },
            "templateHtml": "<!doctype html><title>Visits</title><body><h1>{{data.visits}} visits</h1>",
        });
        let call = json!({
            "sessionUpdate": "tool_call", "toolCallId": "make", "title": "od_live_artifacts_create",
            "status": "in_progress", "rawInput": body,
        });
        self.agent.update(call).await;
        let answer = post(&base, "/api/tools/live-artifacts/create", &header, &body);
        let content = [json!({ "type": "content", "content": { "type": "text", "text": answer } })];
        self.agent
            .update(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": "make",
                "status": "completed", "content": content,
            }))
            .await;
    }
}

fn post(base: &str, path: &str, authorization: &str, body: &Value) -> String {
    let host = base.trim_start_matches("http://");
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let sent = TcpStream::connect(host).and_then(|mut stream| {
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    });
    match sent {
        Ok(answer) => {
            answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
        }
        Err(error) => error.to_string(),
    }
}
