//! Instruction counts: of the pure parts against a stored baseline, and of hostile templates from
//! 64 KiB to the largest there may be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::steps::root;

const BASELINE: &str = "docs/benchmarks-baseline.json";
/// The growth from which a workload is reported.
const GROWTH_MAX: f64 = 1.03;

pub(crate) type Counts = BTreeMap<String, u64>;

/// Counts every workload; stores the counts, or names what has grown.
pub(crate) fn run(program: &Path, bless: bool) -> Result<(), String> {
    let counts = count_all(program)?;
    let path = root().join(BASELINE);
    if bless {
        let text = serde_json::to_string_pretty(&counts).map_err(|err| err.to_string())?;
        return fs::write(path, text + "\n").map_err(|err| format!("{BASELINE}: {err}"));
    }
    let text = fs::read_to_string(path).map_err(|err| format!("{BASELINE}: {err}"))?;
    let baseline: Counts =
        serde_json::from_str(&text).map_err(|err| format!("{BASELINE}: {err}"))?;
    let slower = grown(&baseline, &counts);
    if slower.is_empty() { Ok(()) } else { Err(slower.join("\n")) }
}

fn grown(baseline: &Counts, counts: &Counts) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, before) in baseline {
        match counts.get(name) {
            None => lines.push(format!("{name} is in the baseline and no longer measured")),
            Some(now) if *now as f64 > *before as f64 * GROWTH_MAX => lines.push(format!(
                "{name} needs {:.1} % more instructions: {before} before, {now} now",
                (*now as f64 / *before as f64 - 1.0) * 100.0
            )),
            Some(_) => {}
        }
    }
    lines
}

/// Counts every workload.
pub(crate) fn count_all(program: &Path) -> Result<Counts, String> {
    let names = output(Command::new(program).arg("--list-counted"))?.0;
    names.lines().map(|name| Ok((name.to_owned(), marked_part(program, name)?))).collect()
}

const SMALLEST: u64 = 64 << 10;
const DOUBLINGS: u32 = 4;
/// Doubling the size may double the work, with a little to spare.
const DOUBLING_MAX: f64 = 2.2;

/// Counts every family at every size; returns one line for each, or the families that grow too fast.
pub(crate) fn check_hostile_templates(program: &Path) -> Result<Vec<String>, String> {
    let names = output(Command::new(program).arg("list"))?.0;
    let mut lines = Vec::new();
    let mut broken = Vec::new();
    for name in names.lines() {
        let counts = (0..=DOUBLINGS)
            .map(|step| whole_run(program, &[name, &(SMALLEST << step).to_string()]))
            .collect::<Result<Vec<u64>, String>>()?;
        let worst = worst_growth(&counts);
        let line = format!("{name}: at most {worst:.2} times per doubling");
        if worst > DOUBLING_MAX {
            broken.push(format!("{line}; allowed is {DOUBLING_MAX}: {counts:?}"));
        }
        lines.push(line);
    }
    if broken.is_empty() { Ok(lines) } else { Err(broken.join("\n")) }
}

fn worst_growth(counts: &[u64]) -> f64 {
    let growth = |pair: &[u64]| match pair {
        [before, after] => *after as f64 / (*before).max(1) as f64,
        _ => f64::INFINITY,
    };
    counts.windows(2).map(growth).fold(0.0, f64::max)
}

/// Counts the instructions between the two marks of one workload of the benchmark program.
fn marked_part(program: &Path, name: &str) -> Result<u64, String> {
    let (_, log) = output(
        Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg("--toggle-collect=*counted*collected*")
            .arg(program)
            .args(["--counted", name]),
    )?;
    read(&log, "Collected : ").ok_or_else(|| format!("valgrind counted nothing for {name}:\n{log}"))
}

/// Counts the instructions of a whole run.
fn whole_run(program: &Path, arguments: &[&str]) -> Result<u64, String> {
    let (_, log) = output(
        Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
            .arg(program)
            .args(arguments),
    )?;
    read(&log, "refs:").ok_or_else(|| format!("valgrind counted nothing:\n{log}"))
}

fn read(log: &str, mark: &str) -> Option<u64> {
    let count = log.lines().find_map(|line| line.split(mark).nth(1))?;
    count.trim().replace(',', "").parse().ok().filter(|count| *count > 0)
}

/// Runs a program and returns what it printed on both streams.
fn output(command: &mut Command) -> Result<(String, String), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|err| format!("{}: {err}", command.get_program().to_string_lossy()))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok((out, err)) } else { Err(err) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_that_grew_by_more_than_three_percent_is_named() {
        let counts = |entries: &[(&str, u64)]| -> Counts {
            entries.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        let baseline = counts(&[("parse", 1_000), ("render", 1_000), ("gone", 1)]);
        let now = counts(&[("parse", 1_031), ("render", 1_029), ("new", 5)]);
        assert_eq!(
            grown(&baseline, &now),
            [
                "gone is in the baseline and no longer measured",
                "parse needs 3.1 % more instructions: 1000 before, 1031 now"
            ]
        );
    }

    #[test]
    fn the_worst_doubling_is_the_one_that_counts() {
        assert!((worst_growth(&[10, 20, 60, 61]) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn counts_are_read_from_both_tools() {
        assert_eq!(read("==1== Collected : 1234", "Collected : "), Some(1234));
        assert_eq!(read("==1== I   refs:      1,234,567", "refs:"), Some(1_234_567));
        assert_eq!(read("==1== Collected : 0", "Collected : "), None);
    }
}
