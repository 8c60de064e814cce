//! Writes literal bytes and escaped values, through a small buffer on the stack.

use std::io::{self, Write};

/// Room for a few values; large literals pass by.
const BUFFER_BYTES: usize = 4096;
/// What one step of escaping may write: eight replacements, the last written as eight bytes.
const STEP_BYTES: usize = 64;

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
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let Some(room) = free.first_chunk_mut::<STEP_BYTES>() else {
                self.flush()?;
                continue;
            };
            let (word, length) = word_at(bytes, at);
            self.filled += escape_word(room, word, length);
            at += length;
        }
        Ok(())
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

/// Returns the eight bytes at `at` as a number, or what is left of them, and how many there are.
///
/// The end of a text is read as its last eight bytes, moved down: a copy byte by byte would cost more
/// than escaping a short value.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> (u64, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(word) = rest.first_chunk::<8>() {
        return (u64::from_le_bytes(*word), 8);
    }
    if let Some(last) = bytes.last_chunk::<8>() {
        let missing = 8 - rest.len();
        return (u64::from_le_bytes(*last) >> (8 * missing), rest.len());
    }
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(rest) {
        *to = *from;
    }
    (u64::from_le_bytes(word), rest.len())
}

/// Writes the first `length` bytes of a word, each as the table says; returns how many it wrote.
#[inline]
fn escape_word(room: &mut [u8; STEP_BYTES], word: u64, length: usize) -> usize {
    put(room, 0, word);
    let mut marks = marked_bytes(word) & (u64::MAX >> (64 - 8 * length));
    let (mut read, mut written) = (0, 0);
    while marks != 0 {
        let at = (marks.trailing_zeros() / 8) as usize;
        let behind = word >> (8 * at);
        let replacement = REPLACEMENTS[(behind & 0xFF) as usize];
        written += at - read;
        // The length goes out too, and is written over by what follows.
        put(room, written, replacement);
        written += (replacement >> 56) as usize;
        put(room, written, behind >> 8);
        read = at + 1;
        marks &= marks - 1;
    }
    written + (length - read)
}

/// Writes eight bytes; how many of them stay is the caller's to say.
#[inline]
fn put(room: &mut [u8; STEP_BYTES], at: usize, word: u64) {
    if let Some(room) = room.get_mut(at..at + 8) {
        room.copy_from_slice(&word.to_le_bytes());
    }
}

/// Marks the bytes of a word that may need a replacement, by their highest bits: control characters,
/// `"` `#` `&` `'`, `<` `>`. Some of them need none and are replaced by themselves; asking for the
/// others alone would cost more.
#[inline]
const fn marked_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    const fn all(byte: u8) -> u64 {
        LOW * byte as u64
    }
    /// Bytes below `limit`, exactly: the set bit keeps a borrow from leaving its byte.
    const fn below(word: u64, limit: u8) -> u64 {
        !((word | HIGH) - all(limit)) & !word
    }
    let controls = below(word, 0x0E);
    let quotes = below((word | all(5)) ^ all(b'\''), 1);
    let brackets = below((word | all(2)) ^ all(b'>'), 1);
    (controls | quotes | brackets) & HIGH
}

/// What every byte becomes, with its length in the highest place.
static REPLACEMENTS: [u64; 256] = replacements();

const fn replacements() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u64 | 1 << 56;
        byte += 1;
    }
    table[b'&' as usize] = u64::from_le_bytes(*b"&amp;\0\0\x05");
    table[b'<' as usize] = u64::from_le_bytes(*b"&lt;\0\0\0\x04");
    table[b'>' as usize] = u64::from_le_bytes(*b"&gt;\0\0\0\x04");
    table[b'"' as usize] = u64::from_le_bytes(*b"&quot;\0\x06");
    table[b'\'' as usize] = u64::from_le_bytes(*b"&#39;\0\0\x05");
    // A carriage return would be read as a line feed, NUL would vanish.
    table[b'\r' as usize] = u64::from_le_bytes(*b"&#13;\0\0\x05");
    table[0] = u64::from_le_bytes(*b"\xEF\xBF\xBD\0\0\0\0\x03");
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
    fn a_word_marks_exactly_the_bytes_that_are_marked_alone() {
        for byte in 0..=u8::MAX {
            for (place, other) in
                (0..8).flat_map(|place| [(place, 0x00), (place, b'x'), (place, 0xFF)])
            {
                let mut bytes = [other; 8];
                bytes[place] = byte;
                let marks = marked_bytes(u64::from_le_bytes(bytes)).to_le_bytes();
                assert_eq!(marks, bytes.map(|byte| u8::from(is_marked(byte)) << 7));
            }
        }
        for byte in (0..=u8::MAX).filter(|byte| !is_marked(*byte)) {
            assert_eq!(
                REPLACEMENTS[byte as usize],
                u64::from(byte) | 1 << 56,
                "{byte} becomes itself"
            );
        }
    }

    /// The same, a byte at a time.
    fn is_marked(byte: u8) -> bool {
        byte < 0x0E || b"\"#&'<>".contains(&byte)
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
