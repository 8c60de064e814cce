//! A small HTTP load generator: blocking sockets, kept alive, as little work of its own as possible.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// One kept-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(Self { stream, buffer: vec![0; 128 * 1024] })
    }

    /// Sends a request and reads its answer; returns the status and the length of the body.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<(u16, usize)> {
        self.stream.write_all(request)?;
        let mut filled = 0;
        let (status, head, length) = loop {
            let read = self.stream.read(&mut self.buffer[filled..])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            filled += read;
            if let Some(parsed) = parse_head(&self.buffer[..filled]) {
                break parsed;
            }
        };
        let mut rest = (head + length).saturating_sub(filled);
        while rest > 0 {
            let want = rest.min(self.buffer.len());
            let read = self.stream.read(&mut self.buffer[..want])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            rest -= read;
        }
        Ok((status, length))
    }

    /// Sends a request and reads its answer; returns the status and the body.
    pub(crate) fn fetch(&mut self, request: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        self.stream.write_all(request)?;
        let mut answer = Vec::new();
        loop {
            if let Some((status, head, length)) = parse_head(&answer)
                && answer.len() >= head + length
            {
                return Ok((status, answer.split_off(head)));
            }
            let read = self.stream.read(&mut self.buffer)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            answer.extend_from_slice(&self.buffer[..read]);
        }
    }

    /// Sends bytes and reads nothing.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Reads until the given text has come; returns everything that came.
    pub(crate) fn read_until(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        let mut seen = Vec::new();
        while !seen.windows(text.len()).any(|window| window == text) {
            let read = self.stream.read(&mut self.buffer)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            seen.extend_from_slice(&self.buffer[..read]);
        }
        Ok(seen)
    }
}

fn parse_head(bytes: &[u8]) -> Option<(u16, usize, usize)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let status = head.get(9..12)?.parse().ok()?;
    let length = head
        .lines()
        .find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        })
        .unwrap_or(0);
    Some((status, end, length))
}

/// Returns the requests per second that so many connections get answered with 200 in the time given.
pub(crate) fn requests_per_second(
    address: SocketAddr,
    request: &[u8],
    connections: usize,
    time: Duration,
) -> f64 {
    let started = Instant::now();
    let total: u64 = thread::scope(|scope| {
        let clients: Vec<_> = (0..connections)
            .map(|_| {
                scope.spawn(|| {
                    let Ok(mut connection) = Connection::open(address) else { return 0 };
                    let mut count = 0_u64;
                    while started.elapsed() < time {
                        match connection.exchange(request) {
                            Ok((200, _)) => count += 1,
                            Ok(_) | Err(_) => return 0,
                        }
                    }
                    count
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap_or(0)).sum()
    });
    total as f64 / started.elapsed().as_secs_f64()
}

/// Returns the latency that 99 of 100 requests stay below, each on a connection of its own.
pub(crate) fn p99_of_new_connections(
    address: SocketAddr,
    request: &[u8],
    count: usize,
) -> Option<Duration> {
    let mut readings: Vec<Duration> = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        let (status, _) = Connection::open(address).ok()?.exchange(request).ok()?;
        if status != 200 {
            return None;
        }
        readings.push(started.elapsed());
    }
    readings.sort_unstable();
    readings.get(count * 99 / 100).copied()
}
