//! JSON of a source, checked once and held as compact text.
//!
//! A tree of `Value`s takes four to twenty times the bytes of its text (an item of an array 32
//! bytes, a member of an object over 100), so 32 MiB of intake could take half a gigabyte. As text it
//! takes its own size; only what a mapping or a query picks becomes a value.

use std::borrow::Cow;
use std::collections::HashSet;

use super::fault::IntakeFault;
use super::slice::JsonSlice;
use crate::ids::MappingPath;
use crate::json::scan::{Syntax, place, read_number, read_string, write_string};
use crate::json::{Map, Value};
use crate::limits::{INTAKE_DEPTH, INTAKE_ROWS, INTAKE_SOURCE, Limit};

/// One JSON document: no spaces, strings with the fewest escapes, numbers as their source wrote them.
#[derive(Clone, Eq, PartialEq)]
pub struct JsonText {
    text: String,
}

/// Shows no content: it may hold a secret that is not yet scrubbed.
impl std::fmt::Debug for JsonText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JsonText({} bytes)", self.text.len())
    }
}

impl JsonText {
    /// Reads a document and checks it: syntax, depth, array lengths, duplicate keys, NUL.
    ///
    /// A byte order mark at the start is passed over. Keys are unlimited in number and strings in
    /// length, but for the size of the whole: what is stored of it has limits of its own.
    ///
    /// # Errors
    ///
    /// Returns the first fault; reading stops there.
    pub fn parse(bytes: &[u8]) -> Result<Self, IntakeFault> {
        if !INTAKE_SOURCE.allows(bytes.len()) {
            return Err(over(INTAKE_SOURCE, bytes.len()));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader =
            Reader { bytes, at: 0, out: Vec::with_capacity(bytes.len()), scratch: String::new() };
        reader.document_at(1)?;
        // Every byte was copied from checked UTF-8 or written by us.
        let text = String::from_utf8(reader.out).unwrap_or_default();
        Ok(Self { text })
    }

    /// Reads one value a line into an array; empty lines are passed over.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`]; the line of a fault is the line of the whole text.
    pub fn parse_lines(bytes: &[u8]) -> Result<Self, IntakeFault> {
        if !INTAKE_SOURCE.allows(bytes.len()) {
            return Err(over(INTAKE_SOURCE, bytes.len()));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = Reader {
            bytes: b"",
            at: 0,
            out: Vec::with_capacity(bytes.len() + 2),
            scratch: String::new(),
        };
        reader.out.push(b'[');
        let mut count = 0;
        for (before, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            count += 1;
            if !INTAKE_ROWS.allows(count) {
                return Err(over(INTAKE_ROWS, count));
            }
            if count > 1 {
                reader.out.push(b',');
            }
            (reader.bytes, reader.at) = (line, 0);
            reader.document_at(2).map_err(|fault| fault.on_line(before))?;
        }
        reader.out.push(b']');
        Ok(Self { text: String::from_utf8(reader.out).unwrap_or_default() })
    }

    /// Writes a value that is already in memory.
    ///
    /// # Errors
    ///
    /// Fails if the value is deeper, longer or larger than an intake may be, or holds NUL.
    pub fn from_value(value: &Value) -> Result<Self, IntakeFault> {
        let mut out = Vec::new();
        write_checked(&mut out, value, 1)?;
        if !INTAKE_SOURCE.allows(out.len()) {
            return Err(over(INTAKE_SOURCE, out.len()));
        }
        Ok(Self { text: String::from_utf8(out).unwrap_or_default() })
    }

    /// Takes text that the caller wrote in the compact form.
    pub(super) fn from_compact(text: String) -> Self {
        Self { text }
    }

    /// Returns the compact text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the whole document.
    #[must_use]
    pub fn root(&self) -> JsonSlice<'_> {
        JsonSlice::whole(&self.text)
    }

    /// Returns what a path names, if it is there.
    #[must_use]
    pub fn resolve(&self, path: &MappingPath) -> Option<JsonSlice<'_>> {
        path.segments().try_fold(self.root(), |slice, segment| {
            slice.get(segment.key).or_else(|| slice.item(segment.index?))
        })
    }
}

