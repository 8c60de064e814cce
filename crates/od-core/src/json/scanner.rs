//! One pass from bytes to a checked value.
//!
//! Hand-written rather than driven through serde: only the literal tells an integer from a double,
//! only the scanner can go on past a lone surrogate, and content past a limit has to be skipped at
//! any depth without recursion and without being held.

use super::check::Rules;
use super::deny::is_denied_key;
use super::fault::{FaultKind, JsonFaults};
use super::pointer::Pointer;
use super::{Map, Value, literal, text};
use crate::limits::Limit;

/// The text is not JSON: where, and what is wrong there.
pub(crate) struct Syntax {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

pub(crate) type Scan<T> = Result<T, Syntax>;

/// One step of the path to the value being read.
#[derive(Clone, Copy)]
enum Step {
    /// A member: where its key stands, quotes excluded.
    Key { start: usize, end: usize },
    /// An item.
    Index(usize),
}

pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    rules: &'a Rules,
    faults: JsonFaults,
    path: Vec<Step>,
    /// Bytes of canonical form so far.
    size: usize,
    /// Whether values are still kept.
    holding: bool,
    /// Whether they are kept past a fault, with a stand-in for what was at fault.
    keeping: bool,
    /// Escaped strings are decoded here.
    scratch: String,
}

/// Reads one document: its value and canonical size, or every fault.
pub(super) fn scan(bytes: &[u8], rules: &Rules) -> Result<(Value, usize), JsonFaults> {
    let read = scan_all(without_mark(bytes), rules, false)?;
    if read.faults.is_empty() { Ok((read.value, read.size)) } else { Err(read.faults) }
}

/// Reads one document past its faults, with a stand-in for each value that is at fault: a zero for
/// a number, a replacement character in a text, null for what is too large to hold.
pub(super) fn scan_past_faults(
    bytes: &[u8],
    rules: &Rules,
) -> Result<(Value, JsonFaults), JsonFaults> {
    let read = scan_all(without_mark(bytes), rules, true)?;
    if read.is_whole { Ok((read.value, read.faults)) } else { Err(read.faults) }
}

/// Leaves the byte order mark out that some editors write before a document (RFC 8259, 8.1).
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The result of reading a document.
struct Reading {
    value: Value,
    size: usize,
    faults: JsonFaults,
    /// Whether everything the document holds is in the value.
    is_whole: bool,
}

fn scan_all(bytes: &[u8], rules: &Rules, keeping: bool) -> Result<Reading, JsonFaults> {
    let mut scanner = Scanner {
        bytes,
        at: 0,
        rules,
        faults: JsonFaults::default(),
        path: Vec::with_capacity(rules.depth.max()),
        size: 0,
        holding: true,
        keeping,
        scratch: String::new(),
    };
    let value = scanner.document();
    let Scanner { mut faults, size, holding: is_whole, .. } = scanner;
    match value {
        Ok(value) => Ok(Reading { value, size, faults, is_whole }),
        Err(Syntax { at, what }) => {
            let (line, column) = place(bytes, at);
            faults.note_syntax(format!("{what} at line {line}, column {column}"));
            Err(faults)
        }
    }
}

/// Turns an offset into a line and a column, both from 1, the column in bytes.
pub(crate) fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
    (line, column)
}

impl<'a> Scanner<'a> {
    fn document(&mut self) -> Scan<Value> {
        let value = self.value(1)?;
        self.skip_space();
        if self.at < self.bytes.len() {
            return Err(self.syntax("more text after the document"));
        }
        let size = self.size;
        if !self.rules.document.allows(size) {
            let limit = self.rules.document;
            self.over(FaultKind::DocumentTooLarge, size, &limit, true);
        }
        Ok(value)
    }

