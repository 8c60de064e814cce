//! Benchmarks only: every figure against a floor or a peer of the same run.
//!
//! `od-bench [AREA…]` measures the named areas, or all of them, and prints one table. Absolute times
//! differ from machine to machine; the ratios are the claim. Run it with `--release`.
//! `od-bench --repeat create|unchanged|changed|title N` does one kind of write N times, for `strace -f -c`.
//! `od-bench --counted NAME` runs one pure workload for valgrind; `--list-counted` names them.

mod areas;
mod counted;
mod measure;
mod row;
mod world;

use std::process::ExitCode;

#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
fn main() -> ExitCode {
    let mut words = std::env::args();
    let name = words.next().unwrap_or_default();
    if std::path::Path::new(&name).file_name().is_some_and(|name| name == areas::chat::AGENT) {
        areas::chat::play_agent();
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<String> = words.collect();
    if let Some(code) = areas::chat::supervise(&wanted) {
        return code;
    }
    match wanted.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--list-counted"] => {
            counted::COUNTED.iter().for_each(|workload| println!("{}", workload.name));
            return ExitCode::SUCCESS;
        }
        ["--counted", name] => {
            return if counted::run(name) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        ["--repeat", name, times] => {
            let done = times.parse().map_err(|_| "how often?".to_owned());
            let done = done.and_then(|times| areas::repeat::run(name, times));
            world::remove_scratch();
            return done.map_or_else(
                |reason| {
                    println!("{reason}");
                    ExitCode::FAILURE
                },
                |()| ExitCode::SUCCESS,
            );
        }
        _ => {}
    }
    if areas::daemon::serve_until_stdin_closes(&wanted) {
        return ExitCode::SUCCESS;
    }
    let mut missed = false;
    println!("{}", row::HEADER);
    for area in areas::AREAS
        .iter()
        .filter(|area| wanted.is_empty() || wanted.iter().any(|name| name == area.name))
    {
        match (area.measure)() {
            Ok(rows) => {
                missed |= rows.iter().any(|row| row.verdict() == row::Verdict::Missed);
                rows.iter().for_each(|row| println!("{}", row.markdown(area.name)));
            }
            Err(reason) => {
                missed = true;
                println!(
                    "| {} | could not be measured: {reason} | | | | | **missed** |",
                    area.name
                );
            }
        }
    }
    world::remove_scratch();
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
