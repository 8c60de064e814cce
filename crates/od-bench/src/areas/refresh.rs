//! Refreshing from a small local file, against the one-file floor and against its own past.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode, refresh};
use od_core::ids::ArtifactId;
use serde_json::{Value, json};

use super::disk::{one_file, quiet_floor};
use super::store::against_floor;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, large, large_data, refreshed_from, scratch, template, told};

/// Numbers of refreshes that artifacts have behind them.
const PASTS: [usize; 3] = [10, 100, 1_000];
const ROUNDS: usize = 60;
const UNCHANGED: usize = 50;

/// Measures refreshes that change the data, then some that do not.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let mut rows = vec![small_file()?, same_file()?, large_file()?];
    let world = World::make()?.with_fast_clock()?;
    let (source, request) = refreshable(&world)?;
    // Fresh ones, so that no bound of the history hides what a refresh adds.
    let unchanged = unchanged(&world, &world.create(request.clone())?)?;
    let mut pasts = Vec::new();
    for past in PASTS {
        let artifact = world.create(request.clone())?;
        (0..past).try_for_each(|number| change(&world, &artifact, &source, number))?;
        pasts.push((past, artifact));
    }
    rows.extend(changing(&world, &pasts, &source)?);
    rows.push(unchanged);
    Ok(rows)
}

