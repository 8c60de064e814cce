//! The attacker: a page, a place to report to, and for rebinding a way on to the daemon.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A server of the attacker's.
pub(crate) struct Attacker {
    address: SocketAddr,
    hits: Arc<Mutex<Vec<String>>>,
}

impl Attacker {
    /// Serves a page with a script. With a daemon given, every path but the attacker's own is passed on to
    /// it, as after DNS has been rebound: Host and Origin name the attacker's host and the daemon's port.
    pub(crate) fn serve(script: &str, daemon: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hits = Arc::new(Mutex::new(Vec::new()));
        let (shared, script) = (Arc::clone(&hits), script.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (hits, script) = (Arc::clone(&shared), script.clone());
                thread::spawn(move || answer(stream, &script, &hits, address, daemon));
            }
        });
        Self { address, hits }
    }

    pub(crate) fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/attacker/page", self.address.port())
    }

    /// Returns everything that was asked of the attacker.
    pub(crate) fn hits(&self) -> Vec<String> {
        self.hits.lock().unwrap().clone()
    }

    /// Returns what the page reported, by name.
    pub(crate) fn reports(&self) -> Vec<(String, String)> {
        self.hits()
            .iter()
            .filter_map(|path| {
                let (_, rest) = path.split_once("/report/")?;
                let (name, text) = rest.split_once('/')?;
                Some((name.to_owned(), decoded(text)))
            })
            .collect()
    }
}

fn answer(
    mut stream: TcpStream,
    script: &str,
    hits: &Mutex<Vec<String>>,
    own: SocketAddr,
    daemon: Option<SocketAddr>,
) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let Some(request) = read_request(&mut stream) else { return };
    let head = String::from_utf8_lossy(&request).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_own = path.starts_with("/attacker/") || path.starts_with("/report/");
    if let (Some(daemon), false) = (daemon, is_own) {
        pass_on(&mut stream, &head, own, daemon);
        return;
    }
    // The browser asks for an icon by itself; that is no attack.
    if path != "/attacker/page" && path != "/favicon.ico" {
        hits.lock().unwrap().push(path);
    }
    let page =
        format!("<!doctype html><title>attack</title><body><script>{script}</script></body>");
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
}

/// Sends the browser's own request to the daemon under the daemon's port, and the answer back.
fn pass_on(stream: &mut TcpStream, request: &str, own: SocketAddr, daemon: SocketAddr) {
    let rebound = format!("evil.test:{}", daemon.port());
    let request = request
        .replace(&format!("evil.test:{}", own.port()), &rebound)
        .replace("Connection: keep-alive", "Connection: close");
    let Ok(mut upstream) = TcpStream::connect(daemon) else { return };
    let _ = upstream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = upstream.read_to_end(&mut answer);
    let _ = stream.write_all(&answer);
}

fn read_request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&request);
        if let Some(end) = text.find("\r\n\r\n") {
            let length: usize = text
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .unwrap_or(0);
            if request.len() >= end + 4 + length {
                return Some(request);
            }
        }
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|b| char::from(b).to_digit(16));
        if byte == b'%' {
            let (high, low) = (digit(rest.next()), digit(rest.next()));
            bytes.push(u8::try_from(high.unwrap_or(0) * 16 + low.unwrap_or(0)).unwrap_or(b'?'));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
