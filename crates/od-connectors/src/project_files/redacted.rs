//! Files as they may be seen: what is searched is what would be shown.

use std::borrow::Cow;
use std::io::{self, Read};

use od_core::credential::{Scrubber, redact_assignments, redact_text};

/// Bytes read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Returns a line without the secrets the daemon holds, without values given to names of
/// credentials, and without what looks like one.
pub(super) fn redact_line<'a>(line: &'a str, secrets: &Scrubber) -> Cow<'a, str> {
    let scrubbed = secrets.scrub_text(line).map_or(Cow::Borrowed(line), Cow::Owned);
    let redacted = match redact_assignments(&scrubbed) {
        Cow::Borrowed(assigned) => redact_text(assigned),
        Cow::Owned(assigned) => Cow::Owned(redact_text(&assigned).into_owned()),
    };
    match redacted {
        Cow::Owned(redacted) => Cow::Owned(redacted),
        Cow::Borrowed(_) => scrubbed,
    }
}

/// A text whose lines are redacted before anyone reads them.
///
/// A match in the original must not decide anything, not even together with a match in what is shown:
/// the query `ghp_a|redacted` would tell whether a key begins with `a`.
pub(super) struct Redacted<'a, R> {
    inner: R,
    secrets: &'a Scrubber,
    /// Bytes of a line whose end has not been read.
    partial: Vec<u8>,
    /// A line longer than this fails: the rest of a value could not be told from a line of its own.
    line_bytes_max: usize,
    ready: Vec<u8>,
    /// Bytes of `ready` that have been read.
    taken: usize,
}

impl<'a, R: Read> Redacted<'a, R> {
    pub(super) const fn new(inner: R, line_bytes_max: usize, secrets: &'a Scrubber) -> Self {
        Self { inner, secrets, partial: Vec::new(), line_bytes_max, ready: Vec::new(), taken: 0 }
    }

    /// Reads a piece, and makes ready the lines that end in it. Returns whether there was one.
    fn advance(&mut self) -> io::Result<bool> {
        let before = self.partial.len();
        self.partial.resize(before + PIECE_BYTES, 0);
        let read = self.inner.read(&mut self.partial[before..]);
        self.partial.truncate(before + *read.as_ref().unwrap_or(&0));
        let is_end = read? == 0;
        let ended = self.partial[before..].iter().rposition(|byte| *byte == b'\n');
        let whole = match ended {
            Some(at) => before + at + 1,
            None if is_end => self.partial.len(),
            None if self.partial.len() > self.line_bytes_max => {
                return Err(io::Error::other("a line is too long"));
            }
            None => 0,
        };
        self.ready.clear();
        self.taken = 0;
        for line in self.partial[..whole].split_inclusive(|byte| *byte == b'\n') {
            push_redacted(&mut self.ready, line, self.secrets);
        }
        self.partial.drain(..whole);
        Ok(!is_end)
    }
}

impl<R: Read> Read for Redacted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() {
            if !self.advance()? && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let count = (&self.ready[self.taken..]).read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

/// Bytes that are no text are kept where nothing is to be hidden.
fn push_redacted(ready: &mut Vec<u8>, line: &[u8], secrets: &Scrubber) {
    if line == b"\n" {
        ready.push(b'\n');
        return;
    }
    let end = line.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
    let text = String::from_utf8_lossy(&line[..end]);
    let shown = redact_line(&text, secrets);
    if shown == text {
        ready.extend_from_slice(line);
    } else {
        ready.extend_from_slice(shown.as_bytes());
        ready.extend_from_slice(&line[end..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn lines_are_redacted_wherever_a_read_ends() {
        let text = b"a\r\n\npassword=x\xff\r\nkey ghp_0123456789abcdefABCDEF!\n\xfe b\ntoken: last";
        let want = b"a\r\n\npassword=[redacted]\r\nkey [redacted]!\n\xfe b\ntoken: [redacted]";
        for most in [1, 2, 7, 1000] {
            let mut read = Vec::new();
            let secrets = Scrubber::new([""; 0]);
            Redacted::new(Slow(text, most), 1000, &secrets).read_to_end(&mut read).unwrap();
            assert_eq!(read, want, "{}", String::from_utf8_lossy(&read));
        }
    }

    #[test]
    fn nothing_is_given_of_a_line_that_is_too_long_to_be_redacted() {
        let text = b"first\ntoken=".chain(io::repeat(b'x'));
        let mut read = Vec::new();
        let secrets = Scrubber::new([""; 0]);
        let fault = Redacted::new(text, PIECE_BYTES, &secrets).read_to_end(&mut read);
        assert_eq!(fault.unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(read, b"first\n");
    }
}
