//! The HTML tokenizer, after the specification, over the bytes of the template.
//!
//! It differs from a browser's in one thing: what the specification calls a parse error and repairs
//! by dropping or inventing markup is handed on as a token of its own, so that the compiler can
//! refuse it.

use std::borrow::Cow;
use std::ops::Range;

/// The quoting of an attribute value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Quote {
    /// There is no value.
    NoValue,
    Unquoted,
    Quoted,
}

/// One attribute of a start tag.
#[derive(Clone, Debug)]
pub(crate) struct Attribute<'s> {
    /// The name in lower case.
    pub(crate) name: Cow<'s, str>,
    /// The whole attribute.
    pub(crate) span: Range<usize>,
    /// The name.
    pub(crate) name_span: Range<usize>,
    /// The value without its quotes.
    pub(crate) value: Range<usize>,
    pub(crate) quote: Quote,
}

/// A start or end tag.
#[derive(Clone, Debug)]
pub(crate) struct Tag<'s> {
    /// The name in lower case.
    pub(crate) name: Cow<'s, str>,
    pub(crate) span: Range<usize>,
    pub(crate) name_span: Range<usize>,
    pub(crate) attributes: Vec<Attribute<'s>>,
    pub(crate) self_closing: bool,
    /// The place where another attribute could be inserted.
    pub(crate) attributes_end: usize,
}

/// A token of the template.
#[derive(Debug)]
pub(crate) enum Token<'s> {
    /// Text up to the next markup.
    Text(Range<usize>),
    Start(Tag<'s>),
    End(Tag<'s>),
    Comment(Range<usize>),
    Doctype(Range<usize>),
    /// Markup that HTML turns into a comment.
    BogusComment(Range<usize>),
    Cdata(Range<usize>),
    /// A comment without its end; it runs to the end of the template.
    UnclosedComment(Range<usize>),
    /// A tag without its end; HTML drops it.
    UnclosedTag(Range<usize>),
}

/// Reads tokens one after another.
#[derive(Debug)]
pub(crate) struct Scanner<'s> {
    source: &'s str,
    bytes: &'s [u8],
    position: usize,
    /// The attribute list of the tag before, kept for its allocation.
    spare: Vec<Attribute<'s>>,
}

impl<'s> Scanner<'s> {
    pub(crate) fn new(source: &'s str, position: usize) -> Self {
        Self { source, bytes: source.as_bytes(), position, spare: Vec::new() }
    }

    pub(crate) fn seek(&mut self, position: usize) {
        self.position = position;
    }

    /// Takes back a tag so that the next one reuses its allocation.
    pub(crate) fn recycle(&mut self, tag: Tag<'s>) {
        self.spare = tag.attributes;
        self.spare.clear();
    }