pub(super) fn over(limit: Limit, measured: usize) -> IntakeFault {
    IntakeFault::Over { limit, measured: measured as u64 }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// Strings with escapes are decoded here.
    scratch: String,
}

impl Reader<'_> {
    fn document_at(&mut self, depth: usize) -> Result<(), IntakeFault> {
        self.value(depth)?;
        if self.peek().is_some() {
            return Err(self.syntax("more text after the document"));
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<(), IntakeFault> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(_) => Err(self.syntax("expected a value")),
            None => Err(self.syntax("the text ends where a value should stand")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), IntakeFault> {
        self.open(depth)?;
        let mut seen = Keys::default();
        if self.peek() == Some(b'}') {
            return self.close();
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.syntax("expected a key"));
            }
            let line_at = self.at;
            let key = self.string()?;
            if !seen.insert(&self.out, key.clone()) {
                let key = String::from_utf8_lossy(&self.out[key]).chars().take(40).collect();
                return Err(IntakeFault::DuplicateKey { key, line: place(self.bytes, line_at).0 });
            }
            if self.peek() != Some(b':') {
                return Err(self.syntax("expected `:`"));
            }
            self.copy_byte();
            self.value(depth + 1)?;
            if self.ends(b'}')? {
                return Ok(());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), IntakeFault> {
        self.open(depth)?;
        if self.peek() == Some(b']') {
            return self.close();
        }
        let mut count = 0;
        loop {
            count += 1;
            if !INTAKE_ROWS.allows(count) {
                return Err(over(INTAKE_ROWS, count));
            }
            self.value(depth + 1)?;
            if self.ends(b']')? {
                return Ok(());
            }
        }
    }

    fn open(&mut self, depth: usize) -> Result<(), IntakeFault> {
        if !INTAKE_DEPTH.allows(depth) {
            return Err(over(INTAKE_DEPTH, depth));
        }
        self.copy_byte();
        Ok(())
    }

    fn close(&mut self) -> Result<(), IntakeFault> {
        self.copy_byte();
        Ok(())
    }

    fn ends(&mut self, close: u8) -> Result<bool, IntakeFault> {
        match self.peek() {
            Some(b',') => {
                self.copy_byte();
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.copy_byte();
                Ok(true)
            }
            Some(_) | None => Err(self.syntax("expected `,` or the end of the object or array")),
        }
    }

    /// Copies a string and returns where it stands in the output, quotes excluded.
    fn string(&mut self) -> Result<std::ops::Range<usize>, IntakeFault> {
        let quote = self.at;
        self.scratch.clear();
        let read = read_string(self.bytes, quote, usize::MAX, &mut self.scratch)
            .map_err(|fault| self.at_fault(&fault))?;
        if read.has_nul {
            return Err(IntakeFault::Nul { line: place(self.bytes, quote).0 });
        }
        if read.has_lone_surrogate {
            return Err(self.syntax("half of a surrogate pair"));
        }
        let start = self.out.len() + 1;
        if read.plain {
            self.out.extend_from_slice(&self.bytes[quote..read.end]);
        } else {
            write_string(&mut self.out, &self.scratch);
        }
        self.at = read.end;
        Ok(start..self.out.len() - 1)
    }

    fn number(&mut self) -> Result<(), IntakeFault> {
        let literal = read_number(self.bytes, self.at).map_err(|fault| self.at_fault(&fault))?;
        self.out.extend_from_slice(literal.text.as_bytes());
        self.at += literal.text.len();
        Ok(())
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), IntakeFault> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.syntax("expected a value"));
        }
        self.out.extend_from_slice(word);
        self.at += word.len();
        Ok(())
    }

    fn copy_byte(&mut self) {
        self.out.push(self.bytes[self.at]);
        self.at += 1;
    }

    /// Skips space and returns the byte after it.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn syntax(&self, what: &'static str) -> IntakeFault {
        self.at_fault(&Syntax { at: self.at, what })
    }

    fn at_fault(&self, fault: &Syntax) -> IntakeFault {
        let (line, column) = place(self.bytes, fault.at);
        IntakeFault::Syntax { what: fault.what.to_owned(), line, column }
    }
}

