//! Durable writes against the one-file floor; reads by how much there is to read.

use std::time::Duration;

use od_app::artifacts::{self, Address, ListArtifacts, Reading, UpdateArtifact};
use od_app::{Caller, Mode};
use od_core::ids::ArtifactId;
use serde_json::json;

use super::disk::{one_file, quiet_floor};
use crate::measure::{self, Floor};
use crate::row::{Row, Target};
use crate::world::{Outcome, World, large, large_data, page, scratch, template, told};

const ROUNDS: usize = 150;
const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// Measures writes, then reads.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let mut rows = creates()?;
    rows.extend(updates()?);
    rows.extend(lists()?);
    rows.push(load()?);
    Ok(rows)
}

/// Creates of two sizes against the floor, and a new title of a large one.
fn creates() -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for (kib, rounds, limit) in [(4, 300, 2.5), (256, 60, 8.0)] {
        let bytes = page(0, kib).to_string().into_bytes();
        let alone = quiet_floor(&bytes)?;
        let (world, floor) = (World::make()?, scratch()?);
        let mut failed = None;
        let pair = measure::in_turns(
            rounds,
            || failed = world.create(page(1, kib)).err().or(failed.take()),
            || drop(one_file(floor.path(), &bytes)),
        );
        failed.map_or(Ok(()), Err)?;
        rows.push(against_floor(&format!("durable create, {kib} KiB"), &pair, alone, limit));
    }
    rows.push(retitles()?);
    Ok(rows)
}

/// A new title of an artifact of 256 KiB: a small change, whatever the size of the rest.
fn retitles() -> Outcome<Row> {
    let bytes = page(0, 4).to_string().into_bytes();
    let alone = quiet_floor(&bytes)?;
    let (world, floor) = (World::make()?, scratch()?);
    let artifact = world.create(large(0))?;
    let address = Address { project: Some(world.project.clone()), artifact };
    let (mut failed, mut numbers) = (None, 0..);
    let pair = measure::in_turns(
        60,
        || {
            let body = json!({ "input": { "title": format!("Title {:?}", numbers.next()) } });
            let target = address.clone().into();
            let request = UpdateArtifact { target, body: body.into(), reading: Reading::Now };
            let done =
                world.run(artifacts::update(&world.app, &Caller::Person, request, Mode::Commit));
            failed = done.err().map(told).or(failed.take());
        },
        || drop(one_file(floor.path(), &bytes)),
    );
    failed.map_or(Ok(()), Err)?;
    Ok(against_floor("title of an artifact with 256 KiB of data", &pair, alone, 4.0))
}

/// Updates against the floor, and an artifact with a thousand commits against one with a hundred.
fn updates() -> Outcome<Vec<Row>> {
    let alone = quiet_floor(page(0, 4).to_string().as_bytes())?;
    let world = World::make()?;
    let (young, old) = (world.create(page(0, 4))?, world.create(page(1, 4))?);
    (0..100).try_for_each(|number| update(&world, &young, number))?;
    (0..1_000).try_for_each(|number| update(&world, &old, number))?;
    let (floor, bytes) = (scratch()?, page(0, 4).to_string().into_bytes());
    let mut failed = None;
    let mut change = |artifact: &ArtifactId, number: usize| {
        failed = update(&world, artifact, number).err().or(failed.take());
    };
    let mut numbers = 2_000..;
    let mut next = || numbers.next().unwrap_or_default();
    let late = {
        let (mut lates, mut earlies) = (Vec::new(), Vec::new());
        for number in 0..ROUNDS {
            lates.push(measure::once(&mut || change(&old, 9_000 + number)));
            earlies.push(measure::once(&mut || change(&young, 9_000 + number)));
        }
        measure::Pair { subject: measure::median(&mut lates), peer: measure::median(&mut earlies) }
    };
    let to_floor =
        measure::in_turns(300, || change(&young, next()), || drop(one_file(floor.path(), &bytes)));
    failed.map_or(Ok(()), Err)?;
    Ok(vec![
        against_floor("durable update, 4 KiB", &to_floor, alone, 2.5),
        measure::late_against_early("update after 1,000 commits against one after 100", &late, 1.2),
    ])
}

