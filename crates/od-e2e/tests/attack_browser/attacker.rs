//! The attacker: a page, a place to report to, and for rebinding a way on to the daemon.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A server of the attacker's.
pub(crate) struct Attacker {
    address: SocketAddr,
    hits: Arc<Mutex<Vec<String>>>,
    pages: Pages,
}

/// Pages by path: asking for one is no hit.
type Pages = Arc<Mutex<HashMap<String, Vec<u8>>>>;

impl Attacker {
    /// Serves a page with a script. With a daemon given, every path but the attacker's own is passed on to
    /// it, as after DNS has been rebound: Host and Origin name the attacker's host and the daemon's port.
    pub(crate) fn serve(script: &str, daemon: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hits = Arc::new(Mutex::new(Vec::new()));
        let pages = Pages::default();
        let (shared, script, served) = (Arc::clone(&hits), script.to_owned(), Arc::clone(&pages));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (hits, script, pages) =
                    (Arc::clone(&shared), script.clone(), Arc::clone(&served));
                thread::spawn(move || answer(stream, &script, &hits, &pages, address, daemon));
            }
        });
        Self { address, hits, pages }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves a page of its own, without any policy, and returns where.
    pub(crate) fn put(&self, path: &str, page: impl Into<Vec<u8>>) -> String {
        self.pages.lock().unwrap().insert(path.to_owned(), page.into());
        format!("{}{path}", self.origin())
    }

    pub(crate) fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/attacker/page", self.address.port())
    }

    /// Returns everything that was asked of the attacker.
    pub(crate) fn hits(&self) -> Vec<String> {
        self.hits.lock().unwrap().clone()
    }

    /// Waits until something was asked for: a request arrives a moment after the page has made it.
    pub(crate) async fn is_asked_for(&self, path: &str) {
        let mut tick = tokio::time::interval(Duration::from_millis(15));
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.hits().iter().any(|hit| hit == path) {
            assert!(Instant::now() < deadline, "{path} was not seen: {:?}", self.hits());
            tick.tick().await;
        }
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
    pages: &Pages,
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
    let page = pages.lock().unwrap().get(&path).cloned();
    if let Some(whole) = page.as_ref().filter(|page| page.starts_with(b"HTTP/1.1 ")) {
        let _ = stream.write_all(whole);
        return;
    }
    if let Some(page) = page {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            page.len()
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&page));
        return;
    }
    // The browser asks for an icon, the time and its updates by itself; that is no attack.
    let is_browsers_own = path == "/favicon.ico" || path.contains("cup2key=");
    if path != "/attacker/page" && !is_browsers_own {
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
