//! A local HTTP server that answers as a test tells it to, also badly.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Path and query.
    pub(crate) target: String,
    /// Lower-case names.
    headers: Vec<(String, String)>,
    /// As long as was announced.
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(held, _)| held == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// A scripted answer.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// An ordinary response.
    Whole { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// A body of so many bytes, announced or not.
    Flood { bytes: u64 },
    /// One byte a second, for ever.
    Trickle,
    /// Nothing, and the connection stays open.
    Silence,
    /// The connection ends in the middle of the body.
    Torn,
    /// Not HTTP.
    Noise,
}

impl Answer {
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::text(200, &value.to_string())
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self::Whole { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        if let Self::Whole { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

type Handler = dyn Fn(&Seen) -> Answer + Send + Sync;

/// The server; it ends with the value.
#[derive(Debug)]
pub(crate) struct TestServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl TestServer {
    pub(crate) async fn start(handler: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, handler): (_, Arc<Handler>) = (Arc::clone(&seen), Arc::new(handler));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&handler)));
            }
        });
        Self { address, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, log: Arc<Mutex<Vec<Seen>>>, handler: Arc<Handler>) {
    let Some(seen) = read_request(&mut stream).await else { return };
    log.lock().unwrap().push(seen.clone());
    // A client that has seen enough closes the connection: that is no fault of the server.
    let _ = answer(&mut stream, handler(&seen)).await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut lines = text.lines();
    let target = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect::<Vec<_>>();
    let mut seen = Seen { target, headers, body: Vec::new() };
    if let Some(length) = seen.header("content-length").and_then(|length| length.parse().ok()) {
        seen.body = vec![0; length];
        stream.read_exact(&mut seen.body).await.ok()?;
    }
    Some(seen)
}

async fn answer(stream: &mut TcpStream, answer: Answer) -> std::io::Result<()> {
    match answer {
        Answer::Whole { status, headers, body } => {
            let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
            if status != 304 {
                head.push_str(&format!("content-length: {}\r\n", body.len()));
            }
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            stream.write_all(format!("{head}\r\n").as_bytes()).await?;
            stream.write_all(&body).await
        }
        Answer::Flood { bytes } => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n[\"").await?;
            let block = vec![b'x'; 64 * 1024];
            let mut left = bytes;
            while left > 0 {
                let size = left.min(block.len() as u64);
                stream.write_all(&block[..usize::try_from(size).unwrap()]).await?;
                left -= size;
            }
            Ok(())
        }
        Answer::Trickle => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await?;
            loop {
                stream.write_all(b" ").await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        Answer::Silence => {
            // Ends when the client closes.
            let mut rest = [0; 1];
            stream.read(&mut rest).await.map(|_| ())
        }
        Answer::Torn => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{").await,
        Answer::Noise => stream.write_all(b"\x16\x03\x01 this is no HTTP\r\n\r\n").await,
    }
}
