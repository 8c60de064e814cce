//! A socket whose peer has to read, and to end its lines as HTTP says: a write that makes no progress for
//! too long is an error, and a bare line feed in a request's head makes it one that nobody parses.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection_cap::Reading;

/// A TCP stream with a deadline on stalled writes.
#[derive(Debug)]
pub(crate) struct StallGuard {
    stream: TokioIo<TcpStream>,
    allowed: Duration,
    /// Set while a write waits for the peer.
    stalled: Option<Pin<Box<Sleep>>>,
    reading: Reading,
    lines: HeadLines,
}

impl StallGuard {
    pub(crate) fn new(stream: TcpStream, allowed: Duration, reading: Reading) -> Self {
        let (stream, lines) = (TokioIo::new(stream), HeadLines::default());
        Self { stream, allowed, stalled: None, reading, lines }
    }

    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            if self.stalled.take().is_some() {
                self.reading.go_on();
            }
            return progress;
        }
        self.reading.stop();
        // From the first poll without progress: the polls after it must not put the end off.
        let deadline = Instant::now() + self.allowed;
        let sleep = self.stalled.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Read for StallGuard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // By way of a buffer of our own: what hyper's cursor holds can be neither read nor changed without
        // unsafe code.
        let mut bytes = [0; 8 * 1024];
        let most = bytes.len().min(buf.remaining());
        let mut read = ReadBuf::new(&mut bytes[..most]);
        let progress = Pin::new(self.stream.inner_mut()).poll_read(cx, &mut read);
        if matches!(progress, Poll::Ready(Ok(()))) {
            self.lines.check(read.filled_mut());
            buf.put_slice(read.filled());
        }
        progress
    }
}

/// Follows the requests of one connection, as far as to tell their heads from their bodies.
///
/// The parser takes a bare line feed for a line's end, as RFC 9112 allows; a proxy in front that does not
/// would see other headers than we do.
#[derive(Debug, Default)]
struct HeadLines {
    head: Vec<u8>,
    body_left: u64,
    /// Set once nothing more can be told: a body without a length, which the guard refuses.
    is_blind: bool,
}

impl HeadLines {
    /// Replaces a line feed without its carriage return by a byte that no head may have.
    fn check(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.is_blind {
                return;
            }
            if self.body_left > 0 {
                self.body_left -= 1;
                continue;
            }
            if *byte == b'\n' && self.head.last() != Some(&b'\r') {
                *byte = 0;
                self.is_blind = true;
                return;
            }
            // A head that is too long is refused by the parser; no more of it has to be kept.
            if self.head.len() < od_core::limits::REQUEST_HEAD.max() {
                self.head.push(*byte);
            }
            if self.head.ends_with(b"\r\n\r\n") {
                let head = std::mem::take(&mut self.head);
                match body_length(&head) {
                    Some(length) => self.body_left = length,
                    None => self.is_blind = true,
                }
            }
        }
    }
}

/// Returns the length of the body behind a head; `None` if the head does not say it plainly.
fn body_length(head: &[u8]) -> Option<u64> {
    let mut length = 0;
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            length = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
        }
    }
    Some(length)
}

impl Write for StallGuard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut lines = HeadLines::default();
        let mut seen = Vec::new();
        for piece in pieces {
            let mut bytes = piece.as_bytes().to_vec();
            lines.check(&mut bytes);
            seen.extend(bytes);
        }
        assert_eq!(String::from_utf8_lossy(&seen), expected);
    }

    #[test]
    fn a_bare_line_feed_in_a_head_becomes_a_byte_that_no_head_has() {
        check(&["GET / HTTP/1.1\nHost: x\r\n\r\n"], "GET / HTTP/1.1\0Host: x\r\n\r\n");
        check(&["GET / HTTP/1.1\r", "\nA: 1\n", "\r\n"], "GET / HTTP/1.1\r\nA: 1\0\r\n");
    }

    #[test]
    fn a_body_may_hold_any_byte_and_the_next_head_is_read_again() {
        let first = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\n\n\n";
        check(&[first, "GET / HTTP/1.1\r\n\r\n"], &format!("{first}GET / HTTP/1.1\r\n\r\n"));
        check(&[first, "GET / HTTP/1.1\n\n"], &format!("{first}GET / HTTP/1.1\0\n"));
    }
}
