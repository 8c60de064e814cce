//! Answers made to take all memory, time or room of whoever reads them: a refresh ends with its code, the
//! last good page stays.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::daemon::{Daemon, Place};
use crate::source_server::SourceServer;

/// The beginning of a gzip file of zeros, up to where each further zero byte of it stands for 1,032 zeros.
const GZIP_OF_ZEROS: [u8; 30] = [
    0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0x02, 0x03, 0xec, 0xc1, 0x01, 0x01, 0, 0, 0, 0x80, 0x90, 0xfe,
    0xaf, 0xee, 0x08, 0x0a, 0, 0, 0, 0, 0, 0,
];
/// Ten gigabytes, once unpacked.
const GZIP_BYTES: usize = 10_000_000;
/// More than anybody reads.
const ENDLESS: usize = 1024 * 1024 * 1024;
/// What the intake of 32 MiB may take, whatever it is made of.
const GROWTH_KIB_MAX: u64 = 128 * 1024;

/// The bombs, by the name that a resource has, with the codes that a refresh may end with.
const BOMBS: [(&str, &[&str]); 7] = [
    ("gzip", &["SOURCE_UNREADABLE"]),
    ("gzip-unsaid", &["SOURCE_UNREADABLE"]),
    ("gzip-transfer", &["SOURCE_UNREADABLE", "CONNECTOR_EXECUTION_FAILED"]),
    ("deflate", &["SOURCE_UNREADABLE"]),
    ("chunked", &["CONNECTOR_OUTPUT_TOO_LARGE"]),
    ("small-chunks", &["CONNECTOR_OUTPUT_TOO_LARGE"]),
    ("nested", &["SOURCE_UNREADABLE", "CONNECTOR_OUTPUT_TOO_LARGE"]),
];

/// Answers as a service whose answers are good until the bombs are armed.
fn answer(target: &str, is_armed: bool, mut stream: TcpStream) {
    let bomb =
        BOMBS.iter().map(|(name, _)| *name).find(|name| target.ends_with(&format!("/{name}")));
    let Some(bomb) = bomb.filter(|_| is_armed) else {
        let body = json!({ "items": [{ "name": "good" }] }).to_string();
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
        let _ = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
        return;
    };
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
    let zeros = vec![0; GZIP_BYTES - GZIP_OF_ZEROS.len()];
    let zipped = [GZIP_OF_ZEROS.as_slice(), &zeros].concat();
    let length = format!("content-length: {GZIP_BYTES}\r\n\r\n");
    // Whoever hangs up has seen enough.
    let _ = match bomb {
        "gzip" => stream
            .write_all(format!("{head}content-encoding: gzip\r\n{length}").as_bytes())
            .and_then(|()| stream.write_all(&zipped)),
        "deflate" => stream
            .write_all(format!("{head}content-encoding: deflate\r\n{length}").as_bytes())
            .and_then(|()| stream.write_all(&zipped[10..])),
        "gzip-unsaid" => stream
            .write_all(format!("{head}{length}").as_bytes())
            .and_then(|()| stream.write_all(&zipped)),
        "gzip-transfer" => stream
            .write_all(format!("{head}transfer-encoding: gzip, chunked\r\n\r\n").as_bytes())
            .and_then(|()| write!(stream, "{GZIP_BYTES:x}\r\n"))
            .and_then(|()| stream.write_all(&zipped))
            .and_then(|()| stream.write_all(b"\r\n0\r\n\r\n")),
        "chunked" => {
            endless(&mut stream, head, &[b"10000\r\n", &[b'x'; 0x10000][..], b"\r\n"].concat())
        }
        "small-chunks" => endless(
            &mut stream,
            head,
            &[b"40\r\n", &[b'x'; 0x40][..], b"\r\n"].concat().repeat(512),
        ),
        _ => stream
            .write_all(format!("{head}content-length: 20000000\r\n\r\n").as_bytes())
            .and_then(|()| stream.write_all(&vec![b'['; 20_000_000])),
    };
}

/// Sends the same chunks without an end.
fn endless(stream: &mut TcpStream, head: &str, chunks: &[u8]) -> std::io::Result<()> {
    write!(stream, "{head}transfer-encoding: chunked\r\n\r\n2\r\n[\"\r\n")?;
    for _ in 0..ENDLESS / chunks.len() {
        stream.write_all(chunks)?;
    }
    stream.write_all(b"0\r\n\r\n")
}

/// A source that reads a resource of the registered service.
fn resource(name: &str) -> Value {
    json!({
        "type": "connector_tool",
        "input": { "source": "bombs", "path": name },
        "connector": { "connectorId": "http", "toolName": "http.get_json" },
        "outputMapping": { "dataPaths": [{ "from": "items", "to": "items" }] },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    })
}

/// Returns the most memory a process has had, in KiB.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_bomb_ends_a_refresh_with_its_code_and_the_last_good_page_stays() {
    let armed = Arc::new(AtomicU64::new(0));
    let is_armed = Arc::clone(&armed);
    let server = SourceServer::start(move |asked, stream| {
        answer(&asked.target, is_armed.load(Ordering::Relaxed) == 1, stream);
    });
    let place = Place::new();
    place.init();
    let daemon = Daemon::start(&place, "http://127.0.0.1:9");
    let service = json!({ "name": "bombs", "url": server.url() });
    daemon.ok("POST", "/api/sources", Some(&service));
    let artifacts: Vec<(String, &str, &[&str])> = BOMBS
        .iter()
        .map(|(name, codes)| {
            let artifact = daemon.create(&resource(name));
            let refreshed = daemon.refresh(&artifact);
            assert_eq!(refreshed.status, 200, "{name}: {}", refreshed.text());
            (artifact, *name, *codes)
        })
        .collect();
    armed.store(1, Ordering::Relaxed);
    let before = peak_kib(daemon.pid());
    for (artifact, name, codes) in &artifacts {
        let (page, data, revision) = daemon.served(artifact);
        let refused = daemon.refresh(artifact);
        assert!(codes.contains(&refused.code().as_str()), "{name}: {}", refused.text());
        assert_eq!(daemon.served(artifact), (page, data, revision), "{name}");
        let endings = daemon.endings(artifact);
        assert_eq!(endings.last().map(|(_, status)| status.as_str()), Some("failed"), "{name}");
    }
    let growth = peak_kib(daemon.pid()) - before;
    println!("{} bombs: peak memory {before} KiB, grew by {growth} KiB", BOMBS.len());
    assert!(growth <= GROWTH_KIB_MAX, "{growth} KiB");
    // And none of it hurt: the next good answer is taken.
    armed.store(0, Ordering::Relaxed);
    for (artifact, name, _) in &artifacts {
        assert_eq!(daemon.refresh(artifact).status, 200, "{name}");
    }
    daemon.stop();
}