    /// Reads a value whose container depth, if it is one, is `depth`.
    fn value(&mut self, depth: usize) -> Scan<Value> {
        match self.peek_token() {
            Some(b'"') => self.string_value(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true", Value::Bool(true)),
            Some(b'f') => self.word(b"false", Value::Bool(false)),
            Some(b'n') => self.word(b"null", Value::Null),
            Some(_) => Err(self.syntax("expected a value")),
            None => Err(self.syntax("the text ends where a value should stand")),
        }
    }

    fn object(&mut self, depth: usize) -> Scan<Value> {
        if !self.rules.depth.allows(depth) {
            return self.skip_too_deep(depth);
        }
        self.at += 1;
        self.grow(2);
        let mut map = Map::new();
        if self.peek_token() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(map));
        }
        let mut count = 0;
        loop {
            count += 1;
            if count > self.rules.keys.max() {
                let total = literal::skip_rest(self, b'}', count)?;
                let limit = self.rules.keys;
                self.over(FaultKind::TooManyKeys, total, &limit, false);
                return Ok(Value::Null);
            }
            self.member(depth, &mut map)?;
            if count > 1 {
                self.grow(1);
            }
            if self.ends(b'}')? {
                return Ok(Value::Object(map));
            }
        }
    }

    fn member(&mut self, depth: usize, map: &mut Map) -> Scan<()> {
        if self.peek_token() != Some(b'"') {
            return Err(self.syntax("expected a key"));
        }
        let start = self.at + 1;
        let read = self.string()?;
        let key = self.text_of(start, &read);
        self.path.push(Step::Key { start, end: self.at - 1 });
        if self.rules.denies_keys && is_denied_key(&key) {
            let shown = key.clone();
            self.fault(
                FaultKind::DeniedKey,
                move || format!("`{shown}`"),
                || "none of the keys that name raw responses or credentials".to_owned(),
            );
        }
        if self.peek_token() != Some(b':') {
            return Err(self.syntax("expected `:`"));
        }
        self.at += 1;
        self.grow(1);
        let value = self.value(depth + 1)?;
        // Keys are kept even when values are not: the second of two is found by the first.
        if map.insert(key, if self.holding { value } else { Value::Null }).is_some() {
            self.fault(FaultKind::DuplicateKey, || "a second one".to_owned(), || "one".to_owned());
        }
        self.path.pop();
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Scan<Value> {
        if !self.rules.depth.allows(depth) {
            return self.skip_too_deep(depth);
        }
        self.at += 1;
        self.grow(2);
        let mut items = Vec::new();
        if self.peek_token() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        self.path.push(Step::Index(0));
        let mut count = 0;
        loop {
            count += 1;
            if count > self.rules.items.max() {
                let total = literal::skip_rest(self, b']', count)?;
                self.path.pop();
                let limit = self.rules.items;
                self.over(FaultKind::TooManyItems, total, &limit, false);
                return Ok(Value::Null);
            }
            let item = self.value(depth + 1)?;
            if self.holding {
                items.push(item);
            }
            if count > 1 {
                self.grow(1);
            }
            if self.ends(b']')? {
                self.path.pop();
                return Ok(Value::Array(items));
            }
            if let Some(Step::Index(index)) = self.path.last_mut() {
                *index = count;
            }
        }
    }

    /// Reads what stands after a member or item: `,` for more, or the end.
    fn ends(&mut self, close: u8) -> Scan<bool> {
        match self.peek_token() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            Some(_) | None => Err(self.syntax("expected `,` or the end of the object or array")),
        }
    }

    /// Skips a container below the deepest level, whatever is inside.
    fn skip_too_deep(&mut self, depth: usize) -> Scan<Value> {
        literal::skip_container(self)?;
        let limit = self.rules.depth;
        self.over(FaultKind::TooDeep, depth, &limit, false);
        Ok(Value::Null)
    }

    fn string_value(&mut self) -> Scan<Value> {
        let start = self.at + 1;
        let read = self.string()?;
        // A value is copied only while the document can still be accepted.
        if self.holding { Ok(Value::String(self.text_of(start, &read))) } else { Ok(Value::Null) }
    }

    /// Reads a string or key, noting what is wrong with it; its text is not copied.
    fn string(&mut self) -> Scan<text::Read> {
        self.scratch.clear();
        let units_max = self.rules.string.max();
        let read = text::read(self.bytes, self.at, units_max, &mut self.scratch)?;
        self.at = read.end;
        self.grow(read.size);
        if read.units > units_max {
            let limit = self.rules.string;
            self.over(FaultKind::StringTooLong, read.units, &limit, false);
        }
        if read.has_nul {
            self.fault(FaultKind::NulCharacter, || "\\u0000".to_owned(), || "no NUL".to_owned());
        }
        if read.has_lone_surrogate {
            self.fault(
                FaultKind::LoneSurrogate,
                || "an escape from \\ud800 to \\udfff without its other half".to_owned(),
                || "whole characters".to_owned(),
            );
        }
        Ok(read)
    }

    /// Copies the text of the string just read, which began at `start`.
    fn text_of(&self, start: usize, read: &text::Read) -> String {
        if read.plain {
            // Its bytes were found to be UTF-8 when they were read.
            std::str::from_utf8(&self.bytes[start..read.end - 1]).unwrap_or_default().to_owned()
        } else if read.has_nul {
            self.scratch.replace('\0', "\u{fffd}")
        } else {
            self.scratch.clone()
        }
    }

    fn number(&mut self) -> Scan<Value> {
        let start = self.at;
        let literal = literal::number(self.bytes, start)?;
        self.at += literal.text.len();
        match super::number::hold_literal(&literal) {
            Some(held) => {
                self.grow(held.size);
                Ok(Value::Number(held.number))
            }
            None => {
                let shown: String = literal.text.chars().take(40).collect();
                self.fault(FaultKind::InexactNumber, move || shown, || {
                    "integers within ±(2^53 - 1), or finite doubles that are not larger integers"
                        .to_owned()
                });
                Ok(Value::from(0))
            }
        }
    }

    fn word(&mut self, word: &'static [u8], value: Value) -> Scan<Value> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.syntax("expected a value"));
        }
        self.at += word.len();
        self.grow(word.len());
        Ok(value)
    }

    /// Skips space and returns the byte after it.
    pub(super) fn peek_token(&mut self) -> Option<u8> {
        self.skip_space();
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Counts canonical bytes; past the document limit nothing more is kept.
    fn grow(&mut self, bytes: usize) {
        self.size += bytes;
        if self.size > self.rules.document.max() {
            self.holding = false;
        }
    }

    pub(super) fn syntax(&self, what: &'static str) -> Syntax {
        Syntax { at: self.at, what }
    }

    fn over(&mut self, kind: FaultKind, measured: usize, limit: &Limit, at_root: bool) {
        self.holding &= self.keeping;
        let (bytes, path) = (self.bytes, if at_root { &[][..] } else { &self.path[..] });
        self.faults.note_over(kind, || pointer(bytes, path), measured, limit);
    }

    fn fault(
        &mut self,
        kind: FaultKind,
        got: impl FnOnce() -> String,
        want: impl FnOnce() -> String,
    ) {
        self.holding &= self.keeping;
        let (bytes, path) = (self.bytes, &self.path);
        self.faults.note(kind, || pointer(bytes, path), got, want);
    }
}

