//! Messages to agents.

use od_core::agent::Choice;
use od_ports::agents::OpenConversation;
use serde_json::{Value, json};

use super::message::MessageId;
use crate::catalogue::{KnownAgent, TOKEN_VARIABLE, TokenPlace};

/// The version of the protocol that is spoken. Another one is a draft.
pub(crate) const VERSION: u64 = 1;

/// Returns what is said first. Neither files nor terminals are offered: an agent has its own.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {
            "fs": { "readTextFile": false, "writeTextFile": false },
            "terminal": false,
        },
        "clientInfo": { "name": "od", "title": "Open Design", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Returns how a conversation is begun, or gone on with.
pub(crate) fn open(agent: &KnownAgent, conversation: &OpenConversation) -> Value {
    let OpenConversation { directory, server, tools_url, token, resume } = conversation;
    let bearer = match agent.token {
        TokenPlace::Message => format!("Bearer {}", token.expose()),
        TokenPlace::Variable => format!("Bearer ${{{TOKEN_VARIABLE}}}"),
    };
    let mut params = json!({
        "cwd": directory.to_string_lossy(),
        "mcpServers": [{
            "type": "http",
            "name": server.as_str(),
            "url": tools_url,
            "headers": [{ "name": "Authorization", "value": bearer }],
        }],
    });
    if let Some(resume) = resume {
        params["sessionId"] = json!(resume);
    }
    params
}

/// Returns the line of a request.
pub(crate) fn request(id: i64, method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Returns the line of a notification.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Returns the line that answers a question of permission.
pub(crate) fn permission(id: &MessageId, choice: Option<&Choice>) -> String {
    let outcome = match choice {
        Some(choice) => json!({ "outcome": "selected", "optionId": choice.id }),
        None => json!({ "outcome": "cancelled" }),
    };
    line(&json!({ "jsonrpc": "2.0", "id": id.to_json(), "result": { "outcome": outcome } }))
}

/// Returns the line that refuses a request.
pub(crate) fn refusal(id: &MessageId, code: i64, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    line(&json!({ "jsonrpc": "2.0", "id": id.to_json(), "error": error }))
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}
