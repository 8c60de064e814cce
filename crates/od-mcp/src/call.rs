//! Calls of tools: arguments as models send them, the daemon's answer as it is, progress, cancellation.

use std::fmt::Write as _;
use std::time::Duration;

use od_core::error::{ErrorCode, Failure, Issue, Retry, nearest_name};
use od_core::json::parse_message;
use od_wire::error::Envelope;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, interval};

use crate::arguments;
use crate::message::{ARGUMENTS, Fault, Request};
use crate::server::{Peer, Server, meta};
use crate::tool::ToolName;

/// The time between two signs that a call still runs, for a client that asked for them.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Where a refused result keeps the daemon's envelope for programs.
const ERROR_META: &str = "od/error";

/// Calls a tool. What the daemon refuses is a result, too: a model reads it and tries again.
pub(crate) async fn tool(
    server: &Server,
    request: &Request,
    peer: &dyn Peer,
) -> Result<Value, Fault> {
    let (tool, name) = named(request)?;
    if let Some(written) = request.written.as_deref().filter(|_| tool.sends_body()) {
        // The daemon refuses it, with whatever else is wrong, as it does through every door.
        let facts = server.facts(request, peer).await;
        return Ok(result(server.door.call_as_written(tool, written, &facts).await, &[]));
    }
    if !request.faults.is_empty() {
        let issues: Vec<Issue> = request.faults.iter().map(in_arguments).collect();
        return Ok(result(Err(Failure::validation(ErrorCode::BadRequest, &issues).into()), &[]));
    }
    let (mut given, was_text) = arguments(&request.params)?;
    let listed = Server::tools().iter().find(|listed| listed["name"] == name);
    let schema = listed.and_then(|listed| listed["inputSchema"].as_object());
    let mut read = match schema {
        Some(schema) => arguments::read_texts(&mut given, schema),
        None => Vec::new(),
    };
    if was_text {
        read.insert(0, "arguments".to_owned());
    }
    let facts = server.facts(request, peer).await;
    let outcome = tokio::select! {
        outcome = server.door.call(tool, &given, &facts) => outcome,
        never = tell_progress(tool, request, peer) => match never {},
    };
    Ok(result(outcome, &read))
}

/// Cancels what a call has started: a refresh goes on at the daemon, whoever hangs up.
pub(crate) async fn cancel(server: &Server, request: &Request) {
    if request.method != "tools/call" {
        return;
    }
    let (Ok((ToolName::RefreshArtifact, _)), Ok((given, _))) =
        (named(request), arguments(&request.params))
    else {
        return;
    };
    if let Some(artifact) = given.get("artifactId") {
        server.door.cancel_refresh(artifact).await;
    }
}

fn named(request: &Request) -> Result<(ToolName, &str), Fault> {
    let Some(name) = request.params.get("name").and_then(Value::as_str) else {
        return Err(Fault::invalid_params("tools/call takes `name` and an object `arguments`"));
    };
    ToolName::from_name(name).map(|tool| (tool, name)).ok_or_else(|| {
        let known = ToolName::ALL.map(ToolName::as_str);
        // Models leave the prefix out, and hosts put one of their own before it.
        let bare = name.rsplit("__").next().unwrap_or(name);
        let near = nearest_name(name, known)
            .or_else(|| nearest_name(&format!("od_{bare}"), known))
            .or_else(|| nearest_name(&format!("od_live_artifacts_{bare}"), known));
        let near = near.map_or_else(|| known.join(", "), |near| format!("did you mean {near}?"));
        Fault::invalid_params(format!("unknown tool: {name}; {near}"))
    })
}

/// Returns the arguments, and whether they came as the text of an object, as some models send them.
fn arguments(params: &Map<String, Value>) -> Result<(Map<String, Value>, bool), Fault> {
    match params.get("arguments") {
        None | Some(Value::Null) => Ok((Map::new(), false)),
        Some(Value::Object(given)) => Ok((given.clone(), false)),
        Some(Value::String(text)) if text.trim().is_empty() => Ok((Map::new(), true)),
        Some(Value::String(text)) => match parse_message(text.as_bytes()) {
            Ok(Value::Object(given)) => Ok((given, true)),
            Ok(_) => Err(Fault::invalid_params("`arguments` is an object")),
            Err(faults) => {
                let said = faults.issues("").first().map(|issue| issue.message.clone());
                let said = said.unwrap_or_default();
                Err(Fault::invalid_params(format!("`arguments` is an object, not a text: {said}")))
            }
        },
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
            Err(Fault::invalid_params("`arguments` is an object"))
        }
    }
}

/// Says a fault of the message where the model wrote it.
fn in_arguments(issue: &Issue) -> Issue {
    let path = issue.path.strip_prefix(ARGUMENTS).unwrap_or(&issue.path);
    Issue { path: path.to_owned(), ..issue.clone() }
}

