//! The two outcomes of a verb: an answer, or an error.

use od_client::CallError;
use od_core::error::{ErrorCode, Failure};
use od_wire::error::Envelope;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::exit::Exit;
use super::text::{Style, Text};
use crate::args::{Misuse, UsageError};

/// The answer of a verb that ran.
#[derive(Debug)]
pub struct Answer {
    /// Fields of the JSON document, besides `ok`.
    pub json: Map<String, Value>,
    /// The same for people.
    pub text: Text,
    /// The exit code; [`Exit::Found`] makes `ok` false.
    pub exit: Exit,
    /// Whether everything has been written while the verb ran.
    pub is_written: bool,
}

impl Answer {
    /// Returns an answer with exit code 0.
    ///
    /// Anything but an object becomes the field `value`.
    #[must_use]
    pub fn new(json: Value, text: Text) -> Self {
        let mut fields = Map::new();
        if let Value::Object(map) = json {
            fields = map;
        } else {
            fields.insert("value".to_owned(), json);
        }
        Self { json: fields, text, exit: Exit::Ok, is_written: false }
    }

    /// Returns an answer of the wire, with exit code 0.
    #[must_use]
    pub fn of(answer: &impl Serialize, text: Text) -> Self {
        // Strings, numbers and JSON only: writing them cannot fail.
        Self::new(serde_json::to_value(answer).unwrap_or_default(), text)
    }

    /// Marks the answer of a dry run: nothing was changed.
    #[must_use]
    pub fn dry(mut self) -> Self {
        self.json.insert("dryRun".to_owned(), Value::Bool(true));
        self.text = self.text.line("Nothing was changed.");
        self
    }

    /// Returns what removing something with a secret would do.
    #[must_use]
    pub fn would_remove(name: &str) -> Self {
        let text = format!("Would remove {name} and forget its secret.");
        Self::new(json!({ "dryRun": true, "name": name }), Text::new().line(&text))
    }

    /// Returns the answer of a verb that has written everything itself.
    #[must_use]
    pub fn silent() -> Self {
        Self { json: Map::new(), text: Text::new(), exit: Exit::Ok, is_written: true }
    }

    /// Sets the exit code.
    #[must_use]
    pub fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Returns the JSON document.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = Map::new();
        document.insert("ok".to_owned(), Value::Bool(self.exit == Exit::Ok));
        document.extend(self.json.clone());
        Value::Object(document)
    }
}

/// The error that a verb ended with.
#[derive(Clone, Debug)]
pub struct CommandError {
    /// The error in the form that every door has.
    pub failure: Box<Failure>,
    /// The id of the request at the daemon, if it came that far.
    pub request_id: Option<String>,
    /// The exit code.
    pub exit: Exit,
    /// The usage line, when the command line was wrong.
    pub usage: Option<String>,
}

impl CommandError {
    /// Returns an error of our own making.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::from(Failure::new(code, message))
    }

    /// Sets the suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.failure.suggestion = suggestion.into();
        self
    }

    /// Adds one detail for programs.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        let details = self.failure.details.get_or_insert_with(Map::new);
        details.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the exit code, where that is not the error code's own.
    #[must_use]
    pub fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Returns the JSON document.
    #[must_use]
    pub fn document(&self) -> Value {
        let Envelope { error } = Envelope::new(*self.failure.clone(), self.request_id.clone());
        json!({ "ok": false, "status": self.failure.code.http_status(), "error": error })
    }

    /// Returns the error for people.
    #[must_use]
    pub fn text(&self) -> Text {
        let failure = &self.failure;
        let mut text =
            Text::new().pieces(&[(Style::Bad, "error: "), (Style::Plain, &failure.message)]);
        let issues = failure.details.as_ref().and_then(|details| details.get("issues"));
        for issue in issues.and_then(Value::as_array).into_iter().flatten() {
            text = text.then(issue_text(issue));
        }
        if !failure.suggestion.is_empty() {
            text = text.pieces(&[(Style::Bold, "  hint: "), (Style::Plain, &failure.suggestion)]);
        }
        if let Some(usage) = &self.usage {
            return text.pieces(&[(Style::Dim, "  usage: "), (Style::Plain, usage)]);
        }
        let mut trail = format!("  code: {}", failure.code);
        if let Some(id) = &self.request_id {
            trail.push_str(&format!(", request {id}"));
        }
        text.styled(Style::Dim, &trail)
    }
}

fn issue_text(issue: &Value) -> Text {
    let field = |name: &str| match issue.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let path = field("path");
    let place = if path.is_empty() { "(whole document)".to_owned() } else { path };
    let mut text = Text::new().pieces(&[
        (Style::Bold, "  "),
        (Style::Bold, &place),
        (Style::Plain, ": "),
        (Style::Plain, &field("message")),
    ]);
    for (label, name) in [("got", "got"), ("want", "want"), ("fix", "fix")] {
        let value = field(name);
        if !value.is_empty() {
            text =
                text.pieces(&[(Style::Dim, &format!("    {label:<4} ")), (Style::Plain, &value)]);
        }
    }
    text
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        let exit = Exit::from_code(failure.code.exit_code());
        Self { failure: Box::new(failure), request_id: None, exit, usage: None }
    }
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused { envelope: Envelope { error }, .. } => {
                Self { request_id: error.request_id, ..Self::from(error.failure) }
            }
            // Exit 9 tells a script to try again; the error code alone would be one of a fault.
            CallError::Unreachable { .. }
            | CallError::Gone { .. }
            | CallError::Impostor { .. }
            | CallError::TimedOut { .. } => {
                Self::from(Failure::from(error)).ending(Exit::Unavailable)
            }
            CallError::Address { .. }
            | CallError::Bearer
            | CallError::Encode { .. }
            | CallError::Decode { .. }
            | CallError::Broken { .. }
            | CallError::TooLarge { .. } => Self::from(Failure::from(error)),
        }
    }
}

impl From<UsageError> for CommandError {
    fn from(error: UsageError) -> Self {
        Self::from(Misuse::from(error))
    }
}

impl From<Misuse> for CommandError {
    fn from(misuse: Misuse) -> Self {
        let suggestion = misuse.suggestion().unwrap_or_default();
        let mut refusal = Self::new(ErrorCode::BadRequest, misuse.to_string()).suggest(suggestion);
        if let Some(usage) = misuse.usage() {
            refusal = refusal.detail("usage", usage.clone());
            refusal.usage = Some(usage);
        }
        refusal
    }
}
