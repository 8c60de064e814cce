//! Number literals, and skipping what is past a limit.

use super::number::Literal;
use super::scanner::{Scan, Scanner, Syntax};
use super::text;

/// Reads the number literal at `start`.
pub(crate) fn number(bytes: &[u8], start: usize) -> Scan<Literal<'_>> {
    let mut at = start;
    let negative = bytes.get(at) == Some(&b'-');
    at += usize::from(negative);
    let mut integer: u64 = 0;
    let first = at;
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        integer = integer.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        at += 1;
    }
    let integer_digits = at - first;
    if integer_digits == 0 {
        return Err(Syntax { at, what: "expected a digit" });
    }
    if integer_digits > 1 && bytes[first] == b'0' {
        return Err(Syntax { at: first, what: "a number may not begin with 0" });
    }
    let mut fraction_digits = None;
    if bytes.get(at) == Some(&b'.') {
        let digits = digits(bytes, at + 1)?;
        fraction_digits = Some(digits);
        at += 1 + digits;
    }
    let has_exponent = matches!(bytes.get(at), Some(b'e' | b'E'));
    if has_exponent {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at += digits(bytes, at)?;
    }
    // Only ASCII was taken.
    let text = std::str::from_utf8(&bytes[start..at]).unwrap_or_default();
    Ok(Literal { text, negative, integer, integer_digits, fraction_digits, has_exponent })
}

/// Counts the digits from `at`, at least one.
fn digits(bytes: &[u8], at: usize) -> Scan<usize> {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().take_while(|b| b.is_ascii_digit()).count() {
        0 => Err(Syntax { at, what: "expected a digit" }),
        count => Ok(count),
    }
}

/// Skips the rest of a container whose `count`th member or item begins here; returns how many there
/// are in all.
pub(super) fn skip_rest(scanner: &mut Scanner<'_>, close: u8, mut count: usize) -> Scan<usize> {
    loop {
        if close == b'}' {
            skip_key(scanner)?;
        }
        match scanner.peek_token() {
            Some(b'{' | b'[') => skip_container(scanner)?,
            Some(_) | None => skip_scalar(scanner)?,
        }
        match scanner.peek_token() {
            Some(b',') => {
                scanner.at += 1;
                count += 1;
            }
            Some(byte) if byte == close => {
                scanner.at += 1;
                return Ok(count);
            }
            Some(_) | None => {
                return Err(scanner.syntax("expected `,` or the end of the object or array"));
            }
        }
    }
}

/// Skips one object or array of any depth, checking its syntax, in memory of one bit a level.
pub(super) fn skip_container(scanner: &mut Scanner<'_>) -> Scan<()> {
    let mut open = Brackets::default();
    loop {
        // Here a value begins.
        let entered = match scanner.peek_token() {
            Some(bracket @ (b'{' | b'[')) => {
                scanner.at += 1;
                open.push(bracket == b'{');
                true
            }
            Some(_) | None => {
                skip_scalar(scanner)?;
                false
            }
        };
        if after_value(scanner, &mut open, entered)? {
            return Ok(());
        }
    }
}

/// Goes from the end of a value, or from just inside a bracket, to where the next value begins;
/// returns whether the outermost container has ended.
fn after_value(scanner: &mut Scanner<'_>, open: &mut Brackets, mut entered: bool) -> Scan<bool> {
    while let Some(in_object) = open.last() {
        let close = if in_object { b'}' } else { b']' };
        match scanner.peek_token() {
            Some(byte) if byte == close => {
                scanner.at += 1;
                open.pop();
                entered = false;
                continue;
            }
            Some(b',') if !entered => scanner.at += 1,
            Some(_) if entered => {}
            Some(_) | None => {
                return Err(scanner.syntax("expected `,` or the end of the object or array"));
            }
        }
        if in_object {
            skip_key(scanner)?;
        }
        return Ok(false);
    }
    Ok(true)
}

fn skip_key(scanner: &mut Scanner<'_>) -> Scan<()> {
    if scanner.peek_token() != Some(b'"') {
        return Err(scanner.syntax("expected a key"));
    }
    skip_scalar(scanner)?;
    if scanner.peek_token() != Some(b':') {
        return Err(scanner.syntax("expected `:`"));
    }
    scanner.at += 1;
    Ok(())
}

fn skip_scalar(scanner: &mut Scanner<'_>) -> Scan<()> {
    let at = scanner.at;
    let rest = scanner.bytes.get(at..).unwrap_or_default();
    let end = match scanner.peek_token() {
        Some(b'"') => text::read(scanner.bytes, at, 0, &mut String::new())?.end,
        Some(b'-' | b'0'..=b'9') => at + number(scanner.bytes, at)?.text.len(),
        Some(_) if rest.starts_with(b"true") || rest.starts_with(b"null") => at + 4,
        Some(_) if rest.starts_with(b"false") => at + 5,
        Some(_) => return Err(scanner.syntax("expected a value")),
        None => return Err(scanner.syntax("the text ends where a value should stand")),
    };
    scanner.at = end;
    Ok(())
}

/// A stack of brackets, one bit each: hostile input may open a million.
#[derive(Default)]
struct Brackets {
    words: Vec<u64>,
    len: usize,
}

impl Brackets {
    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.len / 64, self.len % 64);
        if word == self.words.len() {
            self.words.push(0);
        }
        self.words[word] &= !(1 << bit);
        self.words[word] |= u64::from(is_object) << bit;
        self.len += 1;
    }

    fn last(&self) -> Option<bool> {
        let at = self.len.checked_sub(1)?;
        Some(self.words[at / 64] >> (at % 64) & 1 == 1)
    }

    fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }
}
