//! Strings of JSON: found, checked, measured, and decoded only if they hold escapes.

use super::canonical::ESCAPE_EXTRA;
use super::scanner::{Scan, Syntax};
use crate::limits::utf16_len;

/// The result of reading one string.
pub(crate) struct Read {
    /// The offset after the closing quote.
    pub(crate) end: usize,
    /// Whether the bytes between the quotes are the text itself.
    pub(crate) plain: bool,
    /// The length of the text in UTF-16 code units; exact past the limit, never more than it is.
    pub(super) units: usize,
    /// The bytes that it takes in canonical form, quotes included.
    pub(super) size: usize,
    /// Whether it holds U+0000.
    pub(crate) has_nul: bool,
    /// Whether it holds half of a surrogate pair.
    pub(crate) has_lone_surrogate: bool,
}

/// Reads the string whose opening quote is at `quote`; one with escapes is decoded into `scratch`,
/// as far as `units_max` goes.
pub(crate) fn read(
    bytes: &[u8],
    quote: usize,
    units_max: usize,
    scratch: &mut String,
) -> Scan<Read> {
    let start = quote + 1;
    let stop = find_special(bytes, start)?;
    let head = utf8(bytes, start, stop)?;
    if bytes[stop] == b'"' {
        // A text never has more UTF-16 code units than bytes: most need no counting.
        let units = if head.len() > units_max { utf16_len(head) } else { head.len() };
        return Ok(Read {
            end: stop + 1,
            plain: true,
            units,
            size: head.len() + 2,
            has_nul: false,
            has_lone_surrogate: false,
        });
    }
    let read =
        Read { end: 0, plain: false, units: 0, size: 2, has_nul: false, has_lone_surrogate: false };
    Decoder { bytes, at: start, units_max, scratch, read }.run(head, stop)
}

struct Decoder<'a, 's> {
    bytes: &'a [u8],
    at: usize,
    units_max: usize,
    scratch: &'s mut String,
    read: Read,
}

impl Decoder<'_, '_> {
    fn run(mut self, head: &str, stop: usize) -> Scan<Read> {
        self.run_of_text(head);
        self.at = stop;
        loop {
            if self.bytes[self.at] == b'"' {
                self.read.end = self.at + 1;
                return Ok(self.read);
            }
            self.escape()?;
            let stop = find_special(self.bytes, self.at)?;
            let run = utf8(self.bytes, self.at, stop)?;
            self.run_of_text(run);
            self.at = stop;
        }
    }

    /// Takes text that stands as it is.
    fn run_of_text(&mut self, text: &str) {
        self.read.size += text.len();
        self.read.units += utf16_len(text);
        if self.read.units <= self.units_max {
            self.scratch.push_str(text);
        }
    }

    /// Takes one escape, or two that are one character.
    fn escape(&mut self) -> Scan<()> {
        let letter = self.bytes.get(self.at + 1).copied();
        let plain = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            Some(_) | None => return Err(Syntax { at: self.at, what: "not an escape" }),
        };
        self.at += 2;
        self.character(plain);
        Ok(())
    }

    fn unicode_escape(&mut self) -> Scan<()> {
        let unit = self.hex4(self.at + 2)?;
        self.at += 6;
        let low = if (0xd800..0xdc00).contains(&unit)
            && self.bytes.get(self.at) == Some(&b'\\')
            && self.bytes.get(self.at + 1) == Some(&b'u')
        {
            let next = self.hex4(self.at + 2)?;
            (0xdc00..0xe000).contains(&next).then_some(next)
        } else {
            None
        };
        let code = match low {
            Some(low) => {
                self.at += 6;
                0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            }
            None => unit,
        };
        match char::from_u32(code) {
            Some(c) => {
                self.read.has_nul |= c == '\0';
                self.character(c);
            }
            None => {
                self.read.has_lone_surrogate = true;
                self.character(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(())
    }

    fn hex4(&self, at: usize) -> Scan<u32> {
        let digits = self.bytes.get(at..at + 4).unwrap_or_default();
        let code = digits.iter().try_fold(0, |code, digit| {
            char::from(*digit).to_digit(16).map(|value| code * 16 + value)
        });
        match code {
            Some(code) if digits.len() == 4 => Ok(code),
            Some(_) | None => Err(Syntax { at, what: "expected four hex digits" }),
        }
    }

    fn character(&mut self, c: char) {
        let escapes = if c.is_ascii() { usize::from(ESCAPE_EXTRA[c as usize]) } else { 0 };
        self.read.size += c.len_utf8() + escapes;
        self.read.units += c.len_utf16();
        if self.read.units <= self.units_max {
            self.scratch.push(c);
        }
    }
}

/// Finds the next quote, backslash or control character, eight bytes at a time.
fn find_special(bytes: &[u8], mut at: usize) -> Scan<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes.get(at..at + 8).and_then(|chunk| <[u8; 8]>::try_from(chunk).ok())
    {
        let word = u64::from_le_bytes(chunk);
        // For each of the three: the high bit of a byte is set where it matches (and, past the
        // first match, perhaps elsewhere, which the lowest bit alone never shows).
        let quote = word ^ (LOW * 0x22);
        let backslash = word ^ (LOW * 0x5c);
        let found = (quote.wrapping_sub(LOW) & !quote)
            | (backslash.wrapping_sub(LOW) & !backslash)
            | (word.wrapping_sub(LOW * 0x20) & !word);
        let found = found & HIGH;
        if found != 0 {
            at += (found.trailing_zeros() / 8) as usize;
            return ends_run(bytes, at);
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|b| !matches!(b, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    ends_run(bytes, at)
}

fn ends_run(bytes: &[u8], at: usize) -> Scan<usize> {
    match bytes.get(at) {
        Some(b'"' | b'\\') => Ok(at),
        Some(_) => Err(Syntax { at, what: "a control character inside a string" }),
        None => Err(Syntax { at, what: "the text ends inside a string" }),
    }
}

fn utf8(bytes: &[u8], start: usize, end: usize) -> Scan<&str> {
    std::str::from_utf8(&bytes[start..end]).map_err(|error| Syntax {
        at: start + error.valid_up_to(),
        what: "bytes that are not UTF-8",
    })
}