fn update(world: &World, artifact: &ArtifactId, number: usize) -> Outcome<()> {
    let body = json!({
        "input": { "document": { "format": "html_template_v1", "dataJson": { "title": number } } },
        "templateHtml": template(4),
    });
    let address = Address { project: Some(world.project.clone()), artifact: artifact.clone() };
    let request =
        UpdateArtifact { target: address.into(), body: body.into(), reading: Reading::Now };
    world
        .run(artifacts::update(&world.app, &Caller::Person, request, Mode::Commit))
        .map(drop)
        .map_err(told)
}

/// Lists projects of three sizes: with nothing in memory, and once more.
fn lists() -> Outcome<Vec<Row>> {
    let mut world = World::make()?;
    let (mut colds, mut warms) = (Vec::new(), Vec::new());
    let mut rows = Vec::new();
    let mut filled = 0;
    for size in SIZES {
        world.fill(filled, size)?;
        world = world.settled()?;
        filled = size;
        let (cold, warm) = list(&world, size)?;
        colds.push((size, cold));
        warms.push((size, warm));
        let at_thousand = |limit| if size == 1_000 { Target::AtMost(limit) } else { Target::None };
        rows.push(timed(format!("list of {size}, cold"), cold, 1e3, "ms", at_thousand(30.0)));
        rows.push(timed(
            format!("list of {size}, warm, freshness kept"),
            warm,
            1e6,
            "µs",
            at_thousand(300.0),
        ));
    }
    rows.push(measure::exponent("list, cold", &colds, 1.1));
    rows.push(measure::exponent("list, warm", &warms, 1.1));
    Ok(rows)
}

fn list(world: &World, size: usize) -> Outcome<(Duration, Duration)> {
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let app = world.reopened()?;
        let request = || ListArtifacts { project: Some(world.project.clone()) };
        let mut found = Ok(0);
        let mut once = || {
            let listed = world.run(artifacts::list(&app, &Caller::Person, request()));
            found = listed.map(|list| list.len()).map_err(told);
        };
        cold.push(measure::once(&mut once));
        (0..5).for_each(|_| warm.push(measure::once(&mut once)));
        if found? != size {
            return Err(format!("the list of {size} has another length"));
        }
    }
    Ok((measure::median(&mut cold), measure::median(&mut warm)))
}

/// Loads an artifact with as much data as it may have.
fn load() -> Outcome<Row> {
    let world = World::make()?;
    let size = large_data(0).to_string().len();
    let artifact = world.create(large(0))?;
    let mut times = Vec::new();
    for _ in 0..21 {
        let app = world.reopened()?;
        let address = Address { project: Some(world.project.clone()), artifact: artifact.clone() };
        let mut outcome = Ok(());
        times.push(measure::once(&mut || {
            let got = world.run(artifacts::get(&app, &Caller::Person, address.clone()));
            outcome = got.map(drop).map_err(told);
        }));
        outcome?;
    }
    let what = format!("load of an artifact with {} KiB of data, cold", size / 1024);
    Ok(timed(what, measure::median(&mut times), 1e3, "ms", Target::AtMost(2.0)))
}

/// A row that compares with the one-file floor, which was measured alone before.
pub(super) fn against_floor(what: &str, pair: &measure::Pair, alone: Duration, limit: f64) -> Row {
    let floor = Floor { alone, in_turns: pair.peer };
    let what = format!("{what}, p50");
    Row::against_floor(what, pair.subject, floor, "one file, synced:", Target::AtMost(limit))
}

/// A row that stands alone.
pub(super) fn timed(
    what: String,
    time: Duration,
    per_second: f64,
    unit: &'static str,
    target: Target,
) -> Row {
    Row::alone(what, format!("{time:.1?}"), (time.as_secs_f64() * per_second, unit), target)
}
