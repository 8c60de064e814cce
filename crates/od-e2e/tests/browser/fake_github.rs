//! A server that speaks as much of GitHub as a test needs, and answers when the test lets it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the server does with a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mood {
    /// It answers at once.
    Answer,
    /// It keeps the request until its mood changes.
    Hold,
    /// It no longer knows the token.
    Refuse,
}

#[derive(Clone, Debug)]
pub(crate) struct FakeGitHub {
    pub(crate) url: String,
    mood: watch::Sender<Mood>,
    releases: Arc<Mutex<Vec<Value>>>,
    asked: watch::Sender<usize>,
}

impl FakeGitHub {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (mood, _) = watch::channel(Mood::Answer);
        let (asked, _) = watch::channel(0);
        let server = Self { url, mood, asked, releases: Arc::default() };
        server.publish(&["v1.0.0", "v1.1.0"]);
        let own = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().answer(stream));
            }
        });
        server
    }

    pub(crate) fn be(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// Sets the releases, oldest first.
    pub(crate) fn publish(&self, tags: &[&str]) {
        let releases = tags.iter().rev().map(|tag| {
            json!({
                "tag_name": tag, "name": format!("Release {tag}"), "html_url": "https://example.com",
                "published_at": "2026-04-30T00:00:00Z", "author": { "login": "octo" }, "body": "Notes.",
            })
        });
        *self.releases.lock().unwrap() = releases.collect();
    }

    /// Waits until so many requests have arrived.
    pub(crate) async fn was_asked(&self, times: usize) {
        self.asked.subscribe().wait_for(|asked| *asked >= times).await.unwrap();
    }

    async fn answer(self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => request.extend_from_slice(&buffer[..count]),
            }
        }
        self.asked.send_modify(|asked| *asked += 1);
        let mood = *self.mood.subscribe().wait_for(|mood| *mood != Mood::Hold).await.unwrap();
        let request = String::from_utf8_lossy(&request).into_owned();
        let body = if request.starts_with("GET /user ") {
            json!({ "login": "octo" })
        } else {
            Value::from(self.releases.lock().unwrap().clone())
        };
        let body = body.to_string();
        let status = match mood {
            Mood::Refuse => "401 Unauthorized",
            Mood::Answer | Mood::Hold => "200 OK",
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}
