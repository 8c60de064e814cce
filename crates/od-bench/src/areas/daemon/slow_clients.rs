//! An honest client while many others are slow, in four ways and in all of them at once.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::net::TcpSocket;

use super::child::Child;
use super::http_load::p99_of_new_connections;
use super::subject::Subject;
use crate::row::{Row, Target};
use crate::world::{Outcome, told};

/// Slow clients of each kind.
const EACH: usize = 1_500;
const HONEST: usize = 1_000;
/// Answers that are asked for and never read: more than the buffers between the two hold.
const UNREAD_ANSWERS: usize = 64;
/// Bytes that whoever reads nothing has room for.
const RECEIVE_BYTES: u32 = 4_096;
/// The pause between two bytes of everybody.
const TRICKLE: Duration = Duration::from_millis(500);
const LIMIT_MS: f64 = 50.0;

/// A way to be slow.
#[derive(Clone, Copy, Debug)]
enum Slowness {
    /// Says nothing.
    Silent,
    /// Sends its head a byte at a time.
    Head,
    /// Sends its body a byte at a time.
    Body,
    /// Asks, and reads no answer.
    Unread,
}

impl Slowness {
    const ALL: [Self; 4] = [Self::Silent, Self::Head, Self::Body, Self::Unread];

    const fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Head => "with slow heads",
            Self::Body => "with slow bodies",
            Self::Unread => "that read nothing",
        }
    }

    /// Returns the bytes that are sent at once.
    fn opening(self, child: &Child) -> Vec<u8> {
        let host = child.api;
        match self {
            Self::Silent => Vec::new(),
            Self::Head => b"GET /api/health HTTP/1.1\r\nX-Slow: ".to_vec(),
            Self::Body => format!(
                "POST /api/session HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
                 Content-Length: 4096\r\n\r\n{{\"code\":\""
            )
            .into_bytes(),
            Self::Unread => child.get("/openapi.json", None).repeat(UNREAD_ANSWERS),
        }
    }

    const fn trickles(self) -> bool {
        match self {
            Self::Head | Self::Body => true,
            Self::Silent | Self::Unread => false,
        }
    }
}

/// Measures every kind alone, then all together.
pub(super) fn measure(subject: &Subject) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for kind in Slowness::ALL {
        rows.push(among(subject, &[kind], &format!("{EACH} clients {}", kind.name()))?);
    }
    let all = format!("{EACH} clients of each of four slow kinds");
    rows.push(among(subject, &Slowness::ALL, &all)?);
    Ok(rows)
}

fn among(subject: &Subject, kinds: &[Slowness], whom: &str) -> Outcome<Row> {
    let child = subject.spawn()?;
    let request = child.get("/api/health", None);
    let alone = p99_of_new_connections(child.api, &request, HONEST).ok_or("no answer alone")?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(told)?;
    let mut silent = Vec::new();
    let mut trickling = Vec::new();
    for kind in kinds {
        let opening = kind.opening(&child);
        for _ in 0..EACH {
            let mut stream = runtime.block_on(connect(child.api))?;
            // Whoever has to give way is cut off here already, and comes no more.
            let _ = stream.write(&opening);
            if kind.trickles() { trickling.push(stream) } else { silent.push(stream) }
        }
    }
    let is_over = AtomicBool::new(false);
    let p99 = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for mut stream in &trickling {
                    let _ = stream.write(b"s");
                }
                thread::sleep(TRICKLE);
            }
        });
        let p99 = p99_of_new_connections(child.api, &request, HONEST);
        is_over.store(true, Ordering::Relaxed);
        p99
    })
    .ok_or_else(|| format!("an honest client got no answer among {whom}"))?;
    drop(silent);
    Ok(Row {
        what: format!("p99 of an honest client among {whom}"),
        measured: format!("{p99:.1?}"),
        against: format!("alone {alone:.1?}"),
        figure: p99.as_secs_f64() * 1000.0,
        unit: "ms",
        target: Target::AtMost(LIMIT_MS),
    })
}

/// Connects with little room for answers; writes that would wait fail instead.
async fn connect(address: SocketAddr) -> Outcome<TcpStream> {
    let socket = TcpSocket::new_v4().map_err(told)?;
    socket.set_recv_buffer_size(RECEIVE_BYTES).map_err(told)?;
    socket.connect(address).await.and_then(tokio::net::TcpStream::into_std).map_err(told)
}
