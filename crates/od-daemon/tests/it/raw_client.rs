//! A client that sends exactly the bytes it is given.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the code of an error answer.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct RawClient {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl RawClient {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish_sending(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Reads one answer, or `None` if the connection ends before one begins.
    pub(crate) fn read(&mut self, is_head: bool) -> Option<Answer> {
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if self.fill() == 0 {
                assert!(self.buffer.is_empty(), "half an answer: {:?}", self.buffer);
                return None;
            }
        };
        let head = String::from_utf8(self.buffer.drain(..end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers
            .iter()
            .find(|(name, _)| name == "content-length")
            .map_or(0, |(_, value)| value.parse::<usize>().unwrap());
        let length = if is_head { 0 } else { length };
        while self.buffer.len() < length {
            assert_ne!(self.fill(), 0, "the body broke off");
        }
        let body = self.buffer.drain(..length).collect();
        Some(Answer { status, headers, body })
    }

    /// Sends a request and reads its answer.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Option<Answer> {
        // A server that refuses early may close while the rest is still being sent.
        let _ = self.send(request);
        self.read(request.starts_with(b"HEAD "))
    }

    /// Reads until the text has come; returns everything up to it.
    pub(crate) fn read_until(&mut self, text: &[u8]) -> String {
        let patience = Instant::now() + PATIENCE;
        loop {
            // Heartbeats alone are no answer.
            assert!(Instant::now() < patience, "it never came: {}", self.seen());
            if let Some(at) = find(&self.buffer, text) {
                let read = self.buffer.drain(..at + text.len()).collect();
                return String::from_utf8(read).unwrap();
            }
            assert_ne!(self.fill(), 0, "ended before it came: {:?}", self.buffer);
        }
    }

    /// Reads whatever comes until the end of the connection; a reset is an end.
    pub(crate) fn read_to_end(&mut self) -> Vec<u8> {
        let patience = Instant::now() + PATIENCE;
        while self.fill() > 0 {
            assert!(Instant::now() < patience, "it does not end: {}", self.seen());
        }
        std::mem::take(&mut self.buffer)
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.buffer).into_owned()
    }

    fn fill(&mut self) -> usize {
        let mut chunk = [0; 64 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(length) => {
                self.buffer.extend_from_slice(&chunk[..length]);
                length
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("no answer: {error}"),
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
