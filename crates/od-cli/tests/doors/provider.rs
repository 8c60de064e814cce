//! A provider at the other end of a real socket that takes requests and keeps them waiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, channel};

/// A provider that answers nobody.
pub(crate) struct Provider {
    pub(crate) url: String,
    /// One word for each request that came and waits.
    asked: tokio::sync::Mutex<Receiver<()>>,
    waiting: Arc<Mutex<Vec<TcpStream>>>,
    released: Arc<AtomicBool>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, receiver) = channel(8);
        let (waiting, released) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (kept, open) = (Arc::clone(&waiting), Arc::clone(&released));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if open.load(Ordering::SeqCst) {
                    continue;
                }
                let kept: &Mutex<Vec<TcpStream>> = &kept;
                kept.lock().unwrap().push(stream);
                if sender.send(()).await.is_err() {
                    return;
                }
            }
        });
        Self { url, asked: tokio::sync::Mutex::new(receiver), waiting, released }
    }

    /// Waits until somebody waits.
    pub(crate) async fn wait_for_request(&self) {
        self.asked.lock().await.recv().await.unwrap();
    }

    /// Lets everybody down who waits, and who comes after.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
        self.waiting.lock().unwrap().clear();
    }
}
