//! The daemon under load, against hyper with nothing around it.

mod busy;
pub(crate) mod child;
pub(crate) mod http_load;
mod slow_clients;
mod subject;

use std::time::{Duration, Instant};

use child::Child;
pub(crate) use child::serve_until_stdin_closes;
use http_load::{Connection, p99_of_new_connections, requests_per_second};
pub(crate) use subject::person_token;
use subject::{ARTIFACTS, Subject};

use super::store::timed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, told};

const CONNECTIONS: usize = 8;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(1500);
const STREAM_CYCLES: usize = 10_000;
/// Artifacts in the data directory in the end.
const MANY: usize = 10_000;

/// Measures every row; what fails ends the area.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let empty = World::make()?;
    let (start_empty, _) = start(&|| Child::spawn(empty.path()))?;
    let subject = Subject::make()?;
    let (start_full, resident) = start(&|| subject.spawn())?;
    let mut rows = vec![
        timed(
            format!("from process start to the first 200, {ARTIFACTS} artifacts"),
            start_full,
            1e3,
            "ms",
            Target::AtMost(100.0),
        ),
        Row::alone(
            format!("idle memory, {ARTIFACTS} artifacts"),
            format!("{} KiB", resident / 1024),
            (resident as f64 / 1e6, "MB"),
            Target::AtMost(25.0),
        ),
    ];
    rows.extend(previews(&subject)?);
    rows.extend(streams(&subject)?);
    rows.push(new_client(&subject)?);
    let preview_full = one_preview(&subject)?;
    let subject = subject.grown(ARTIFACTS, MANY)?;
    let preview_many = one_preview(&subject)?;
    let (start_many, _) = start(&|| subject.spawn())?;
    let starts = [(1, start_empty), (ARTIFACTS, start_full), (MANY, start_many)];
    rows.push(measure::exponent("cold start with artifacts (the first has none)", &starts, 1.1));
    let previews = [(ARTIFACTS, preview_full), (MANY, preview_many)];
    rows.push(measure::exponent("one preview with artifacts", &previews, 0.1));
    Ok(rows)
}

/// Measures what people wait for while the daemon is busy, and nothing else.
pub(crate) fn measure_busy() -> Outcome<Vec<Row>> {
    busy::measure()
}

/// Measures an honest client among slow ones, and nothing else.
pub(crate) fn measure_slow_clients() -> Outcome<Vec<Row>> {
    slow_clients::measure(&Subject::make()?)
}

/// Returns the time of one preview on a kept-alive connection.
fn one_preview(subject: &Subject) -> Outcome<Duration> {
    let child = subject.spawn()?;
    let page = subject.pages().first().ok_or("there is no page")?;
    let request = child.ticketed(subject, page)?;
    let mut connection = Connection::open(child.preview).map_err(told)?;
    let mut readings = Vec::new();
    for _ in 0..2_000 {
        let mut outcome = Ok((0, 0));
        readings.push(measure::once(&mut || outcome = connection.exchange(&request)));
        if outcome.map_err(told)?.0 != 200 {
            return Err("a preview failed".to_owned());
        }
    }
    Ok(measure::median(&mut readings))
}

/// A new client's preview while others keep the daemon busy.
fn new_client(subject: &Subject) -> Outcome<Row> {
    let child = subject.spawn()?;
    let page = subject.pages().first().ok_or("there is no page")?;
    let request = child.ticketed(subject, page)?;
    let alone = p99_of_new_connections(child.preview, &request, 500).ok_or("no answer alone")?;
    let p99 = std::thread::scope(|scope| {
        let load =
            scope.spawn(|| requests_per_second(child.preview, &request, CONNECTIONS, ROUND * 2));
        let p99 = p99_of_new_connections(child.preview, &request, 300);
        load.join().map_err(|_| "the load ended early")?;
        p99.ok_or("no answer under load")
    })?;
    let row = timed(
        format!("p99 of a new client's preview, {CONNECTIONS} others asking without a pause"),
        p99,
        1e3,
        "ms",
        Target::None,
    );
    Ok(Row { against: format!("alone {alone:.1?}"), ..row })
}

