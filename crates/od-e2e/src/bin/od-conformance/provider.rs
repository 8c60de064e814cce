//! A provider at the other end of a real socket: it keeps its callers waiting, lets them down, or answers.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Outcome;
use crate::case::Provided;

/// The way a provider treats who comes.
#[derive(Debug)]
enum Manner {
    Wait(Vec<TcpStream>),
    HangUp,
    Answer(Provided),
}

/// A provider.
pub(crate) struct Provider {
    pub(crate) url: String,
    asked: Receiver<()>,
    manner: Arc<Mutex<Manner>>,
}

fn lock(manner: &Mutex<Manner>) -> MutexGuard<'_, Manner> {
    manner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Provider {
    /// Starts one that keeps everybody waiting.
    pub(crate) fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|err| err.to_string())?;
        let address = listener.local_addr().map_err(|err| err.to_string())?;
        let (sender, asked) = channel();
        let manner = Arc::new(Mutex::new(Manner::Wait(Vec::new())));
        let shared = Arc::clone(&manner);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                match &mut *lock(&shared) {
                    Manner::Wait(waiting) => {
                        waiting.push(stream);
                        if sender.send(()).is_err() {
                            return;
                        }
                    }
                    Manner::HangUp => drop(stream),
                    Manner::Answer(provided) => {
                        let provided = provided.clone();
                        std::thread::spawn(move || answer(&mut stream, &provided));
                    }
                }
            }
        });
        Ok(Self { url: format!("http://{address}"), asked, manner })
    }

    /// Waits until somebody waits.
    pub(crate) fn wait_for_request(&self) -> Outcome<()> {
        self.asked
            .recv_timeout(Duration::from_secs(60))
            .map_err(|_| "nobody asked the provider".to_owned())
    }

    /// Lets everybody down who waits, and who comes after.
    pub(crate) fn release(&self) {
        *lock(&self.manner) = Manner::HangUp;
    }

    /// Answers everybody who comes from now on.
    pub(crate) fn answer(&self, provided: Provided) {
        *lock(&self.manner) = Manner::Answer(provided);
    }
}

fn answer(stream: &mut TcpStream, provided: &Provided) {
    // The head of a request fits; its body is not looked at.
    let mut request = [0; 65_536];
    let _some = stream.read(&mut request);
    let body = provided.body.as_str().map_or_else(|| provided.body.to_string(), str::to_owned);
    let mut head = format!(
        "HTTP/1.1 {} Said\r\ncontent-length: {}\r\nconnection: close\r\n",
        provided.status,
        body.len()
    );
    if !provided.headers.contains_key("content-type") {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in &provided.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // A client that refuses by the head hangs up before the body.
    let _early = stream.write_all(format!("{head}\r\n{body}").as_bytes());
}