/// The keys of one object, by where they stand in the output. Small objects, which most are, are
/// compared one by one: a hash set for each row of 200,000 cost a third of the parse.
#[derive(Default)]
struct Keys {
    few: Vec<std::ops::Range<usize>>,
    many: HashSet<Vec<u8>>,
}

impl Keys {
    const FEW: usize = 32;

    /// Adds a key; returns false if it is there already.
    fn insert(&mut self, out: &[u8], key: std::ops::Range<usize>) -> bool {
        let text = &out[key.clone()];
        if self.many.is_empty() {
            if self.few.iter().any(|seen| out[seen.clone()] == *text) {
                return false;
            }
            self.few.push(key);
            if self.few.len() > Self::FEW {
                self.many = self.few.iter().map(|seen| out[seen.clone()].to_vec()).collect();
            }
            return true;
        }
        self.many.insert(text.to_vec())
    }
}

fn write_checked(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), IntakeFault> {
    let is_container = value.is_array() || value.is_object();
    if is_container && !INTAKE_DEPTH.allows(depth) {
        return Err(over(INTAKE_DEPTH, depth));
    }
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::String(text) => write_text(out, text)?,
        Value::Array(items) => write_array(out, items, depth)?,
        Value::Object(map) => write_object(out, map, depth)?,
    }
    Ok(())
}

fn write_array(out: &mut Vec<u8>, items: &[Value], depth: usize) -> Result<(), IntakeFault> {
    if !INTAKE_ROWS.allows(items.len()) {
        return Err(over(INTAKE_ROWS, items.len()));
    }
    out.push(b'[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_checked(out, item, depth + 1)?;
    }
    out.push(b']');
    Ok(())
}

fn write_object(out: &mut Vec<u8>, map: &Map, depth: usize) -> Result<(), IntakeFault> {
    out.push(b'{');
    for (i, (key, item)) in map.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_text(out, key)?;
        out.push(b':');
        write_checked(out, item, depth + 1)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), IntakeFault> {
    if text.contains('\0') {
        return Err(IntakeFault::Nul { line: 1 });
    }
    write_string(out, text);
    Ok(())
}