/// Writes the path to the value being read, decoding its keys again.
fn pointer(bytes: &[u8], path: &[Step]) -> Pointer {
    path.iter().fold(Pointer::root(), |pointer, step| match *step {
        Step::Index(index) => pointer.index(index),
        Step::Key { start, end } => {
            let mut key = String::new();
            match text::read(bytes, start - 1, usize::MAX, &mut key) {
                Ok(read) if !read.plain => pointer.key(&key),
                Ok(_) | Err(_) => {
                    pointer.key(std::str::from_utf8(&bytes[start..end]).unwrap_or_default())
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::check::BOUNDED;
    use super::super::message::MESSAGE;
    use super::*;

    #[track_caller]
    fn faults(text: &str) -> Vec<(FaultKind, String)> {
        match scan(text.as_bytes(), &BOUNDED) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.faults().iter().map(|f| (f.kind, f.pointer.clone())).collect(),
        }
    }

    #[test]
    fn what_serde_json_reads_is_read_alike() {
        for text in [
            r#" {"a":[1,-2,3.25,1e3,1E-2,true,false,null,"x\u00e9\n\ud83d\ude00/\/"],"b":{}} "#,
            "[]",
            "\"\"",
            "0",
            "[[],[[]],{}]",
        ] {
            let (value, size) = scan(text.as_bytes(), &BOUNDED).unwrap();
            let canonical = super::super::canonical_bytes(&value);
            let oracle: Value = serde_json::from_str(text).unwrap();
            assert_eq!(canonical, super::super::canonical_bytes(&oracle));
            assert_eq!(size, canonical.len());
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "tru",
            "nul",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\n\"",
            "1 2",
            "{}{}",
            "{1:2}",
            "'a'",
            "[1}",
            "NaN",
            "\u{feff}\u{feff}1",
        ] {
            let found = scan(text.as_bytes(), &BOUNDED).unwrap_err();
            assert!(found.is_syntax(), "{text:?}");
        }
        assert!(scan(b"\"\xff\"", &BOUNDED).unwrap_err().is_syntax());
    }

    #[test]
    fn every_fault_is_found_in_one_pass() {
        use FaultKind::{
            DeniedKey, DuplicateKey, InexactNumber, LoneSurrogate, NulCharacter, TooDeep,
        };
        let text = r#"{"a":{"token":1},"n":[0,9007199254740992],"s":"\u0000\ud800","a":2,
            "d":[[[[[[[[1]]]]]]]],"x/y":{"pass~word":1e400}}"#;
        assert_eq!(
            faults(text),
            [
                (DeniedKey, "/a/token".to_owned()),
                (InexactNumber, "/n/1".to_owned()),
                (NulCharacter, "/s".to_owned()),
                (LoneSurrogate, "/s".to_owned()),
                (DuplicateKey, "/a".to_owned()),
                (TooDeep, "/d/0/0/0/0/0/0/0".to_owned()),
                (InexactNumber, "/x~1y/pass~0word".to_owned()),
            ]
        );
    }

    #[test]
    fn at_most_twenty_are_reported_and_the_rest_counted() {
        let text = format!("[{}]", vec!["1e999"; 31].join(","));
        let found = scan(text.as_bytes(), &BOUNDED).unwrap_err();
        assert_eq!((found.faults().len(), found.more()), (20, 11));
    }

    #[test]
    fn a_million_brackets_are_one_fault() {
        let depth = 1_000_000;
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(faults(&text), [(FaultKind::TooDeep, "/0/0/0/0/0/0/0/0".to_owned())]);
        let open = "{\"a\":".repeat(depth);
        assert!(scan(open.as_bytes(), &BOUNDED).unwrap_err().is_syntax());
    }

    #[test]
    fn messages_have_their_own_limits_and_the_same_strictness() {
        let template = "x".repeat(1_000_000);
        let text = format!("{{\"templateHtml\":\"{template}\",\"token\":1}}");
        assert!(scan(text.as_bytes(), &MESSAGE).is_ok());
        let twice = scan(br#"{"a":1,"a":2}"#, &MESSAGE).unwrap_err();
        assert_eq!(twice.faults()[0].kind, FaultKind::DuplicateKey);
    }
}
