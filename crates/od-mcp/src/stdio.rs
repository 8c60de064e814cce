//! The server on a pipe: one message a line.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use od_core::limits;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::message::{self, Fault};
use crate::server::{Peer, Received, Server};

/// The part of either end that is kept of a line that is too long.
const ENDS_BYTES: usize = 512;
/// The messages that may wait for a client that does not read.
const WAITING_MAX: usize = 64;
/// The time that answers under way have after the client's side has closed.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Why the server ended other than by the end of its input.
#[derive(Debug, thiserror::Error)]
#[error("the client's pipe broke: {source}")]
pub struct ServeError {
    /// What the system said.
    #[from]
    source: io::Error,
}

/// Serves one client until its side closes.
///
/// # Errors
///
/// Fails if the input cannot be read any more.
pub async fn serve(
    server: Arc<Server>,
    reader: impl AsyncRead + Send + Unpin,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let (outbox, messages) = mpsc::channel(WAITING_MAX);
    let writing = tokio::spawn(write_all(writer, messages));
    let read = read_all(&server, reader, &outbox).await;
    drop(outbox);
    // A client that is gone cannot be told anything; one that does not read is not waited for.
    let _ = timeout(LAST_ANSWERS, writing).await;
    read
}

async fn read_all(
    server: &Arc<Server>,
    reader: impl AsyncRead + Send + Unpin,
    outbox: &mpsc::Sender<Value>,
) -> Result<(), ServeError> {
    let mut lines = Lines { reader: BufReader::new(reader), line: Vec::new(), dropped: 0 };
    let mut answers = JoinSet::new();
    loop {
        let line = tokio::select! {
            line = lines.next() => line?,
            Some(_) = answers.join_next() => continue,
        };
        let received = match line {
            Line::End => break,
            Line::Whole(line) if line.trim_ascii().is_empty() => continue,
            Line::Whole(line) => server.receive(&line),
            Line::TooLong { head, tail } => Received::Refused(too_long(&head, &tail)),
        };
        match received {
            Received::Nothing => {}
            Received::Refused(refusal) => {
                if outbox.send(refusal).await.is_err() {
                    break;
                }
            }
            Received::Request(request) => {
                // The client waits for one of them; there is no use in reading on.
                if answers.len() >= limits::MCP_REQUESTS.max() {
                    answers.join_next().await;
                }
                let peer = Outbox(outbox.clone());
                answers.spawn(async move {
                    if let Some(answer) = request.answer(&peer).await {
                        let _gone = peer.0.send(answer).await;
                    }
                });
            }
        }
        // The writer is gone, and with it the client; without this the input might stay open for ever.
        if outbox.is_closed() {
            break;
        }
    }
    let _ = timeout(LAST_ANSWERS, answers.join_all()).await;
    Ok(())
}

/// The queue of the writer.
struct Outbox(mpsc::Sender<Value>);

impl Peer for Outbox {
    fn send(&self, message: Value) -> bool {
        // Never waits: a question of ours to a client that does not read would hold up the call that asks
        // it.
        self.0.try_send(message).is_ok()
    }
}

async fn write_all(
    mut writer: impl AsyncWrite + Send + Unpin,
    mut messages: mpsc::Receiver<Value>,
) {
    while let Some(message) = messages.recv().await {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        if writer.write_all(&line).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

/// One line of the input.
enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was longer than any message; what is kept of it.
    TooLong { head: Vec<u8>, tail: Vec<u8> },
    /// There is no more.
    End,
}

/// The lines of an input. What was read of a line stays if the reading is given up for something else.
struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    dropped: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Reads a line, of a long one only its ends.
    async fn next(&mut self) -> Result<Line, io::Error> {
        loop {
            let found = self.reader.fill_buf().await?;
            let end = found.iter().position(|byte| *byte == b'\n');
            let is_over = end.is_some() || found.is_empty();
            self.line.extend_from_slice(&found[..end.unwrap_or(found.len())]);
            let taken = end.map_or(found.len(), |at| at + 1);
            self.reader.consume(taken);
            // Both ends are kept, because the id of a request may stand in either; the middle goes as it
            // comes.
            let is_long = self.dropped > 0 && self.line.len() > 4 * ENDS_BYTES;
            if is_long || !limits::MCP_MESSAGE.allows(self.line.len()) {
                let middle = ENDS_BYTES..self.line.len() - ENDS_BYTES;
                self.dropped += middle.len();
                self.line.drain(middle);
            }
            if is_over {
                let mut line = std::mem::take(&mut self.line);
                return Ok(match std::mem::take(&mut self.dropped) {
                    0 if end.is_none() && line.is_empty() => Line::End,
                    0 => Line::Whole(line),
                    _ => {
                        let tail = line.split_off(ENDS_BYTES);
                        Line::TooLong { head: line, tail }
                    }
                });
            }
        }
    }
}

fn too_long(head: &[u8], tail: &[u8]) -> Value {
    let message = format!("the message is too long: send {}", limits::MCP_MESSAGE.want());
    Fault::new(Fault::INVALID_REQUEST, message).answer(&message::id_of_ends(head, tail))
}
