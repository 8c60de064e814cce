//! The access log: one JSON line a request, written by a thread of its own.
//!
//! A line names the route, never the path: paths carry preview tickets and ids that people chose.
//! No header, no query, no body is ever part of a record, so none can leak.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Records waiting to be written; beyond it they are counted and dropped.
const PENDING_MAX: usize = od_core::limits::ACCESS_LOG_QUEUE.max();
/// The pause between two writes.
const FLUSH_EVERY: Duration = Duration::from_millis(100);

/// One line of the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) at_unix_ms: i64,
    pub(crate) request: RequestId,
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
    pub(crate) micros: u64,
    /// The error code of the answer, if it was one.
    pub(crate) code: Option<&'static str>,
}

/// The destination of access lines.
pub enum LogSink {
    /// Nowhere.
    Off,
    /// To the process's standard error.
    Stderr,
    /// To a writer of the caller's.
    Writer(Box<dyn Write + Send>),
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "Off",
            Self::Stderr => "Stderr",
            Self::Writer(_) => "Writer",
        })
    }
}

/// Names one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RequestId {
    start: u32,
    number: u64,
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req-{:08x}-{}", self.start, self.number)
    }
}

/// Counts requests since this start of the daemon.
#[derive(Debug)]
pub(crate) struct RequestIds {
    start: u32,
    next: AtomicU64,
}

impl RequestIds {
    /// `start` tells two starts apart.
    pub(crate) const fn new(start: u32) -> Self {
        Self { start, next: AtomicU64::new(1) }
    }

    pub(crate) fn next(&self) -> RequestId {
        RequestId { start: self.start, number: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

/// Takes records without ever waiting for the writer.
#[derive(Debug)]
pub(crate) struct AccessLog {
    pending: Arc<Mutex<Pending>>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Pending {
    records: Vec<Record>,
    dropped: u64,
    closed: bool,
    enabled: bool,
    /// Whether the writer waits for a record, and for no time.
    is_asleep: bool,
}

impl AccessLog {
    /// Starts the writer. Fails if the thread cannot be started.
    pub(crate) fn start(sink: LogSink) -> io::Result<Self> {
        let pending = Arc::new(Mutex::new(Pending::default()));
        let out: Box<dyn Write + Send> = match sink {
            LogSink::Off => return Ok(Self { pending, writer: None }),
            LogSink::Stderr => Box::new(io::stderr()),
            LogSink::Writer(writer) => writer,
        };
        lock(&pending).enabled = true;
        let shared = Arc::clone(&pending);
        let writer = thread::Builder::new()
            .name("od-access-log".to_owned())
            .spawn(move || write_until_closed(&shared, out))?;
        Ok(Self { pending, writer: Some(writer) })
    }

    pub(crate) fn push(&self, record: Record) {
        let mut pending = lock(&self.pending);
        if !pending.enabled {
            return;
        }
        if pending.records.len() >= PENDING_MAX {
            pending.dropped += 1;
        } else {
            pending.records.push(record);
        }
        let is_asleep = std::mem::take(&mut pending.is_asleep);
        drop(pending);
        // Once for a burst: after the first record of one it looks again by itself.
        if let (true, Some(writer)) = (is_asleep, &self.writer) {
            writer.thread().unpark();
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        lock(&self.pending).closed = true;
        if let Some(writer) = self.writer.take() {
            writer.thread().unpark();
            // A panic of the writer has already lost its lines; there is nobody to tell.
            let _ = writer.join();
        }
    }
}

fn write_until_closed(pending: &Mutex<Pending>, mut out: Box<dyn Write + Send>) {
    let mut records = Vec::new();
    let mut text = String::new();
    loop {
        let (dropped, closed) = {
            let mut pending = lock(pending);
            // A daemon that nobody asks anything wakes up for nothing.
            if pending.records.is_empty() && pending.dropped == 0 && !pending.closed {
                pending.is_asleep = true;
                drop(pending);
                thread::park();
                continue;
            }
            std::mem::swap(&mut records, &mut pending.records);
            (std::mem::take(&mut pending.dropped), pending.closed)
        };
        text.clear();
        for record in records.drain(..) {
            let Record { at_unix_ms, request, method, route, status, bytes, micros, code } = record;
            let _ = write!(
                text,
                r#"{{"log":"access","at":{at_unix_ms},"requestId":"{request}","method":"{method}","route":"{route}","status":{status},"bytes":{bytes},"us":{micros}"#
            );
            if let Some(code) = code {
                let _ = write!(text, r#","code":"{code}""#);
            }
            text.push_str("}\n");
        }
        if dropped > 0 {
            let _ = writeln!(text, r#"{{"log":"access","dropped":{dropped}}}"#);
        }
        // A closed stderr must not stop the daemon.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if closed {
            return;
        }
        thread::park_timeout(FLUSH_EVERY);
    }
}

fn lock(pending: &Mutex<Pending>) -> MutexGuard<'_, Pending> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    struct Lines(Sender<String>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Nobody listens any more once the test is over.
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_writer_that_sleeps_without_a_timer_is_woken_by_the_next_record() {
        let (sender, lines) = channel();
        let log = AccessLog::start(LogSink::Writer(Box::new(Lines(sender)))).expect("a thread");
        for status in [200, 201, 202] {
            // It waits for no time now, so nothing but the record can wake it.
            while !lock(&log.pending).is_asleep {
                thread::yield_now();
            }
            log.push(Record {
                at_unix_ms: 0,
                request: RequestIds::new(1).next(),
                method: "GET",
                route: "/",
                status,
                bytes: 0,
                micros: 0,
                code: None,
            });
            let line = lines.recv().expect("a line");
            assert!(line.contains(&format!(r#""status":{status}"#)), "{line}");
        }
    }
}
