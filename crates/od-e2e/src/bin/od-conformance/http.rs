//! HTTP by hand: the bytes of one request, the bytes of its answer.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Returns the body as JSON, null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

/// A connection with a request on it.
pub(crate) struct Sent(TcpStream);

/// Sends a request on a connection of its own.
pub(crate) fn send(
    url: &str,
    (method, target): (&str, &str),
    headers: &BTreeMap<String, String>,
    body: &str,
) -> Outcome<Sent> {
    let host = url.strip_prefix("http://").ok_or_else(|| format!("{url} is no HTTP address"))?;
    let mut lines = BTreeMap::from([
        ("host".to_owned(), host.to_owned()),
        ("connection".to_owned(), "close".to_owned()),
        ("content-type".to_owned(), "application/json".to_owned()),
        ("content-length".to_owned(), body.len().to_string()),
    ]);
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        if value.is_empty() {
            lines.remove(&name);
        } else {
            lines.insert(name, value.clone());
        }
    }
    let head: String = lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!("{method} {target} HTTP/1.1\r\n{head}\r\n{body}");
    let mut stream = TcpStream::connect(host).map_err(|err| format!("{url}: {err}"))?;
    // Longer than the longest refresh; a daemon that never answers must not keep the suite for ever.
    let patience = Some(Duration::from_secs(150));
    stream.set_read_timeout(patience).map_err(|err| err.to_string())?;
    // A daemon that refuses by the head alone may answer, and hang up, before it has read everything.
    let _early = stream.write_all(request.as_bytes());
    Ok(Sent(stream))
}

impl Sent {
    /// Reads the answer to the end of the connection.
    pub(crate) fn answer(mut self) -> Outcome<Answer> {
        let mut bytes = Vec::new();
        // A reset after an early refusal comes behind the bytes of the answer.
        let ended = self.0.read_to_end(&mut bytes);
        Self::parse(&bytes).ok_or_else(|| format!("no answer: {ended:?}"))
    }

    /// Reads the head of a stream that has no end, or the whole of a refusal.
    pub(crate) fn head_or_refusal(mut self) -> Outcome<Answer> {
        let head = self.head()?;
        if head.status == 200 {
            return Ok(head);
        }
        let mut body = Vec::new();
        let _ended = self.0.read_to_end(&mut body);
        Ok(Answer { body: String::from_utf8_lossy(&body).into_owned(), ..head })
    }

    /// Reads until the head is there; the connection stays open.
    pub(crate) fn head(&mut self) -> Outcome<Answer> {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") {
            match self.0.read(&mut byte) {
                Ok(1..) => bytes.push(byte[0]),
                ended => return Err(format!("no answer: {ended:?}")),
            }
        }
        Self::parse(&bytes).ok_or_else(|| "no answer".to_owned())
    }

    fn parse(bytes: &[u8]) -> Option<Answer> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
        Some(Answer { status, head, body })
    }
}
