//! Writes literal bytes and escaped values, through a small buffer on the stack.

use std::io::{self, Write};

/// Room for a few values; large literals pass by.
const BUFFER_BYTES: usize = 4096;
/// What one step of escaping may write: seven plain bytes and one replacement, written as eight.
const STEP_BYTES: usize = 16;

/// Collects output, counts it, and stops at a limit.
pub(super) struct Output<'w, W> {
    inner: &'w mut W,
    buffer: [u8; BUFFER_BYTES],
    filled: usize,
    flushed: usize,
    limit: usize,
}

impl<'w, W: Write> Output<'w, W> {
    pub(super) fn new(inner: &'w mut W, limit: usize) -> Self {
        Self { inner, buffer: [0; BUFFER_BYTES], filled: 0, flushed: 0, limit }
    }

    /// Returns how much has been written, the limit being no limit here.
    pub(super) fn bytes(&self) -> usize {
        self.flushed + self.filled
    }

    /// Writes bytes as they are.
    #[inline]
    pub(super) fn literal(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.filled + bytes.len();
        if let Some(room) = self.buffer.get_mut(self.filled..end) {
            room.copy_from_slice(bytes);
            self.filled = end;
            return Ok(());
        }
        self.large_literal(bytes)
    }

    #[cold]
    fn large_literal(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.flush()?;
        if let Some(room) = self.buffer.get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
            self.filled = bytes.len();
            return Ok(());
        }
        self.pass(bytes.len())?;
        self.inner.write_all(bytes)
    }

    /// Writes text so that HTML reads back exactly these characters, in text and quoted attributes.
    #[inline]
    pub(super) fn escaped(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            if self.filled + STEP_BYTES > BUFFER_BYTES {
                self.flush()?;
            }
            let (word, length) = first_word(rest);
            let plain = plain_bytes(u64::from_le_bytes(word)).min(length);
            self.put(word, plain);
            rest = &rest[plain..];
            if plain < length {
                rest = self.replace_run(rest);
            }
        }
        Ok(())
    }

    /// Replaces the bytes that need it, one at least, as long as there is room.
    #[inline]
    fn replace_run<'t>(&mut self, mut rest: &'t [u8]) -> &'t [u8] {
        while let [byte, behind @ ..] = rest {
            let [bytes @ .., count] = REPLACEMENTS[*byte as usize];
            let [a, b, c, d, e, f, g] = bytes;
            self.put([a, b, c, d, e, f, g, 0], count as usize);
            rest = behind;
            let again = rest.first().is_some_and(|next| REPLACEMENTS[*next as usize][7] > 1);
            if !again || self.filled + STEP_BYTES > BUFFER_BYTES {
                break;
            }
        }
        rest
    }

    /// Writes eight bytes, of which `count` stay.
    #[inline]
    fn put(&mut self, bytes: [u8; 8], count: usize) {
        if let Some(room) = self.buffer.get_mut(self.filled..self.filled + 8) {
            room.copy_from_slice(&bytes);
            self.filled += count;
        }
    }

    /// Hands everything on.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let filled = std::mem::take(&mut self.filled);
        self.pass(filled)?;
        self.inner.write_all(&self.buffer[..filled])
    }

    fn pass(&mut self, count: usize) -> io::Result<()> {
        self.flushed += count;
        if self.flushed > self.limit {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(())
    }
}

/// Returns the first eight bytes, or all of them followed by spaces, and how many there are.
#[inline]
fn first_word(bytes: &[u8]) -> ([u8; 8], usize) {
    match bytes.first_chunk::<8>() {
        Some(word) => (*word, 8),
        None => {
            let mut word = [b' '; 8];
            for (to, from) in word.iter_mut().zip(bytes) {
                *to = *from;
            }
            (word, bytes.len())
        }
    }
}

/// Counts the leading bytes of eight that need no replacement, or fewer: a tab or line feed stops
/// the count too, and is then replaced by itself.
#[inline]
const fn plain_bytes(word: u64) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(LOW) & !word
    }
    const fn all(byte: u8) -> u64 {
        LOW * byte as u64
    }
    let controls = word.wrapping_sub(all(0x0E)) & !word;
    let quotes = zeros(word ^ all(b'"'));
    let ampersands = zeros((word | LOW) ^ all(b'\''));
    let brackets = zeros((word | all(2)) ^ all(b'>'));
    // The lowest mark is exact: what a borrow marks in error stands above a true one.
    let marks = (controls | quotes | ampersands | brackets) & HIGH;
    (marks.trailing_zeros() / 8) as usize
}

/// What every byte becomes, with its length in the last place.
static REPLACEMENTS: [[u8; 8]; 256] = replacements();

const fn replacements() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte][0] = byte as u8;
        table[byte][7] = 1;
        byte += 1;
    }
    table[b'&' as usize] = *b"&amp;\0\0\x05";
    table[b'<' as usize] = *b"&lt;\0\0\0\x04";
    table[b'>' as usize] = *b"&gt;\0\0\0\x04";
    table[b'"' as usize] = *b"&quot;\0\x06";
    table[b'\'' as usize] = *b"&#39;\0\0\x05";
    // A carriage return would be read as a line feed, NUL would vanish.
    table[b'\r' as usize] = *b"&#13;\0\0\x05";
    table[0] = *b"\xEF\xBF\xBD\0\0\0\0\x03";
    table
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escape(text: &str) -> String {
        let mut out = Vec::new();
        let mut output = Output::new(&mut out, usize::MAX);
        output.escaped(text).unwrap();
        output.flush().unwrap();
        assert_eq!(output.bytes(), out.len());
        String::from_utf8(out).unwrap()
    }

    fn slowly(text: &str) -> String {
        let replace = |mark| match mark {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\'' => "&#39;".to_owned(),
            '\r' => "&#13;".to_owned(),
            '\0' => "\u{FFFD}".to_owned(),
            other => other.to_string(),
        };
        text.chars().map(replace).collect()
    }

    #[test]
    fn every_byte_is_replaced_as_the_table_says_wherever_it_stands() {
        for before in 0..20 {
            for code in 0..=0x100_u32 {
                let mark = char::from_u32(code).unwrap();
                let text = format!("{}{mark}tail of text{mark}", "x".repeat(before));
                assert_eq!(escape(&text), slowly(&text));
            }
        }
    }

    #[test]
    fn long_text_crosses_the_buffer() {
        let text = "<a href='x'>&é\r\n".repeat(2_000);
        assert_eq!(escape(&text), slowly(&text));
    }

    #[test]
    fn the_limit_stops_literals_and_values() {
        for write in [
            |output: &mut Output<'_, Vec<u8>>| output.literal(&[b'x'; 9_000]),
            |output: &mut Output<'_, Vec<u8>>| output.escaped(&"x".repeat(9_000)),
        ] {
            let mut out = Vec::new();
            let mut output = Output::new(&mut out, 8_000);
            assert!(write(&mut output).and_then(|()| output.flush()).is_err());
        }
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(text in "(\\PC|[\0-~]){0,80}") {
            prop_assert_eq!(escape(&text), slowly(&text));
        }
    }
}
