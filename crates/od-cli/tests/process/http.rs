//! Requests over a plain socket.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// One answer, whole: head and body as they came.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.head, String::from_utf8_lossy(&self.body))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends a request on a connection of its own; returns the connection.
pub(crate) fn send(
    address: SocketAddr,
    bearer: &str,
    method: &str,
    target: &str,
    body: Option<&Value>,
) -> TcpStream {
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {bearer}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Reads the answer to the end of the connection; `None` if there is none.
pub(crate) fn read(mut stream: TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    // A daemon that was killed resets what it had open.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head, body: bytes[end + 4..].to_vec() })
}
