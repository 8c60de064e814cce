//! What real agents sent, recorded: one message of each shape, in the order in which it came.

use std::path::Path;

use serde_json::Value;

/// The session that this agent calls its own, whatever the recorded one was called.
pub(crate) const SESSION: &str = "fake-1";

/// The messages of one real agent.
#[derive(Debug)]
pub(crate) struct Recorded {
    lines: Vec<Value>,
}

impl Recorded {
    /// Reads those of an agent; none if nothing of it was recorded.
    pub(crate) fn of(agent: &str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents");
        let text = std::fs::read_to_string(folder.join(format!("{agent}.jsonl"))).ok()?;
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        lines.ok().map(|lines| Self { lines })
    }

    /// Returns what it answered to a request.
    pub(crate) fn answer(&self, method: &str) -> Option<Value> {
        let line = self.lines.iter().find(|line| line["answers"] == method)?;
        let mut result = line["result"].clone();
        if let Some(id) = result.get_mut("sessionId") {
            *id = SESSION.into();
        }
        Some(result)
    }

    /// Returns what it told and asked by itself, method and parameters.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        let sent = self.lines.iter().filter_map(|line| line.get("sends"));
        sent.map(|message| {
            let mut params = message["params"].clone();
            if let Some(id) = params.get_mut("sessionId") {
                *id = SESSION.into();
            }
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            Sent { method, params, is_asked: message.get("id").is_some() }
        })
        .collect()
    }
}

/// One message that an agent sent by itself.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) params: Value,
    /// Whether it waits for an answer.
    pub(crate) is_asked: bool,
}
