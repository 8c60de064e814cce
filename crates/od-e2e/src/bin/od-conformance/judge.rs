//! Whether an answer is what the case says, and what the contract says of every answer.

use od_core::error::ErrorCode;
use od_core::limits::Limit;
use serde_json::{Value, json};

use crate::Outcome;
use crate::case::Call;
use crate::cli::Ended;
use crate::http::Answer;

/// An answer, whatever door it came through.
pub(crate) struct Said {
    /// `ok`, the code of the refusal, `found` of a command that found problems, or a status without a code.
    pub(crate) code: String,
    /// The payload, or the error; null where the answer is no JSON.
    pub(crate) json: Value,
    /// Everything that was said, as text.
    text: String,
    /// The same without the head of an HTTP answer, which has numbers of its own.
    body: String,
}

/// Reads an answer of the daemon; a status that is not the code's own is a fault.
pub(crate) fn of_http(answer: &Answer) -> Outcome<Said> {
    let mut json = answer.json();
    let text = format!("{}\n\n{}", answer.head, answer.body);
    let body = answer.body.clone();
    if (200..300).contains(&answer.status) {
        return Ok(Said { code: "ok".to_owned(), json, text, body });
    }
    if answer.body.is_empty() && answer.status == 431 {
        // The head is refused before anything reads a request from it, so there is no envelope.
        return Ok(Said { code: "431".to_owned(), json, text, body });
    }
    let error = json["error"].take();
    let code = code_of(&error).ok_or_else(|| format!("a refusal without an envelope: {text}"))?;
    if answer.status != code.http_status() {
        return Err(format!("{code} with status {}", answer.status));
    }
    Ok(Said { code: code.to_string(), json: error, text, body })
}

/// Reads the end of a command; an exit code that is not the code's own, or output on both streams of a
/// JSON answer, is a fault.
pub(crate) fn of_command(ended: &Ended) -> Outcome<Said> {
    let text = format!("{}{}", ended.out, ended.err);
    let body = text.clone();
    if ended.exit == 0 {
        let json = serde_json::from_str(&ended.out).unwrap_or(Value::Null);
        return Ok(Said { code: "ok".to_owned(), json, text, body });
    }
    if ended.exit == 1 && ended.err.is_empty() {
        // It ran and found problems: what it found is the answer.
        let json = serde_json::from_str(&ended.out).unwrap_or(Value::Null);
        return Ok(Said { code: "found".to_owned(), json, text, body });
    }
    let mut document: Value = serde_json::from_str(&ended.err)
        .map_err(|err| format!("exit {} without an envelope ({err}): {text}", ended.exit))?;
    let error = document["error"].take();
    let code = code_of(&error).ok_or_else(|| format!("a refusal without a code: {text}"))?;
    let envelope = document["ok"] == json!(false)
        && document["status"] == json!(code.http_status())
        && ended.out.is_empty();
    // A verb may end with a narrower exit code of its own; the tools of agents end with the code's.
    if !envelope {
        return Err(format!("{code} in another envelope: {text}"));
    }
    Ok(Said { code: code.to_string(), json: error, text, body })
}

/// Reads the end of `od tools …`.
pub(crate) fn of_tool(ended: &Ended) -> Outcome<Said> {
    let said = of_command(ended)?;
    match said.code.parse::<ErrorCode>() {
        Ok(code) if ended.exit != i32::from(code.exit_code()) => {
            Err(format!("{code} with exit {}", ended.exit))
        }
        Ok(_) | Err(_) => Ok(said),
    }
}

fn code_of(error: &Value) -> Option<ErrorCode> {
    let retry = error["retry"]["kind"].is_string() && error["message"].is_string();
    error["code"].as_str()?.parse().ok().filter(|_| retry)
}

/// Names the first thing that is not as the case says.
pub(crate) fn judge(call: &Call, said: &Said) -> Outcome<()> {
    let shown = || {
        let short: String = said.text.chars().take(1_500).collect();
        format!("{short}\n")
    };
    if said.code != call.gives {
        return Err(format!("gave {} instead of {}: {}", said.code, call.gives, shown()));
    }
    for (pointer, want) in &call.holds {
        let got = said.json.pointer(pointer);
        if got != Some(want) {
            return Err(format!("{pointer} is {got:?} and not {want}: {}", shown()));
        }
    }
    for (pointer, want) in &call.counts {
        let got = said.json.pointer(pointer).and_then(size);
        if got != Some(*want) {
            return Err(format!("{pointer} has {got:?} and not {want}: {}", shown()));
        }
    }
    for (pointer, most) in &call.most {
        let bytes = said.json.pointer(pointer).map(|value| value.to_string().len());
        if bytes.is_none_or(|bytes| bytes > *most) {
            return Err(format!("{pointer} has {bytes:?} bytes, more than {most}: {}", shown()));
        }
    }
    for want in &call.says {
        if !said.says(want) {
            return Err(format!("does not say `{want}`: {}", shown()));
        }
    }
    // "Printed in every refusal": what is allowed stands in it as a number.
    let refused = said.code.parse::<ErrorCode>().is_ok();
    let prints = |limit: &Limit| said.says(&limit.allowed.to_string());
    let unprinted = call.limits.iter().find(|limit| refused && !prints(limit));
    match unprinted {
        Some(limit) => {
            Err(format!("does not print the {} of {}: {}", limit.allowed, limit.name, shown()))
        }
        None => Ok(()),
    }
}

impl Said {
    /// Returns whether a text stands in the answer; a number has to stand there by itself.
    fn says(&self, want: &str) -> bool {
        let is_number = !want.is_empty() && want.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return self.text.contains(want);
        }
        self.body.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == want)
    }
}

fn size(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(od_core::limits::utf16_len(text)),
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
