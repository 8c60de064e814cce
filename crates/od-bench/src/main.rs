//! Benchmarks only: every figure against a floor or a peer of the same run.
//!
//! `od-bench [AREA…]` measures the named areas, or all of them, and prints one table. Absolute times
//! differ from machine to machine; the ratios are the claim. Run it with `--release`.

mod areas;
mod measure;
mod row;

use std::process::ExitCode;

#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut missed = false;
    println!("{}", row::HEADER);
    for area in areas::AREAS
        .iter()
        .filter(|area| wanted.is_empty() || wanted.iter().any(|name| name == area.name))
    {
        for row in (area.measure)() {
            missed |= row.verdict() == row::Verdict::Missed;
            println!("{}", row.markdown(area.name));
        }
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
