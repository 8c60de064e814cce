//! A source that sends a gibibyte costs the daemon a bounded amount of memory.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::daemon::{Daemon, Place, releases};
use crate::source_server::SourceServer;

const GIBIBYTE: u64 = 1024 * 1024 * 1024;
const GROWTH_KIB_MAX: u64 = 64 * 1024;
/// Floods at the same time.
const AT_ONCE: usize = 4;

/// Returns the most memory a process has had, in KiB.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_gibibyte_from_a_source_costs_at_most_64_mebibytes() {
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    let server = SourceServer::start(move |asked, mut stream| {
        let (head, open, close): (String, &[u8], &[u8]) = if asked.target.contains("/announced/") {
            (format!("content-length: {}\r\n", GIBIBYTE + 4), b"[\"", b"\"]")
        } else if asked.target.contains("/chunked/") {
            // One chunk of a gibibyte.
            ("transfer-encoding: chunked\r\n".to_owned(), b"40000004\r\n[\"", b"\"]\r\n0\r\n\r\n")
        } else {
            // Until the connection ends.
            (String::new(), b"[\"", b"\"]")
        };
        let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n{head}\r\n");
        let block = vec![b'x'; 64 * 1024];
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(open)).is_err() {
            return;
        }
        for _ in 0..GIBIBYTE / block.len() as u64 {
            // The daemon hangs up when it has seen enough.
            if stream.write_all(&block).is_err() {
                return;
            }
            count.fetch_add(block.len() as u64, Ordering::Relaxed);
        }
        let _ = stream.write_all(close);
    });
    let place = Place::new();
    place.init();
    let daemon = Daemon::start(&place, &server.url());
    let artifacts: Vec<String> = ["announced", "chunked", "endless"]
        .iter()
        .cycle()
        .take(AT_ONCE)
        .map(|repo| daemon.create(&releases(repo)))
        .collect();
    // Whatever the first of everything costs is not the flood's.
    daemon.refresh(&artifacts[0]);
    let before = peak_kib(daemon.pid());
    for _ in 0..3 {
        let refused: Vec<_> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                artifacts.iter().map(|artifact| scope.spawn(|| daemon.refresh(artifact))).collect();
            asked.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for answer in refused {
            assert_eq!(answer.code(), "CONNECTOR_OUTPUT_TOO_LARGE", "{}", answer.text());
        }
    }
    let growth = peak_kib(daemon.pid()) - before;
    println!(
        "{} streams of 1 GiB, {AT_ONCE} at a time ({} MiB of them were taken before hanging up): \
         peak memory {before} KiB, grew by {growth} KiB",
        3 * AT_ONCE,
        sent.load(Ordering::Relaxed) >> 20
    );
    assert!(growth <= GROWTH_KIB_MAX, "{growth} KiB");
    daemon.stop();
}
