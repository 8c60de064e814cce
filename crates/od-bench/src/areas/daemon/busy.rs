//! What people wait for while the daemon is busy: previews beside large refreshes, many refreshes at once,
//! an event that many follow, and the memory that a burst leaves.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use od_core::ids::ArtifactId;

use super::child::{Child, resident_bytes};
use super::http_load::Connection;
use super::person_token;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, large, large_data, page, refreshed_from, sized, told};

/// Artifacts that are refreshed at once, each of as much data as it may have.
const BURST: usize = 64;
/// Refreshes that run without a pause beside the previews.
const LOOPS: usize = 8;
const LISTENERS: usize = 200;
/// The memory is read when a person has long gone on.
const AFTERWARDS: Duration = Duration::from_secs(30);

/// Measures every row in a daemon of its own.
pub(super) fn measure() -> Outcome<Vec<Row>> {
    let world = World::make()?;
    let small = world.create(page(0, 3))?;
    let large = (0..sized(BURST, 8)).map(|number| refreshable(&world, number));
    let large = large.collect::<Outcome<Vec<ArtifactId>>>()?;
    let world = world.settled()?;
    let mut rows = vec![beside_refreshes(&world, &small, &large)?];
    rows.extend(burst(&world, &large)?);
    rows.push(event(&world, &small)?);
    Ok(rows)
}

fn refreshable(world: &World, number: usize) -> Outcome<ArtifactId> {
    let file = format!("large-{number}.json");
    world.create(refreshed_from(large(number), &file))
}

/// Writes other data for every artifact, so that each refresh has all of it to check and to commit.
fn change_sources(world: &World, count: usize, round: usize) -> Outcome<()> {
    (0..count).try_for_each(|number| {
        let file = world.folder().join(format!("large-{number}.json"));
        std::fs::write(file, large_data(1_000 * (round + 1) + number).to_string()).map_err(told)
    })
}

fn post(child: &Child, world: &World, target: &str, body: &str) -> Outcome<Vec<u8>> {
    let bearer = person_token(world)?;
    Ok(format!(
        "POST {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {bearer}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        child.api,
        body.len()
    )
    .into_bytes())
}

fn refresh_request(child: &Child, world: &World, artifact: &ArtifactId) -> Outcome<Vec<u8>> {
    post(child, world, &format!("/api/live-artifacts/{artifact}/refresh"), "{}")
}

/// The middle time of a preview on a kept-alive connection.
fn preview(child: &Child, request: &[u8], times: usize) -> Outcome<Duration> {
    let mut connection = Connection::open(child.api).map_err(told)?;
    let mut readings = Vec::with_capacity(times);
    for _ in 0..times {
        let mut answer = Ok((0, 0));
        readings.push(measure::once(&mut || answer = connection.exchange(request)));
        if answer.map_err(told)?.0 != 200 {
            return Err("a preview failed".to_owned());
        }
    }
    Ok(measure::median(&mut readings))
}

