//! Refreshing from a small local file, against the one-file floor and against its own past.

use std::fs;
use std::path::Path;
use std::time::Duration;

use od_app::refresh::run::RunRefresh;
use od_app::{Caller, refresh};
use od_core::ids::ArtifactId;
use serde_json::json;

use super::disk::one_file;
use super::store::against_floor;
use crate::growth;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, scratch, template, told};

const REFRESHES: usize = 1050;
const UNCHANGED: usize = 50;

/// Measures refreshes that change the data, then some that do not.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let world = World::make()?.with_fast_clock()?;
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
    // Fresh ones, so that no bound of the history hides what a refresh adds.
    let unchanged = unchanged(&world, &world.create(request.clone())?)?;
    let mut rows = changing(&world, &world.create(request)?, &source)?;
    rows.push(unchanged);
    Ok(rows)
}

fn changing(world: &World, artifact: &ArtifactId, source: &Path) -> Outcome<Vec<Row>> {
    let floor = scratch()?;
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for number in 0..REFRESHES {
        let content = format!(r#"{{ "title": "number {number}" }}"#);
        fs::write(source, &content).map_err(told)?;
        floors.push(measure::once(&mut || drop(one_file(floor.path(), content.as_bytes()))));
        let mut changed = Ok(false);
        times.push(measure::once(&mut || changed = refreshed(world, artifact)));
        if !changed? {
            return Err(format!("refresh {number} saw no change"));
        }
    }
    let pair = measure::Pair {
        subject: measure::median(&mut times.clone()),
        peer: measure::median(&mut floors.clone()),
    };
    let past = |middle: usize| {
        let around = times.get(middle - 5..middle + 5).unwrap_or_default();
        (middle, measure::median(&mut around.to_vec()))
    };
    let readings: Vec<(usize, Duration)> = [10, 100, 1_000].map(past).to_vec();
    Ok(vec![
        against_floor("refresh from a small file", &pair, 5.0),
        growth::late_against_early("refresh: the 1,000th against the 100th", &times, &floors, 1.2),
        growth::exponent("refresh with past refreshes", &readings, 0.1),
    ])
}

/// What a refresh that changes nothing leaves on the disk.
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

fn refreshed(world: &World, artifact: &ArtifactId) -> Outcome<bool> {
    let request = RunRefresh {
        caller: Caller::Person,
        project: world.project.clone(),
        artifact: artifact.clone(),
        accept_drift: false,
    };
    let done = world.run(refresh::run(&world.app, request)).map_err(told)?;
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
