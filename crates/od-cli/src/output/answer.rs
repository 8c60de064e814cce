//! The two ways a verb ends: an answer, or a refusal.

use serde_json::{Map, Value, json};

use super::exit::Exit;
use super::text::{Style, Text};
use crate::args::UsageError;

/// What a verb has to say when it ran.
#[derive(Debug)]
pub struct Answer {
    /// Fields of the JSON document, besides `ok`.
    pub json: Map<String, Value>,
    /// The same for people.
    pub text: Text,
    /// How the program ends; [`Exit::Found`] makes `ok` false.
    pub exit: Exit,
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
        Self { json: fields, text, exit: Exit::Ok }
    }

    /// Sets how the program ends.
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

/// Why a verb did not do what it was asked.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The HTTP status, where the refusal has one.
    pub status: Option<u16>,
    /// The `error` object of the envelope.
    pub error: Map<String, Value>,
    /// How the program ends.
    pub exit: Exit,
    /// The usage line, when the command line was wrong.
    pub usage: Option<String>,
}

impl Refusal {
    /// Returns a refusal of our own making, in the shape of the envelope.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>, exit: Exit) -> Self {
        let mut error = Map::new();
        error.insert("code".to_owned(), json!(code));
        error.insert("message".to_owned(), json!(message.into()));
        error.insert("retry".to_owned(), json!({ "kind": "not_retryable" }));
        Self { status: None, error, exit, usage: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn suggesting(mut self, suggestion: impl Into<String>) -> Self {
        self.error.insert("suggestion".to_owned(), json!(suggestion.into()));
        self
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.error.insert("details".to_owned(), details);
        self
    }

    /// Returns the JSON document.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({ "ok": false, "status": self.status, "error": self.error })
    }

    /// Returns the refusal for people.
    #[must_use]
    pub fn text(&self) -> Text {
        let field = |name: &str| self.error.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut text =
            Text::new().pieces(&[(Style::Bad, "error: "), (Style::Plain, field("message"))]);
        let issues = self.error.get("details").and_then(|details| details.get("issues"));
        for issue in issues.and_then(Value::as_array).into_iter().flatten() {
            text = text.then(issue_text(issue));
        }
        if !field("suggestion").is_empty() {
            text = text.pieces(&[(Style::Bold, "  hint: "), (Style::Plain, field("suggestion"))]);
        }
        if let Some(usage) = &self.usage {
            text = text.pieces(&[(Style::Dim, "  usage: "), (Style::Plain, usage)]);
        }
        let mut trail = format!("  code {}", field("code"));
        if !field("requestId").is_empty() {
            trail.push_str(&format!(", request {}", field("requestId")));
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

impl From<UsageError> for Refusal {
    fn from(error: UsageError) -> Self {
        let mut refusal = Self::new("BAD_REQUEST", error.to_string(), Exit::Usage);
        if let Some(suggestion) = error.suggestion() {
            refusal = refusal.suggesting(suggestion);
        }
        refusal.usage = error.usage();
        refusal
    }
}