/// Returns the text of a string literal of the compact form, quotes included.
pub(super) fn unescape(literal: &str) -> Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    // The literal was written by `write_string`, which `serde_json` reads back.
    serde_json::from_str::<String>(literal).map_or(Cow::Borrowed(inner), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn fault(text: &str) -> IntakeFault {
        JsonText::parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn text_is_compact_and_numbers_stay_as_they_were_written() {
        let text = "\u{feff} { \"a\" : [ 1.50 , 123456789012345678901234567890 , -0 ] ,\n \"\\u0062\" : \"x\\/\\u00e9\\n\" } ";
        let parsed = JsonText::parse(text.as_bytes()).unwrap();
        assert_eq!(
            parsed.as_str(),
            r#"{"a":[1.50,123456789012345678901234567890,-0],"b":"x/é\n"}"#
        );
    }

    #[test]
    fn every_limit_is_named_where_it_is_passed() {
        let deep = format!("{}{}", "[".repeat(33), "]".repeat(33));
        assert_eq!(fault(&deep), over(INTAKE_DEPTH, 33));
        let long = format!("[{}]", vec!["1"; 200_001].join(","));
        assert_eq!(fault(&long), over(INTAKE_ROWS, 200_001));
        let large = vec![b' '; INTAKE_SOURCE.max() + 1];
        assert_eq!(
            JsonText::parse(&large).unwrap_err(),
            over(INTAKE_SOURCE, INTAKE_SOURCE.max() + 1)
        );
        assert!(fault(&deep).to_string().contains("intake_depth"), "{}", fault(&deep));
    }

    #[test]
    fn what_has_two_meanings_or_none_is_refused() {
        assert_eq!(
            fault("{\n\"a\":1,\n\"\\u0061\":2}"),
            IntakeFault::DuplicateKey { key: "a".to_owned(), line: 3 }
        );
        let many: Vec<String> = (0..100).chain([50]).map(|i| format!("\"k{i}\":0")).collect();
        assert_eq!(
            fault(&format!("{{{}}}", many.join(","))),
            IntakeFault::DuplicateKey { key: "k50".to_owned(), line: 1 }
        );
        assert_eq!(fault("[\"\\u0000\"]"), IntakeFault::Nul { line: 1 });
        for text in ["", "{", "[1,]", "{\"a\"}", "01", "tru", "\"\\ud800\"", "1 2", "NaN", "[1}"] {
            assert!(matches!(fault(text), IntakeFault::Syntax { .. }), "{text:?}");
        }
        assert!(matches!(
            JsonText::parse(b"[\"\xff\"]").unwrap_err(),
            IntakeFault::Syntax { line: 1, column: 3, .. }
        ));
    }

    #[test]
    fn lines_are_the_items_of_an_array_and_faults_name_their_line() {
        let text = "{\"a\": 1}\r\n\n[2]\n\"x\"";
        assert_eq!(
            JsonText::parse_lines(text.as_bytes()).unwrap().as_str(),
            r#"[{"a":1},[2],"x"]"#
        );
        assert_eq!(JsonText::parse_lines(b"").unwrap().as_str(), "[]");
        for (text, line) in [("1\n2 3\n", 2), ("\n\n{\n", 3), ("1\n\"\\u0000\"", 2)] {
            match JsonText::parse_lines(text.as_bytes()).unwrap_err() {
                IntakeFault::Syntax { line: found, .. } | IntakeFault::Nul { line: found } => {
                    assert_eq!(found, line, "{text:?}");
                }
                other @ (IntakeFault::Over { .. } | IntakeFault::DuplicateKey { .. }) => {
                    panic!("{other}")
                }
            }
        }
        let long = "1\n".repeat(200_001);
        assert_eq!(JsonText::parse_lines(long.as_bytes()).unwrap_err(), over(INTAKE_ROWS, 200_001));
    }

    #[test]
    fn a_million_brackets_end_at_the_depth_limit() {
        assert_eq!(fault(&"[".repeat(1_000_000)), over(INTAKE_DEPTH, 33));
    }

    #[test]
    fn a_path_finds_members_and_items() {
        let text =
            JsonText::from_value(&json!({ "a": [{ "b": [10, { "c\"": "x" }] }], "0": 7 })).unwrap();
        let at = |path: &str| text.resolve(&path.parse().unwrap()).map(|slice| slice.to_value());
        assert_eq!(at("a.0.b.0"), Some(json!(10)));
        assert_eq!(at("a.0.b.1"), Some(json!({ "c\"": "x" })));
        assert_eq!(at("0"), Some(json!(7)));
        assert_eq!(at("$"), Some(text.root().to_value()));
        assert_eq!(at("a.1"), None);
        assert_eq!(at("a.b"), None);
        assert_eq!(at("0.x"), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
            "[ -~é😀\n\t\"\\\\]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-z\"\\\\é]{0,4}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_comes_back_from_its_text(value in any_json()) {
            let text = JsonText::from_value(&value).unwrap();
            prop_assert_eq!(&text.root().to_value(), &value);
            let spaced = serde_json::to_vec_pretty(&value).unwrap();
            prop_assert_eq!(JsonText::parse(&spaced).unwrap(), text);
        }
    }
}
