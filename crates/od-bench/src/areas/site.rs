//! A static site of a thousand artifacts, by the program that people run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::command::program;
use super::store::timed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, scratch, sized, told};

const ROUNDS: usize = 3;
const LOOK: Duration = Duration::from_millis(2);

/// Measures time and memory of a build, and the size of what a reader asks for first.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let count = sized(1_000, 20);
    let world = World::make()?;
    (0..count).try_for_each(|number| world.create(report(number)).map(drop))?;
    let world = world.settled()?;
    let place = scratch()?;
    let (mut times, mut peak, mut index) = (Vec::new(), 0, 0);
    for round in 0..ROUNDS {
        let out = place.path().join(format!("site-{round}"));
        let (time, memory) = build(&world, &out)?;
        times.push(time);
        peak = peak.max(memory);
        index = std::fs::metadata(out.join("index.html")).map_err(told)?.len();
    }
    let what = format!("od build of {count} artifacts");
    let time = measure::median(&mut times);
    Ok(vec![
        timed(what.clone(), time, 1e3, "ms", Target::AtMost(3_000.0)),
        Row::alone(
            format!("{what}, memory at its peak"),
            format!("{peak} KiB"),
            (peak as f64 / 1024.0, "MiB"),
            Target::AtMost(64.0),
        ),
        Row::alone(
            format!("{what}, its index"),
            format!("{index} bytes"),
            (index as f64 / 1e3, "KB"),
            Target::AtMost(200.0),
        ),
    ])
}

/// A page with figures, a table and a chart, as people make them.
fn report(number: usize) -> Value {
    let rows: Vec<Value> = (0..30)
        .map(|day| json!({ "day": format!("2026-03-{:02}", day + 1), "visits": day * number % 97 }))
        .collect();
    let template = "<!doctype html><html lang=\"en\"><head><title>{{data.title}}</title></head><body><h1>{{data.title}}</h1>\
        <figure data-od-chart=\"line\" data-od-repeat=\"row in data.rows\" data-od-x=\"row.day\" data-od-y=\"row.visits\"></figure>\
        <table><thead><tr><th>Day</th><th>Visits</th></tr></thead><tbody>\
        <tr data-od-repeat=\"row in data.rows\"><td>{{row.day | date}}</td><td>{{row.visits | number}}</td></tr></tbody></table></body></html>";
    json!({
        "input": {
            "title": format!("Report {number}"),
            "document": { "format": "html_template_v2",
                "dataJson": { "title": format!("Report {number}"), "rows": rows } },
        },
        "templateHtml": template,
    })
}

/// Runs the program once; returns its time, and its memory at the peak in KiB.
fn build(world: &World, out: &Path) -> Outcome<(Duration, u64)> {
    let started = Instant::now();
    let mut process = Command::new(program()?)
        .args(["build", "--project", world.project.as_str(), "--out"])
        .arg(out)
        .env("OD_HOME", world.path().join("home"))
        .env("OD_DATA_DIR", world.path().join("data"))
        .current_dir(world.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(told)?;
    let mut peak = 0;
    loop {
        // The kernel keeps the peak; after the last look it can have grown for two milliseconds more.
        peak = high_water(process.id()).unwrap_or(peak);
        if let Some(status) = process.try_wait().map_err(told)? {
            let time = started.elapsed();
            return if status.success() {
                Ok((time, peak))
            } else {
                Err(format!("od build: {status}"))
            };
        }
        std::thread::sleep(LOOK);
    }
}

fn high_water(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