/// From process start to the first 200, and what the idle process holds.
fn start(spawn: &dyn Fn() -> Outcome<Child>) -> Outcome<(Duration, u64)> {
    let mut readings = Vec::new();
    let mut resident = 0;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let child = spawn()?;
        let (status, _) = Connection::open(child.api)
            .and_then(|mut connection| connection.exchange(&child.get("/api/health", None)))
            .map_err(told)?;
        readings.push(began.elapsed());
        if status != 200 {
            return Err(format!("the first answer was {status}"));
        }
        resident = child::resident_bytes(child.pid()).ok_or("no memory reading")?;
    }
    Ok((measure::median(&mut readings), resident))
}

/// Requests per second of two pages, in turns with bare hyper and the same bytes.
fn previews(subject: &Subject) -> Outcome<Vec<Row>> {
    let child = subject.spawn()?;
    let mut rows = Vec::new();
    for page in subject.pages() {
        let request = child.ticketed(subject, page)?;
        let (status, length) = Connection::open(child.preview)
            .and_then(|mut connection| connection.exchange(&request))
            .map_err(told)?;
        if status != 200 || length != page.bytes.len() {
            return Err(format!("the page answered {status} with {length} bytes"));
        }
        let bare = child::Bare::spawn(page.bytes.len())?;
        let (mut daemon_rates, mut bare_rates) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            daemon_rates.push(requests_per_second(child.preview, &request, CONNECTIONS, ROUND));
            bare_rates.push(requests_per_second(bare.address, &request, CONNECTIONS, ROUND));
        }
        let (daemon, bare) = (middle(&mut daemon_rates), middle(&mut bare_rates));
        rows.push(Row {
            what: format!("preview of {} KiB, {CONNECTIONS} connections", page.bytes.len() / 1024),
            measured: format!("{daemon:.0}/s"),
            against: format!("bare hyper {bare:.0}/s"),
            figure: daemon / bare.max(f64::MIN_POSITIVE),
            unit: "x",
            target: Target::AtLeast(0.6),
        });
    }
    Ok(rows)
}

/// Streams opened and cut off, and what they leave behind.
fn streams(subject: &Subject) -> Outcome<Vec<Row>> {
    let child = subject.spawn()?;
    cycle(subject, &child, 500)?;
    let base = settled(&child)?;
    cycle(subject, &child, STREAM_CYCLES)?;
    let (files, resident) = settled(&child)?;
    let grown = resident.saturating_sub(base.1) as f64 / 1e6;
    Ok(vec![
        Row {
            what: format!("file descriptors after {STREAM_CYCLES} SSE connect and abort cycles"),
            measured: files.to_string(),
            against: format!("base {}", base.0),
            figure: files as f64 - base.0 as f64,
            unit: "more",
            target: Target::AtMost(0.0),
        },
        Row {
            what: format!("memory after {STREAM_CYCLES} SSE connect and abort cycles"),
            measured: format!("{} KiB", resident / 1024),
            against: format!("base {} KiB", base.1 / 1024),
            figure: grown,
            unit: "MB more",
            target: Target::AtMost(2.0),
        },
    ])
}

fn cycle(subject: &Subject, child: &Child, times: usize) -> Outcome<()> {
    let mut request = Vec::new();
    for n in 0..times {
        if n % 1000 == 0 {
            // The person's token lives a minute.
            request = child.get("/api/events", Some(&subject.person_token()?));
        }
        let mut stream = Connection::open(child.api).map_err(told)?;
        stream.send(&request).map_err(told)?;
        stream.read_until(b"event: ready").map_err(|error| format!("cycle {n}: {error}"))?;
    }
    Ok(())
}

/// Open files and memory once they have stopped falling.
fn settled(child: &Child) -> Outcome<(usize, u64)> {
    let read = || {
        let files = child::open_files(child.pid()).ok_or("no reading of open files")?;
        let resident = child::resident_bytes(child.pid()).ok_or("no reading of memory")?;
        Ok::<_, String>((files, resident))
    };
    let mut last = read()?;
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(100));
        let next = read()?;
        if next.0 >= last.0 {
            return Ok(next);
        }
        last = next;
    }
    Ok(last)
}

fn middle(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}