/// Writes a small file and returns it with the request for an artifact that reads it.
pub(super) fn refreshable(world: &World) -> Outcome<(PathBuf, Value)> {
    let source = world.folder().join("in.json");
    fs::write(&source, r#"{ "title": "before" }"#).map_err(told)?;
    let request = json!({
        "input": {
            "title": "Refreshed",
            "document": {
                "format": "html_template_v1",
                "dataJson": { "title": "before" },
                "sourceJson": {
                    "type": "local_file",
                    "input": { "path": "in.json" },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": template(3),
    });
    Ok((source, request))
}

/// Refreshes some artifacts and writes the floor, in turns.
///
/// Before the long pasts are made: a thousand refreshes within seconds leave thousands of inodes that
/// were freed just now, which some filesystems pass over one by one when the next file is made. What
/// a long past costs is the business of the rows that compare it with a short one.
fn small_file() -> Outcome<Row> {
    let alone = quiet_floor(content(0).as_bytes())?;
    let world = World::make()?.with_fast_clock()?;
    let (source, request) = refreshable(&world)?;
    let floor = scratch()?;
    let artifacts =
        (0..3).map(|_| world.create(request.clone())).collect::<Outcome<Vec<ArtifactId>>>()?;
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for number in 0..3 * ROUNDS {
        let bytes = content(number);
        fs::write(&source, &bytes).map_err(told)?;
        floors.push(measure::once(&mut || drop(one_file(floor.path(), bytes.as_bytes()))));
        let mut changed = Ok(false);
        let artifact = &artifacts[number % artifacts.len()];
        times.push(measure::once(&mut || changed = refreshed(&world, artifact)));
        if !changed? {
            return Err(format!("refresh {number} saw no change"));
        }
    }
    let pair =
        measure::Pair { subject: measure::median(&mut times), peer: measure::median(&mut floors) };
    Ok(against_floor("refresh that changes a small file", &pair, alone, 5.0))
}

/// Refreshes an artifact whose file is as it was.
fn same_file() -> Outcome<Row> {
    let alone = quiet_floor(content(0).as_bytes())?;
    let world = World::make()?.with_fast_clock()?;
    let (_, request) = refreshable(&world)?;
    let (artifact, floor) = (world.create(request)?, scratch()?);
    let mut outcome = Ok(false);
    let pair = measure::in_turns(
        ROUNDS,
        || outcome = outcome.clone().and_then(|_| refreshed(&world, &artifact)),
        || drop(one_file(floor.path(), content(0).as_bytes())),
    );
    if outcome? {
        return Err("a refresh of the same file saw a change".to_owned());
    }
    Ok(against_floor("refresh of a small file that is as it was", &pair, alone, 3.5))
}

/// Refreshes an artifact of 256 KiB of data, all of it different each time.
fn large_file() -> Outcome<Row> {
    let bytes = large_data(0).to_string().into_bytes();
    let alone = quiet_floor(&bytes)?;
    let world = World::make()?.with_fast_clock()?;
    let artifact = world.create(refreshed_from(large(0), "large.json"))?;
    let (source, floor) = (world.folder().join("large.json"), scratch()?);
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for number in 1..=ROUNDS / 2 {
        fs::write(&source, large_data(number).to_string()).map_err(told)?;
        floors.push(measure::once(&mut || drop(one_file(floor.path(), &bytes))));
        let mut changed = Ok(false);
        times.push(measure::once(&mut || changed = refreshed(&world, &artifact)));
        if !changed? {
            return Err(format!("large refresh {number} saw no change"));
        }
    }
    let pair =
        measure::Pair { subject: measure::median(&mut times), peer: measure::median(&mut floors) };
    Ok(against_floor("refresh that changes 256 KiB", &pair, alone, 12.0))
}

/// Refreshes artifacts with pasts of different length, all in turns.
fn changing(world: &World, pasts: &[(usize, ArtifactId)], source: &Path) -> Outcome<Vec<Row>> {
    let mut times: Vec<Vec<Duration>> = pasts.iter().map(|_| Vec::new()).collect();
    for round in 0..ROUNDS {
        for ((past, artifact), times) in pasts.iter().zip(&mut times) {
            let number = 10_000 + round * 10_000 + past;
            fs::write(source, content(number)).map_err(told)?;
            let mut changed = Ok(false);
            times.push(measure::once(&mut || changed = refreshed(world, artifact)));
            if !changed? {
                return Err(format!("refresh {number} saw no change"));
            }
        }
    }
    let readings: Vec<(usize, Duration)> = pasts
        .iter()
        .zip(&mut times)
        .map(|((past, _), times)| (*past, measure::median(times)))
        .collect();
    let at = |index: usize| readings.get(index).map(|(_, time)| *time).unwrap_or_default();
    Ok(vec![
        measure::late_against_early(
            "refresh after 1,000 refreshes against one after 100",
            &measure::Pair { subject: at(2), peer: at(1) },
            1.2,
        ),
        measure::exponent("refresh with past refreshes", &readings, 0.1),
    ])
}

pub(super) fn content(number: usize) -> String {
    format!(r#"{{ "title": "number {number}" }}"#)
}

fn change(world: &World, artifact: &ArtifactId, source: &Path, number: usize) -> Outcome<()> {
    fs::write(source, content(number)).map_err(told)?;
    refreshed(world, artifact).map(drop)
}

/// Measures the bytes that a refresh leaves on the disk when it changes nothing.
fn unchanged(world: &World, artifact: &ArtifactId) -> Outcome<Row> {
    refreshed(world, artifact)?;
    let before = bytes_under(world.path())?;
    for _ in 0..UNCHANGED {
        if refreshed(world, artifact)? {
            return Err("a refresh of the same file saw a change".to_owned());
        }
    }
    let added = bytes_under(world.path())?.saturating_sub(before) as f64 / UNCHANGED as f64;
    Ok(Row {
        what: "disk space that an unchanged refresh adds".to_owned(),
        measured: format!("{added:.0} bytes"),
        against: String::new(),
        figure: added / 1024.0,
        unit: "KiB",
        target: Target::AtMost(2.0),
    })
}

/// Refreshes an artifact, and returns whether that changed it.
pub(super) fn refreshed(world: &World, artifact: &ArtifactId) -> Outcome<bool> {
    let request = RunRefresh {
        caller: Caller::Person,
        project: world.project.clone(),
        artifact: artifact.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    };
    let done = world.run(refresh::run(&world.app, request, Mode::Commit)).map_err(told)?;
    Ok(done.changes.is_changed())
}

fn bytes_under(folder: &Path) -> Outcome<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder).map_err(told)? {
        let entry = entry.map_err(told)?;
        // The store still tidies up behind the last refresh: what has gone counts nothing.
        let Ok(meta) = entry.metadata() else { continue };
        total += if meta.is_dir() { bytes_under(&entry.path()).unwrap_or(0) } else { meta.len() };
    }
    Ok(total)
}