    pub(crate) fn next(&mut self) -> Option<Token<'s>> {
        let start = self.position;
        if start >= self.bytes.len() {
            return None;
        }
        if !self.markup_begins(start) {
            let end = self.text_end(start + 1);
            self.position = end;
            return Some(Token::Text(start..end));
        }
        let token = match self.bytes.get(start + 1) {
            Some(b'!') => self.declaration(start),
            Some(b'?') => self.bogus_comment(start),
            Some(b'/') if self.bytes.get(start + 2).is_some_and(u8::is_ascii_alphabetic) => {
                self.tag(start, start + 2).map_or_else(|| self.unclosed(start), Token::End)
            }
            Some(b'/') => self.bogus_comment(start),
            _ => self.tag(start, start + 1).map_or_else(|| self.unclosed(start), Token::Start),
        };
        Some(token)
    }

    /// Finds the end tag of a raw text element: its span, or `None` when it never comes.
    pub(crate) fn raw_end(&self, from: usize, name: &str) -> Option<Range<usize>> {
        let mut at = from;
        while let Some(found) = find(self.bytes, at, b'<') {
            let name_start = found + 2;
            let name_end = name_start + name.len();
            let is_end = self.bytes.get(found + 1) == Some(&b'/')
                && self
                    .bytes
                    .get(name_start..name_end)
                    .is_some_and(|text| text.eq_ignore_ascii_case(name.as_bytes()))
                && self
                    .bytes
                    .get(name_end)
                    .is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'));
            if is_end {
                let mut scanner = Self::new(self.source, found);
                return match scanner.next() {
                    Some(Token::End(tag)) => Some(tag.span),
                    _ => None,
                };
            }
            at = found + 1;
        }
        None
    }

    fn markup_begins(&self, at: usize) -> bool {
        self.bytes[at] == b'<'
            && self
                .bytes
                .get(at + 1)
                .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?'))
            // `</` at the very end is text.
            && !(self.bytes[at + 1] == b'/' && at + 2 == self.bytes.len())
    }

    fn text_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(found) = find(self.bytes, at, b'<') {
            if self.markup_begins(found) {
                return found;
            }
            at = found + 1;
        }
        self.bytes.len()
    }

    fn unclosed(&mut self, start: usize) -> Token<'s> {
        self.position = self.bytes.len();
        Token::UnclosedTag(start..self.bytes.len())
    }

    /// Reads to the next `>`, as HTML does for markup it does not know.
    fn read_to_bracket(&mut self, start: usize) -> Range<usize> {
        let end = find(self.bytes, start, b'>').map_or(self.bytes.len(), |found| found + 1);
        self.position = end;
        start..end
    }

    fn bogus_comment(&mut self, start: usize) -> Token<'s> {
        Token::BogusComment(self.read_to_bracket(start))
    }

    fn declaration(&mut self, start: usize) -> Token<'s> {
        let rest = &self.bytes[start + 2..];
        if rest.starts_with(b"--") {
            return self.comment(start);
        }
        if rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")) {
            let span = self.read_to_bracket(start);
            let closed = self.bytes[span.end - 1] == b'>';
            return if closed { Token::Doctype(span) } else { Token::UnclosedTag(span) };
        }
        if rest.starts_with(b"[CDATA[") {
            let end =
                self.source[start..].find("]]>").map_or(self.bytes.len(), |at| start + at + 3);
            self.position = end;
            return Token::Cdata(start..end);
        }
        self.bogus_comment(start)
    }

    fn comment(&mut self, start: usize) -> Token<'s> {
        let inner = start + 4;
        let rest = &self.bytes[inner..];
        // `<!-->` and `<!--->` are whole comments, not the beginning of one: what follows is text.
        let abrupt = if rest.starts_with(b">") {
            Some(1)
        } else if rest.starts_with(b"->") {
            Some(2)
        } else {
            None
        };
        let end = abrupt.map(|length| inner + length).or_else(|| self.comment_end(inner));
        self.position = end.unwrap_or(self.bytes.len());
        match end {
            Some(end) => Token::Comment(start..end),
            None => Token::UnclosedComment(start..self.bytes.len()),
        }
    }

    fn comment_end(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(found) = find(self.bytes, at, b'>') {
            let before = &self.bytes[from..found];
            // `--!>` ends a comment too (a parse error that browsers repair).
            if before.ends_with(b"--") || before.ends_with(b"--!") {
                return Some(found + 1);
            }
            at = found + 1;
        }
        None
    }

    /// Reads a tag whose name begins at `name_start`; `None` when the template ends inside it.
    fn tag(&mut self, start: usize, name_start: usize) -> Option<Tag<'s>> {
        let ends_name = |byte: u8| is_space(byte) || matches!(byte, b'/' | b'>');
        let name_end = self.find_where(name_start, ends_name)?;
        let mut tag = Tag {
            name: lower_case(&self.source[name_start..name_end]),
            span: start..name_end,
            name_span: name_start..name_end,
            attributes: std::mem::take(&mut self.spare),
            self_closing: false,
            attributes_end: name_end,
        };
        let mut at = name_end;
        loop {
            at = self.find_where(at, |byte| !is_space(byte))?;
            match self.bytes[at] {
                b'>' => break,
                b'/' => {
                    at += 1;
                    tag.self_closing = self.bytes.get(at) == Some(&b'>');
                }
                _ => {
                    let attribute = self.attribute(at)?;
                    at = attribute.span.end;
                    tag.attributes_end = at;
                    tag.attributes.push(attribute);
                }
            }
        }
        tag.span.end = at + 1;
        self.position = at + 1;
        Some(tag)
    }

    fn attribute(&self, start: usize) -> Option<Attribute<'s>> {
        let ends_name = |byte: u8| is_space(byte) || matches!(byte, b'/' | b'>' | b'=');
        // A leading `=` is part of the name.
        let name_end = self.find_where(start + 1, ends_name)?;
        let mut attribute = Attribute {
            name: lower_case(&self.source[start..name_end]),
            span: start..name_end,
            name_span: start..name_end,
            value: name_end..name_end,
            quote: Quote::NoValue,
        };
        let after_name = self.find_where(name_end, |byte| !is_space(byte))?;
        if self.bytes[after_name] != b'=' {
            return Some(attribute);
        }
        let value_start = self.find_where(after_name + 1, |byte| !is_space(byte))?;
        match self.bytes[value_start] {
            quote @ (b'"' | b'\'') => {
                let end = find(self.bytes, value_start + 1, quote)?;
                attribute.value = value_start + 1..end;
                attribute.span.end = end + 1;
                attribute.quote = Quote::Quoted;
            }
            b'>' => {
                attribute.value = value_start..value_start;
                attribute.span.end = value_start;
                attribute.quote = Quote::Unquoted;
            }
            _ => {
                let end = self.find_where(value_start, |byte| is_space(byte) || byte == b'>')?;
                attribute.value = value_start..end;
                attribute.span.end = end;
                attribute.quote = Quote::Unquoted;
            }
        }
        Some(attribute)
    }

    fn find_where(&self, from: usize, test: impl Fn(u8) -> bool) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        rest.iter().position(|byte| test(*byte)).map(|at| from + at)
    }
}

/// White space as HTML means it.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}

/// Finds `needle` at or after `from`.
pub(crate) fn find(bytes: &[u8], from: usize, needle: u8) -> Option<usize> {
    memchr::memchr(needle, bytes.get(from..)?).map(|at| from + at)
}

fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}