fn beside_refreshes(world: &World, small: &ArtifactId, large: &[ArtifactId]) -> Outcome<Row> {
    let child = Child::spawn(world.path())?;
    let target = format!("/api/live-artifacts/{small}/preview");
    let request = child.get(&target, Some(&person_token(world)?));
    let times = sized(2_000, 50);
    let alone = preview(&child, &request, times)?;
    change_sources(world, large.len(), 0)?;
    let requests = large.iter().map(|artifact| refresh_request(&child, world, artifact));
    let requests = requests.collect::<Outcome<Vec<_>>>()?;
    let (is_over, refreshed) = (AtomicBool::new(false), AtomicUsize::new(0));
    let beside = thread::scope(|scope| {
        for offset in 0..LOOPS.min(requests.len()) {
            let (child, requests, is_over, refreshed) = (&child, &requests, &is_over, &refreshed);
            scope.spawn(move || {
                // Each goes round its own share: two refreshes of one artifact exclude each other.
                let mine = requests.iter().skip(offset).step_by(LOOPS).cycle();
                let Ok(mut connection) = Connection::open(child.api) else { return };
                for request in mine {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    if matches!(connection.exchange(request), Ok((200, _))) {
                        refreshed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let beside = preview(&child, &request, times);
        is_over.store(true, Ordering::Relaxed);
        beside
    })?;
    if refreshed.load(Ordering::Relaxed) == 0 {
        return Err("no refresh succeeded beside the previews".to_owned());
    }
    let pair = measure::Pair { subject: beside, peer: alone };
    let what = format!("preview, p50, beside {LOOPS} large refreshes without a pause");
    Ok(Row::against_peer(what, &pair, "alone", Target::AtMost(10.0)))
}

/// Refreshes every artifact at once; then reads the memory when that is long over.
fn burst(world: &World, large: &[ArtifactId]) -> Outcome<Vec<Row>> {
    let child = Child::spawn(world.path())?;
    let mut rates = Vec::new();
    for round in 1..=3 {
        change_sources(world, large.len(), round)?;
        let requests = large.iter().map(|artifact| refresh_request(&child, world, artifact));
        let requests = requests.collect::<Outcome<Vec<_>>>()?;
        let began = Instant::now();
        let done = thread::scope(|scope| {
            let clients: Vec<_> = requests
                .iter()
                .map(|request| scope.spawn(|| Connection::open(child.api)?.exchange(request)))
                .collect();
            clients
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .fold(0, |done, end| done + usize::from(matches!(end, Ok(Ok((200, _))))))
        });
        if done != large.len() {
            return Err(format!("{done} of {} refreshes succeeded", large.len()));
        }
        rates.push(done as f64 / began.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    let rate = rates.get(rates.len() / 2).copied().unwrap_or_default();
    thread::sleep(if large.len() == BURST { AFTERWARDS } else { Duration::from_secs(1) });
    let resident = resident_bytes(child.pid()).ok_or("no reading of memory")?;
    Ok(vec![
        Row::alone(
            format!("{} large refreshes at once", large.len()),
            format!("{rate:.0}/s"),
            (rate, "/s"),
            Target::AtLeast(300.0),
        ),
        Row::alone(
            format!(
                "memory {} s after bursts of {} large refreshes",
                AFTERWARDS.as_secs(),
                large.len()
            ),
            format!("{} KiB", resident / 1024),
            (resident as f64 / 1e6, "MB"),
            Target::AtMost(80.0),
        ),
    ])
}

/// The time from the request for a change until the last of many listeners has its event.
fn event(world: &World, artifact: &ArtifactId) -> Outcome<Row> {
    let child = Child::spawn(world.path())?;
    let listeners = sized(LISTENERS, 10);
    let target = format!("/api/live-artifacts/{artifact}");
    let mut readings = Vec::new();
    for round in 0..sized(11, 2) {
        let events = child.get("/api/events", Some(&person_token(world)?));
        let body = format!("{{\"input\":{{\"title\":\"Round {round}\"}}}}");
        let change = post(&child, world, &target, &body)?;
        let change =
            [b"PATCH".as_slice(), change.strip_prefix(b"POST").unwrap_or(&change)].concat();
        let (ready, is_ready) = mpsc::channel();
        let last = thread::scope(|scope| {
            let streams: Vec<_> = (0..listeners)
                .map(|_| {
                    let (events, child, ready) = (&events, &child, ready.clone());
                    scope.spawn(move || {
                        let mut stream = Connection::open(child.api)?;
                        stream.send(events)?;
                        stream.read_until(b"event: ready")?;
                        let _ = ready.send(());
                        stream.read_until(b"event: live_artifact")?;
                        Ok::<_, std::io::Error>(Instant::now())
                    })
                })
                .collect();
            drop(ready);
            let following = is_ready.iter().take(listeners).count();
            if following != listeners {
                return Err(format!("{following} of {listeners} streams opened"));
            }
            let began = Instant::now();
            let answer = Connection::open(child.api).and_then(|mut one| one.exchange(&change));
            if answer.map_err(told)?.0 != 200 {
                return Err("the change was refused".to_owned());
            }
            let mut last = Duration::ZERO;
            for stream in streams {
                let seen = stream.join().map_err(|_| "a listener ended early")?.map_err(told)?;
                last = last.max(seen.duration_since(began));
            }
            Ok(last)
        })?;
        readings.push(last);
    }
    let time = measure::median(&mut readings);
    let what = format!("from a change until the last of {listeners} listeners has its event");
    Ok(Row::alone(
        what,
        format!("{time:.1?}"),
        (time.as_secs_f64() * 1e3, "ms"),
        Target::AtMost(50.0),
    ))
}
