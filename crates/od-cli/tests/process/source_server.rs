//! A server on this machine that a connector asks.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// A request as it came: its target, and the bearer it carried.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) target: String,
    pub(crate) bearer: Option<String>,
}

/// The server. Its threads end with the process.
#[derive(Debug)]
pub(crate) struct SourceServer {
    address: SocketAddr,
}

impl SourceServer {
    /// Answers every request by a handler that writes to the connection.
    pub(crate) fn start(handle: impl Fn(&Asked, TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let handle = Arc::new(handle);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let handle = Arc::clone(&handle);
                std::thread::spawn(move || {
                    if let Some(asked) = read_request(&stream) {
                        handle(&asked, stream);
                    }
                });
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn read_request(mut stream: &TcpStream) -> Option<Asked> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1)?.to_owned();
    let bearer = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_bearer = name.eq_ignore_ascii_case("authorization");
        is_bearer.then(|| value.trim().trim_start_matches("Bearer ").to_owned())
    });
    Some(Asked { target, bearer })
}
