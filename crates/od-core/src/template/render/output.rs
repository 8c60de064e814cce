//! Writes literal bytes and escaped values, through a small buffer on the stack.

use std::io::{self, Write};

use serde_json::Number;

/// Bytes that are buffered; larger literals bypass the buffer.
const BUFFER_BYTES: usize = 4096;
/// Bytes of text that are escaped between two checks of the free buffer space.
const BLOCK_BYTES: usize = 64;
/// The most bytes that a block becomes: six for each of its own, the last written as eight.
const BLOCK_BUFFER_BYTES: usize = 6 * BLOCK_BYTES + 8;

type BlockBuffer = [u8; BLOCK_BUFFER_BYTES];

/// Buffers output, counts it, and stops at a limit.
pub(crate) struct Output<'w, W> {
    inner: &'w mut W,
    buffer: [u8; BUFFER_BYTES],
    filled: usize,
    flushed: usize,
    limit: usize,
}

impl<'w, W: Write> Output<'w, W> {
    pub(crate) fn new(inner: &'w mut W, limit: usize) -> Self {
        Self { inner, buffer: [0; BUFFER_BYTES], filled: 0, flushed: 0, limit }
    }

    /// Returns how much has been written, the limit being no limit here.
    pub(crate) fn bytes(&self) -> usize {
        self.flushed + self.filled
    }

    /// Takes back what was written beyond `bytes`, where the output goes nowhere.
    pub(crate) fn forget_beyond(&mut self, bytes: usize) {
        self.flushed = bytes;
        self.filled = 0;
    }

    /// Writes bytes as they are.
    #[inline]
    pub(crate) fn literal(&mut self, bytes: &[u8]) -> io::Result<()> {
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
    pub(crate) fn escaped(&mut self, text: &str) -> io::Result<()> {
        self.escaped_bytes(text.as_bytes())
    }

    /// Writes the bytes of a text as [`Self::escaped`] does.
    #[inline]
    pub(crate) fn escaped_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() <= BLOCK_BYTES {
            return self.block(bytes);
        }
        bytes.chunks(BLOCK_BYTES).try_for_each(|block| self.block(block))
    }

    fn block(&mut self, block: &[u8]) -> io::Result<()> {
        if self.filled > BUFFER_BYTES - BLOCK_BUFFER_BYTES {
            self.flush()?;
        }
        let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
        if let Some(room) = free.first_chunk_mut() {
            self.filled += escape_block(room, block);
        }
        Ok(())
    }

    /// Writes the buffer out.
    #[cold]
    pub(crate) fn flush(&mut self) -> io::Result<()> {
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

/// Writes a block, escaped; returns how many bytes it became.
#[inline]
fn escape_block(room: &mut BlockBuffer, block: &[u8]) -> usize {
    let (words, rest) = block.as_chunks::<8>();
    let mut end = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        end = escape_word(room, end, word, 8, marked_bytes(word));
    }
    if !rest.is_empty() {
        let word = last_word(block, rest);
        let marks = marked_bytes(word) & (u64::MAX >> (64 - 8 * rest.len()));
        end = escape_word(room, end, word, rest.len(), marks);
    }
    end
}

/// Returns the `rest` that a block has behind its last whole word, as a number.
///
/// It is read as the last eight bytes, moved down, or as two halves that overlap: a copy byte by
/// byte would cost more than escaping a short value.
#[inline]
fn last_word(block: &[u8], rest: &[u8]) -> u64 {
    if let Some(last) = block.last_chunk() {
        return u64::from_le_bytes(*last) >> (64 - 8 * rest.len());
    }
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << (8 * rest.len() - 32);
    }
    rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Writes the first `length` bytes of a word to `start`, the marked ones as the table says; returns
/// where they end.
#[inline]
fn escape_word(
    room: &mut BlockBuffer,
    start: usize,
    word: u64,
    length: usize,
    mut marks: u64,
) -> usize {
    put(room, start, word);
    // Where the word would begin if nothing in it had grown.
    let mut origin = start;
    while marks != 0 {
        let at = (marks.trailing_zeros() / 8) as usize;
        let behind = word >> (8 * at);
        let replacement = REPLACEMENTS[(behind & 0xFF) as usize];
        // The growth goes out too, and is written over by what follows.
        put(room, origin + at, replacement);
        origin += (replacement >> 56) as usize;
        put(room, origin + at + 1, behind >> 8);
        marks &= marks - 1;
    }
    origin + length
}

/// Writes eight bytes; how many of them stay is the caller's to say.
#[inline]
fn put(room: &mut BlockBuffer, at: usize, word: u64) {
    // Asked for as `at..at + 8`, the sum could overflow: that check cost an eighth of escaping.
    if let Some(room) = room.get_mut(at..).and_then(|free| free.first_chunk_mut()) {
        *room = word.to_le_bytes();
    }
}

/// Marks the bytes of a word that may need a replacement, by their highest bits: control characters,
/// `"` `#` `&` `'`, `<` `>`, and sometimes the byte behind a marked one, from which the subtraction
/// borrowed. What needs none is replaced by itself; to ask exactly would cost twice as much.
#[inline]
const fn marked_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    const fn all(byte: u8) -> u64 {
        LOW * byte as u64
    }
    // A byte without its highest bit has it after a subtraction only if it was less.
    let controls = word.wrapping_sub(all(0x0E));
    let quotes = ((word | all(5)) ^ all(b'\'')).wrapping_sub(LOW);
    let brackets = ((word | all(2)) ^ all(b'>')).wrapping_sub(LOW);
    (controls | quotes | brackets) & !word & HIGH
}

