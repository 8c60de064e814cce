//! Opening one of a hundred kept revisions: the store alone, the page, and the page through HTTP.

use std::time::Duration;

use od_app::artifacts::{self, Address, Reading, UpdateArtifact};
use od_app::preview::{PageRequest, page};
use od_app::{App, Caller, Mode};
use od_core::ids::{ArtifactId, Revision};
use od_core::token::Variant;
use serde_json::{Value, json};

use super::daemon::child::Child;
use super::daemon::http_load::Connection;
use super::daemon::person_token;
use super::store::timed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, told};

const REVISIONS: u64 = 100;
/// Each revision counts with the best of so many readings, and the slowest revision is the figure.
const ROUNDS: usize = 3;
const LIMIT_MS: f64 = 5.0;

/// Measures the store, the use case and HTTP, each with nothing of a revision in memory.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let world = World::make()?;
    let artifact = world.create(json!({
        "input": { "title": "Kept", "document": {
            "format": "html_template_v1", "dataJson": table(0),
        } },
        "templateHtml": TEMPLATE,
    }))?;
    (1..REVISIONS).try_for_each(|revision| update(&world, &artifact, revision))?;
    let world = world.settled()?;
    let (at, of) = (&world, &artifact);
    let stored = slowest(|| {
        let app = world.reopened()?;
        Ok(move |revision| read(at, &app, of, revision))
    })?;
    let drawn = slowest(|| {
        let app = world.reopened()?;
        Ok(move |revision| draw(at, &app, of, revision))
    })?;
    let served = slowest(|| serve(&world, &artifact))?;
    let current = current(&world, &artifact)?;
    let row = |what: &str, time, target| {
        timed(
            format!("slowest of {REVISIONS} revisions of 200 KB, {what}"),
            time,
            1e3,
            "ms",
            target,
        )
    };
    Ok(vec![
        row("the store alone", stored, Target::AtMost(LIMIT_MS)),
        row("drawn as a page", drawn, Target::AtMost(LIMIT_MS)),
        Row {
            against: format!("the current page, first time {current:.1?}"),
            ..row("its page through HTTP", served, Target::AtMost(LIMIT_MS))
        },
    ])
}

const TEMPLATE: &str = "<!doctype html><html lang=\"en\"><head><title>{{data.title}}</title></head>\
    <body><table><tbody><tr data-od-repeat=\"row in data.rows\"><td>{{row.id}}</td><td>{{row.a}}</td>\
    <td>{{row.b}}</td><td>{{row.c}}</td><td>{{row.d}}</td><td>{{row.e}}</td>\
    <td>{{row.note}}</td></tr></tbody></table>\
    </body></html>";

/// About 200 KB whose rows are hard to compress, after so many revisions, each of which changed a row.
fn table(revision: u64) -> Value {
    let cell = |seed: u64| {
        let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let turned = [17, 41, 53].map(|bits| format!("{:016x}", mixed.rotate_left(bits)));
        format!("{mixed:016x}{}", turned.concat())
    };
    let rows: Vec<Value> = (0..500_u64)
        .map(|row| {
            let seed = row * 16 + if row > 0 && row <= revision { 1 << 20 } else { 0 };
            json!({
                "id": row, "note": "one of many rows of this table",
                "a": cell(seed), "b": cell(seed + 1), "c": cell(seed + 2), "d": cell(seed + 3),
                "e": cell(seed + 4),
            })
        })
        .collect();
    json!({ "title": "Kept", "rows": rows })
}

fn update(world: &World, artifact: &ArtifactId, revision: u64) -> Outcome<()> {
    let body = json!({
        "input": { "document": { "format": "html_template_v1", "dataJson": table(revision) } },
    });
    let address = Address { project: Some(world.project.clone()), artifact: artifact.clone() };
    let request =
        UpdateArtifact { target: address.into(), body: body.into(), reading: Reading::Now };
    world
        .run(artifacts::update(&world.app, &Caller::Person, request, Mode::Commit))
        .map(drop)
        .map_err(told)
}

/// Opens every revision in several rounds; returns the time of the slowest, each at its best.
fn slowest<Open>(mut round: impl FnMut() -> Outcome<Open>) -> Outcome<Duration>
where
    Open: FnMut(Revision) -> Outcome<Duration>,
{
    let mut best = vec![Duration::MAX; REVISIONS as usize];
    for _ in 0..ROUNDS {
        let mut open = round()?;
        let revisions = std::iter::successors(Some(Revision::first()), |last| Some(last.next()));
        for (best, revision) in best.iter_mut().zip(revisions) {
            *best = open(revision)?.min(*best);
        }
    }
    best.into_iter().max().ok_or_else(|| "there is no revision".to_owned())
}

fn read(world: &World, app: &App, artifact: &ArtifactId, revision: Revision) -> Outcome<Duration> {
    let mut outcome = Ok(());
    let time = measure::once(&mut || {
        let kept = world.run(app.ports.revisions.revision(&world.project, artifact, revision));
        outcome = kept.map(drop).map_err(told);
    });
    outcome.map(|()| time)
}

fn draw(world: &World, app: &App, artifact: &ArtifactId, revision: Revision) -> Outcome<Duration> {
    let mut outcome = Ok(());
    let time = measure::once(&mut || {
        let request = PageRequest {
            project: Some(world.project.clone()),
            artifact: artifact.clone(),
            variant: Variant::Rendered,
            snapshot: None,
            revision: Some(revision),
        };
        outcome = world.run(page(app, request)).map(drop).map_err(told);
    });
    outcome.map(|()| time)
}

/// Starts a daemon; its connection is kept alive and its cache knows no page.
fn serve<'a>(
    world: &'a World,
    artifact: &'a ArtifactId,
) -> Outcome<impl FnMut(Revision) -> Outcome<Duration> + use<'a>> {
    let child = Child::spawn(world.path())?;
    let token = person_token(world)?;
    let mut connection = Connection::open(child.api).map_err(told)?;
    Ok(move |revision: Revision| {
        let target = format!("/api/live-artifacts/{artifact}/preview?revision={revision}");
        exchange(&mut connection, &child.get(&target, Some(&token)))
    })
}

fn exchange(connection: &mut Connection, request: &[u8]) -> Outcome<Duration> {
    let mut outcome = Ok((0, 0));
    let time = measure::once(&mut || outcome = connection.exchange(request));
    match outcome.map_err(told)? {
        (200, length) if length > 100_000 => Ok(time),
        (status, length) => Err(format!("the page answered {status} with {length} bytes")),
    }
}

/// Returns the time of the current page when it is asked for the first time.
fn current(world: &World, artifact: &ArtifactId) -> Outcome<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let child = Child::spawn(world.path())?;
        let token = person_token(world)?;
        let mut connection = Connection::open(child.api).map_err(told)?;
        let target = format!("/api/live-artifacts/{artifact}/preview");
        times.push(exchange(&mut connection, &child.get(&target, Some(&token)))?);
    }
    Ok(measure::median(&mut times))
}