/// Tells a client that asked how long a slow tool has been running; never returns.
async fn tell_progress(
    tool: ToolName,
    request: &Request,
    peer: &dyn Peer,
) -> std::convert::Infallible {
    if let Some(token) = meta(&request.params, "progressToken").filter(|_| tool.may_be_slow()) {
        let started = Instant::now();
        let mut ticks = interval(PROGRESS_EVERY);
        loop {
            ticks.tick().await;
            let seconds = started.elapsed().as_secs();
            let told = peer.send(json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                    "progressToken": token,
                    "progress": seconds,
                    "message": format!("{} running for {seconds} s", tool.as_str()),
                },
            }));
            if !told {
                break;
            }
        }
    }
    std::future::pending().await
}

fn result(outcome: Result<Value, Envelope>, read_texts: &[String]) -> Value {
    let mut result = match outcome {
        Ok(payload) => json!({
            "content": [{ "type": "text", "text": payload.to_string() }],
            "structuredContent": payload,
            "isError": false,
        }),
        Err(Envelope { error }) => json!({
            "content": [{ "type": "text", "text": refusal_text(&error.failure) }],
            "isError": true,
            "_meta": { ERROR_META: error },
        }),
    };
    if let (false, Some(content)) = (read_texts.is_empty(), result["content"].as_array_mut()) {
        let places = read_texts.join(", ");
        content.push(json!({ "type": "text", "text": format!(
            "Note: {places} came as the text of JSON and was read as JSON. Send the object itself."
        ) }));
    }
    result
}

/// Writes a refusal for a model: what was wrong, every issue with its fix, what to do next.
///
/// Says nothing that the daemon's answer does not say.
pub(crate) fn refusal_text(failure: &Failure) -> String {
    let mut text = format!("{}: {}", failure.code.as_str(), failure.message);
    let listed = failure.details.as_ref().and_then(|details| details.get("issues"));
    let issues: Vec<Issue> =
        listed.and_then(|issues| serde_json::from_value(issues.clone()).ok()).unwrap_or_default();
    for issue in &issues {
        text.push_str("\n- ");
        write_issue(&mut text, issue);
    }
    if !failure.suggestion.is_empty() {
        push(&mut text, format_args!("\nTo do: {}", failure.suggestion));
    }
    match failure.retry {
        Retry::NotRetryable => {}
        Retry::RetryableImmediate => text.push_str("\nThe same call may be made again."),
        Retry::RetryableAfterMs { after_ms } => {
            push(&mut text, format_args!("\nThe same call may be made again in {after_ms} ms."));
        }
    }
    for (name, value) in failure.details.iter().flatten() {
        if name != "issues" && name != "kind" {
            push(&mut text, format_args!("\n{name}: {value}"));
        }
    }
    text
}

fn write_issue(text: &mut String, issue: &Issue) {
    let place = if issue.path.is_empty() { "(root)" } else { &issue.path };
    push(text, format_args!("{place} [{}]: {}", issue.code, issue.message));
    for (label, part) in [("got", &issue.got), ("want", &issue.want), ("fix", &issue.fix)] {
        if let Some(part) = part {
            push(text, format_args!("; {label}: {part}"));
        }
    }
}

fn push(text: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = text.write_fmt(piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_issue_comes_with_its_fix_and_nothing_is_added() {
        let issues = [
            Issue::new("/input/title", "required", "`title` is missing").fix("add `title`"),
            Issue::new("template.html:1:4", "TEMPLATE_BINDING_INVALID", "unknown path")
                .got("data.x")
                .want("data.n"),
        ];
        assert_eq!(
            refusal_text(&Failure::validation(ErrorCode::LiveArtifactInvalid, &issues)),
            "LIVE_ARTIFACT_INVALID: /input/title: `title` is missing (and 1 more)\n\
             - /input/title [required]: `title` is missing; fix: add `title`\n\
             - template.html:1:4 [TEMPLATE_BINDING_INVALID]: unknown path; got: data.x; want: data.n\n\
             To do: add `title`"
        );
    }

    #[test]
    fn a_locked_artifact_says_when_to_come_back_and_what_holds_it() {
        let failure = Failure::new(ErrorCode::RefreshLocked, "a refresh is running")
            .suggest("wait for it")
            .retry(Retry::RetryableAfterMs { after_ms: 500 })
            .detail("refreshId", "refresh-000002");
        assert_eq!(
            refusal_text(&failure),
            "REFRESH_LOCKED: a refresh is running\nTo do: wait for it\n\
             The same call may be made again in 500 ms.\nrefreshId: \"refresh-000002\""
        );
    }
}
