//! A peer on a real socket where the daemon should be: it answers what the test hands it.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// One request as it came, and the way to answer it.
pub(crate) struct Asked {
    /// `POST /api/tools/live-artifacts/refresh`.
    pub(crate) line: String,
    /// The bearer.
    pub(crate) authorization: String,
    /// The body.
    pub(crate) body: String,
    stream: TcpStream,
}

impl Asked {
    /// Answers with a status and a JSON text, and closes.
    pub(crate) async fn answer(mut self, status: u16, json: &str) {
        let length = json.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{json}"
        );
        self.stream.write_all(head.as_bytes()).await.unwrap();
        self.stream.shutdown().await.unwrap();
    }
}

/// Listens and hands every request to the test.
pub(crate) async fn listen() -> (String, mpsc::Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some(asked) = read(stream).await else { continue };
            if sender.send(asked).await.is_err() {
                return;
            }
        }
    });
    (url, receiver)
}

async fn read(mut stream: TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let header = |name: &str| {
            head.lines()
                .find_map(|line| {
                    line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name))
                })
                .map(|(_, value)| value.to_owned())
                .unwrap_or_default()
        };
        if body.len() < header("content-length").parse().unwrap_or(0) {
            continue;
        }
        let line = head.lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
        return Some(Asked {
            line,
            authorization: header("authorization"),
            body: body.to_owned(),
            stream,
        });
    }
}