/// The replacement of every byte, with its growth in the highest place.
static REPLACEMENTS: [u64; 256] = replacements();

const fn replacements() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u64;
        byte += 1;
    }
    table[b'&' as usize] = u64::from_le_bytes(*b"&amp;\0\0\x04");
    table[b'<' as usize] = u64::from_le_bytes(*b"&lt;\0\0\0\x03");
    table[b'>' as usize] = u64::from_le_bytes(*b"&gt;\0\0\0\x03");
    table[b'"' as usize] = u64::from_le_bytes(*b"&quot;\0\x05");
    table[b'\'' as usize] = u64::from_le_bytes(*b"&#39;\0\0\x04");
    // A carriage return would be read as a line feed, NUL would vanish.
    table[b'\r' as usize] = u64::from_le_bytes(*b"&#13;\0\0\x04");
    table[0] = u64::from_le_bytes(*b"\xEF\xBF\xBD\0\0\0\0\x02");
    table
}

/// Prints numbers as ECMAScript does, without allocating.
pub(crate) struct Digits {
    float: ryu_js::Buffer,
    integer: itoa::Buffer,
}

impl Digits {
    pub(crate) fn new() -> Self {
        Self { float: ryu_js::Buffer::new(), integer: itoa::Buffer::new() }
    }

    pub(crate) fn format(&mut self, number: &Number) -> &str {
        const EXACT: i64 = 1 << 53;
        match number.as_i64() {
            Some(integer) if (-EXACT..=EXACT).contains(&integer) => self.integer.format(integer),
            _ => self.float.format(number.as_f64().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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
    fn a_word_marks_every_byte_that_needs_a_replacement_wherever_it_stands() {
        let needs = |byte: u8| REPLACEMENTS[byte as usize] != u64::from(byte);
        for byte in 0..=u8::MAX {
            for other in [0x00, b'x', b'>', 0x7F, 0x80, 0xFF] {
                for place in 0..8 {
                    let mut bytes = [other; 8];
                    bytes[place] = byte;
                    let marks = marked_bytes(u64::from_le_bytes(bytes)).to_le_bytes();
                    for (mark, byte) in marks.iter().zip(bytes) {
                        assert!(*mark == 0x80 || (*mark == 0 && !needs(byte)), "{bytes:x?}");
                    }
                }
            }
        }
    }

    #[test]
    fn ordinary_words_have_no_marks() {
        for text in ["ordinary", "12.5 %, ", "A-Z_a/z:", "(1 + 2)!", "äöüß"] {
            let word = last_word(text.as_bytes(), &text.as_bytes()[..text.len().min(8)]);
            assert_eq!(marked_bytes(word), 0, "{text}");
        }
    }

    #[test]
    fn texts_of_every_length_keep_their_last_bytes() {
        let text = "ab<cdefg&hijklmnop".repeat(12);
        for length in 0..text.len() {
            assert_eq!(escape(&text[..length]), slowly(&text[..length]));
        }
    }

    #[test]
    fn a_block_has_room_for_the_longest_replacements() {
        for length in 0..200 {
            let text = "\"".repeat(length);
            assert_eq!(escape(&text), slowly(&text));
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

    #[track_caller]
    fn check(value: &serde_json::Value, expected: &str) {
        let number = value.as_number().unwrap();
        assert_eq!(Digits::new().format(number), expected);
    }

    #[test]
    fn numbers_look_as_ecmascript_prints_them() {
        check(&json!(0), "0");
        check(&json!(-0.0), "0");
        check(&json!(-7), "-7");
        check(&json!(1.0), "1");
        check(&json!(0.1), "0.1");
        check(&json!(1e21), "1e+21");
        check(&json!(1e-7), "1e-7");
        check(&json!(123_456_789_012_345_680_000.0), "123456789012345680000");
        check(&json!(9_007_199_254_740_991_i64), "9007199254740991");
        check(&json!(u64::MAX), "18446744073709552000");
    }
}
