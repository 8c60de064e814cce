//! A GitHub that answers when it is told to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};

/// A server with one repository. Each call waits at the gate.
pub(crate) struct GatedGitHub {
    address: SocketAddr,
    arrived: Mutex<Receiver<()>>,
    open: Sender<()>,
}

impl GatedGitHub {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell_arrived, arrived) = mpsc::channel();
        let (open, opened) = mpsc::channel();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                read_head(&stream);
                // The test may be over; then nobody waits for an answer either.
                if tell_arrived.send(()).is_err() || opened.recv().is_err() {
                    return;
                }
                answer(&stream);
            }
        });
        Self { address, arrived: Mutex::new(arrived), open }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until a call stands at the gate.
    pub(crate) fn wait_for_call(&self) {
        self.arrived.lock().unwrap().recv().unwrap();
    }

    /// Lets it be answered.
    pub(crate) fn open(&self) {
        self.open.send(()).unwrap();
    }
}

fn read_head(mut stream: &TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
}

fn answer(mut stream: &TcpStream) {
    let body = r#"{
        "full_name": "octo/cat", "html_url": "https://github.com/octo/cat",
        "default_branch": "main", "stargazers_count": 7, "forks_count": 2,
        "open_issues_count": 4, "archived": false,
        "created_at": "2020-01-01T00:00:00Z", "pushed_at": "2026-04-01T00:00:00Z"
    }"#;
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}", body.len());
    // A client that has gone away has its reasons.
    let _ = stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes());
}
