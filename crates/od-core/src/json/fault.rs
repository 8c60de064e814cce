//! The faults of a JSON document.

use std::fmt;

use super::Value;
use super::pointer::Pointer;
use crate::error::Issue;
use crate::limits::{self, Limit};

/// Which rule of bounded JSON was broken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FaultKind {
    /// The text is not JSON; nothing after it was read.
    Syntax,
    /// The root is not an object.
    NotAnObject,
    /// Objects and arrays nest too deep.
    TooDeep,
    /// An object has too many keys.
    TooManyKeys,
    /// An array has too many items.
    TooManyItems,
    /// A string or key is too long.
    StringTooLong,
    /// The document is too large.
    DocumentTooLarge,
    /// A key stands twice in one object.
    DuplicateKey,
    /// A string or key holds U+0000.
    NulCharacter,
    /// A string or key holds half of a surrogate pair.
    LoneSurrogate,
    /// A number is not exact in a double, or is infinite.
    InexactNumber,
    /// A key is never stored.
    DeniedKey,
}

impl FaultKind {
    /// Returns the code of the issue the fault becomes.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax => "json_syntax",
            Self::NotAnObject => "not_an_object",
            Self::TooDeep => "too_deep",
            Self::TooManyKeys => "too_many_keys",
            Self::TooManyItems => "too_many_items",
            Self::StringTooLong => "string_too_long",
            Self::DocumentTooLarge => "document_too_large",
            Self::DuplicateKey => "duplicate_key",
            Self::NulCharacter => "nul_character",
            Self::LoneSurrogate => "lone_surrogate",
            Self::InexactNumber => "inexact_number",
            Self::DeniedKey => "denied_key",
        }
    }

    /// Returns whether something was too large, rather than of the wrong kind.
    #[must_use]
    pub const fn is_size(self) -> bool {
        match self {
            Self::TooDeep
            | Self::TooManyKeys
            | Self::TooManyItems
            | Self::StringTooLong
            | Self::DocumentTooLarge => true,
            Self::Syntax
            | Self::NotAnObject
            | Self::DuplicateKey
            | Self::NulCharacter
            | Self::LoneSurrogate
            | Self::InexactNumber
            | Self::DeniedKey => false,
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::Syntax => "this is not JSON",
            Self::NotAnObject => "the root must be an object",
            Self::TooDeep => "objects and arrays nest too deep",
            Self::TooManyKeys => "the object has too many keys",
            Self::TooManyItems => "the array has too many items",
            Self::StringTooLong => "the string is too long",
            Self::DocumentTooLarge => "the document is too large",
            Self::DuplicateKey => "the key stands twice in one object",
            Self::NulCharacter => "the text holds a NUL character",
            Self::LoneSurrogate => "the text holds half of a surrogate pair",
            Self::InexactNumber => "the number is not exact in a double",
            Self::DeniedKey => "the key is never stored",
        }
    }

    const fn fix(self) -> &'static str {
        match self {
            Self::Syntax => "send one JSON document",
            Self::NotAnObject => "wrap the value in an object, such as {\"items\": …}",
            Self::TooDeep => "flatten the data to what the template shows",
            Self::TooManyKeys => "keep the keys the template shows, or use an array of rows",
            Self::TooManyItems => "keep the items the template shows, and a count of the rest",
            Self::StringTooLong => "shorten the text to what the template shows",
            Self::DocumentTooLarge => {
                "keep summaries and rows the template shows, not whole responses"
            }
            Self::DuplicateKey => "keep one of the two",
            Self::NulCharacter => "remove the character",
            Self::LoneSurrogate => "write the whole pair, or remove it",
            Self::InexactNumber => "send it as a string",
            Self::DeniedKey => {
                "rename the key to what the value means, or leave it out if it is secret or raw"
            }
        }
    }
}

/// One broken rule of a document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JsonFault {
    /// Which rule.
    pub kind: FaultKind,
    /// Where, as a JSON pointer; empty for the root.
    pub pointer: String,
    /// The text that was found.
    pub got: String,
    /// The values that are allowed.
    pub want: String,
}

impl JsonFault {
    /// Returns the fault as an issue whose path is below `prefix`.
    #[must_use]
    pub fn issue(&self, prefix: &str) -> Issue {
        Issue::new(format!("{prefix}{}", self.pointer), self.kind.code(), self.kind.message())
            .got(&self.got)
            .want(self.want.as_str())
            .fix(self.kind.fix())
    }
}

/// Every fault found in a document: at most 20, in document order, and how many more there were.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct JsonFaults {
    faults: Vec<JsonFault>,
    more: usize,
}

impl JsonFaults {
    /// Returns the faults that are reported.
    #[must_use]
    pub fn faults(&self) -> &[JsonFault] {
        &self.faults
    }

    /// Returns how many faults were found beyond those that are reported.
    #[must_use]
    pub const fn more(&self) -> usize {
        self.more
    }

    /// Returns whether the text was not JSON at all.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.faults.iter().any(|fault| fault.kind == FaultKind::Syntax)
    }

    /// Returns whether the document is only too large: nothing in it is wrong, and it does not nest
    /// too deep, which is a matter of its form.
    #[must_use]
    pub fn is_size(&self) -> bool {
        let only_large =
            |fault: &JsonFault| fault.kind.is_size() && fault.kind != FaultKind::TooDeep;
        self.faults.iter().all(only_large)
    }

    /// Returns the limit of the first fault, in words.
    #[must_use]
    pub fn limit(&self) -> &str {
        self.faults.first().map_or("", |fault| fault.want.as_str())
    }

    /// Returns the faults as issues whose paths are below `prefix`.
    #[must_use]
    pub fn issues(&self, prefix: &str) -> Vec<Issue> {
        self.faults.iter().map(|fault| fault.issue(prefix)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Notes a fault; the pointer and the found text are made only for those that are reported.
    pub(super) fn note(
        &mut self,
        kind: FaultKind,
        pointer: impl FnOnce() -> Pointer,
        got: impl FnOnce() -> String,
        want: impl FnOnce() -> String,
    ) {
        if self.faults.len() < limits::JSON_FAULTS.max() {
            let pointer = pointer().into_string();
            self.faults.push(JsonFault { kind, pointer, got: got(), want: want() });
        } else {
            self.more += 1;
        }
    }

    /// Notes that something was larger than a limit.
    pub(super) fn note_over(
        &mut self,
        kind: FaultKind,
        pointer: impl FnOnce() -> Pointer,
        measured: usize,
        limit: &Limit,
    ) {
        self.note(kind, pointer, || format!("{measured} {}", limit.unit), || limit.want());
    }

    /// Notes a syntax fault, which is reported however many others there are.
    pub(super) fn note_syntax(&mut self, got: String) {
        if self.faults.len() >= limits::JSON_FAULTS.max() {
            self.faults.pop();
            self.more += 1;
        }
        self.faults.push(JsonFault {
            kind: FaultKind::Syntax,
            pointer: String::new(),
            got,
            want: "JSON as RFC 8259 defines it, in UTF-8".to_owned(),
        });
    }
}

impl fmt::Display for JsonFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.faults.first() else { return f.write_str("no fault") };
        let place = if first.pointer.is_empty() { "the document" } else { &first.pointer };
        write!(f, "{place}: {} ({})", first.kind.message(), first.got)?;
        match self.faults.len() - 1 + self.more {
            0 => Ok(()),
            rest => write!(f, " and {rest} more"),
        }
    }
}

impl std::error::Error for JsonFaults {}

/// Describes a value's type for the `got` of an issue, never its content.
#[must_use]
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
