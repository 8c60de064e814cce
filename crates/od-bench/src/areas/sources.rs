//! Sources and queries: a large file to a few groups against the `sqlite3` program, several slow sources
//! against the slowest of them, and the memory that a large intake takes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use od_app::Caller;
use od_app::services::AddService;
use od_core::connector::ServiceKind;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::refresh::refreshed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, told};

const ROWS: usize = 100_000;
const GROUPS: usize = 50;
const ROUNDS: usize = 11;
/// Answers of the stand-in come after this, and after twice to four times of it.
const DELAY: Duration = Duration::from_millis(100);
const GROUPED: &str = "SELECT path, count(*) AS calls, avg(ms) AS mean FROM log GROUP BY path ORDER BY mean DESC, path";

/// Measures every row.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    Ok(vec![grouped()?, slow_sources()?, large_intake()?])
}

fn document(sources: &Value, queries: &Value) -> Value {
    json!({
        "input": {
            "title": "Sources",
            "document": {
                "format": "html_template_v2",
                "dataJson": { "rows": [] },
                "sources": sources,
                "queries": queries,
                "refreshPermission": "manual_refresh_granted_for_read_only",
            },
        },
        "templateHtml": "<!doctype html><html><head><title>S</title></head><body>{{data.rows | count}}</body></html>",
    })
}

/// A log of 50 endpoints; every round differs, so that each refresh commits.
fn log(round: usize) -> String {
    let mut text = String::from("path,ms\n");
    for call in 0..ROWS {
        let endpoint = call % GROUPS;
        text.push_str(&format!(
            "/api/{endpoint},{}\n",
            endpoint * 10 + call / GROUPS % 100 + round
        ));
    }
    text
}

fn grouped() -> Outcome<Row> {
    let world = World::make()?.with_fast_clock()?;
    let file = world.folder().join("log.csv");
    fs::write(&file, log(0)).map_err(told)?;
    let source = json!([{ "id": "log", "type": "local_file", "input": { "path": "log.csv" } }]);
    let query = json!([{ "to": "rows", "sql": GROUPED, "shape": "rows" }]);
    let artifact = world.create(document(&source, &query))?;
    refreshed(&world, &artifact)?;
    let (mut times, mut peers) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        fs::write(&file, log(round)).map_err(told)?;
        let mut done = Ok(false);
        times.push(measure::once(&mut || done = refreshed(&world, &artifact)));
        if !done? {
            return Err("a refresh of another log saw no change".to_owned());
        }
        let mut answer = Err(String::new());
        peers.push(measure::once(&mut || answer = sqlite3(&file)));
        if answer? != GROUPS {
            return Err("sqlite3 gave another number of groups".to_owned());
        }
    }
    let pair =
        measure::Pair { subject: measure::median(&mut times), peer: measure::median(&mut peers) };
    let what = "100,000 CSV rows to 50 groups, committed and rendered".to_owned();
    Ok(Row::against_peer(what, &pair, "sqlite3, import and query", Target::AtMost(2.0)))
}

/// Imports the file and runs the query in memory; returns the number of rows.
fn sqlite3(file: &Path) -> Outcome<usize> {
    let output = Command::new("sqlite3")
        .args([":memory:", "-cmd", "CREATE TABLE log(path TEXT, ms INTEGER)"])
        .args(["-cmd", ".mode csv"])
        .arg("-cmd")
        .arg(format!(".import --skip 1 {} log", file.display()))
        .arg(GROUPED)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("the sqlite3 program: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().count())
}

/// Four sources at once, the slowest of which takes four times the delay, against that one alone.
fn slow_sources() -> Outcome<Row> {
    let world = World::make()?.with_fast_clock()?;
    let address = world.run(serve())?;
    let service = AddService {
        name: "slow".parse().map_err(told)?,
        kind: ServiceKind::Http,
        url: Some(format!("http://{address}").parse().map_err(told)?),
        header: None,
        secret: None,
    };
    world.run(od_app::services::add(&world.app, &Caller::Person, service)).map_err(told)?;
    let source = |times: usize| {
        json!({
            "id": format!("s{times}"), "type": "connector_tool",
            "connector": { "connectorId": "http", "toolName": "http.get_json" },
            "input": { "source": "slow", "path": format!("{times}") },
        })
    };
    let all = |sources: &[usize]| {
        let tables: Vec<String> = sources.iter().map(|n| format!("SELECT n FROM s{n}")).collect();
        let query = json!([{ "to": "rows", "sql": tables.join(" UNION ALL "), "shape": "rows" }]);
        let sources: Vec<Value> = sources.iter().map(|times| source(*times)).collect();
        world.create(document(&json!(sources), &query))
    };
    let (four, slowest) = (all(&[1, 2, 3, 4])?, all(&[4])?);
    let (mut failed, mut failed_alone) = (Ok(false), Ok(false));
    let pair = measure::in_turns(
        ROUNDS,
        || failed = refreshed(&world, &four),
        || failed_alone = refreshed(&world, &slowest),
    );
    failed.and(failed_alone)?;
    let what = "refresh of four sources of 100 to 400 ms".to_owned();
    Ok(Row::against_peer(what, &pair, "its slowest alone", Target::AtMost(1.3)))
}

/// Answers each request after as many delays as its path says.
async fn serve() -> Outcome<std::net::SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(told)?;
    let address = listener.local_addr().map_err(told)?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let text = String::from_utf8_lossy(&head[..read]);
                let path = text.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
                tokio::time::sleep(DELAY * path.parse().unwrap_or(1)).await;
                let body = format!("[{{\"n\":{path}}}]");
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                // A client that has gone is none of the server's business.
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    Ok(address)
}

/// The memory that a refresh from a file of 32 MiB takes at its peak, beyond that of one from a small file.
fn large_intake() -> Outcome<Row> {
    let world = World::make()?.with_fast_clock()?;
    let file = world.folder().join("large.csv");
    fs::write(&file, "path,ms\n/a,1\n").map_err(told)?;
    let source = json!([{ "id": "log", "type": "local_file", "input": { "path": "large.csv" } }]);
    let query = json!([{ "to": "rows", "sql": GROUPED, "shape": "rows" }]);
    let artifact = world.create(document(&source, &query))?;
    refreshed(&world, &artifact)?;
    let line = |row: usize| format!("/api/{},{row}{}\n", row % GROUPS, " ".repeat(150));
    let rows: String = (0..190_000).map(line).collect();
    let bytes = rows.len() + 8;
    fs::write(&file, format!("path,ms\n{rows}")).map_err(told)?;
    drop(rows);
    reset_peak()?;
    let before = memory("VmRSS:")?;
    refreshed(&world, &artifact)?;
    let grown = memory("VmHWM:")?.saturating_sub(before) as f64 / 1024.0;
    Ok(Row::alone(
        format!("memory of a refresh from {:.0} MiB of rows", bytes as f64 / 1_048_576.0),
        format!("+{grown:.0} MiB at its peak"),
        (grown, "MiB"),
        Target::AtMost(128.0),
    ))
}

/// Forgets the greatest size that the process had.
fn reset_peak() -> Outcome<()> {
    fs::write("/proc/self/clear_refs", "5").map_err(told)
}

/// Reads a size of this process in KiB.
fn memory(name: &str) -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status").map_err(told)?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such size")?;
    line.split_whitespace().nth(1).unwrap_or_default().parse().map_err(told)
}
