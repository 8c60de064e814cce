//! Builds the benchmark program, runs it, and writes what it printed to `docs/benchmarks.md`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::counts;
use crate::arguments::BenchOptions;
use crate::tree;

const PAGE: &str = "docs/benchmarks.md";

const HOW_TO_READ: &str = "\
# Benchmarks

Written by `cargo xtask bench`; run it on your own machine. Absolute times differ from machine to machine, so every figure
stands beside a floor or a peer that was measured in the same run, in turns, and the ratio is the claim. A row whose target is
missed says so. Instruction counts are read under valgrind: they repeat on a noisy machine, and `cargo xtask bench --check`
compares them with `docs/benchmarks-baseline.json` and names whatever needs 3 % more than it did.

";

/// Measures what was asked for; fails when a count has grown (with `--check`).
pub(crate) fn run(options: &BenchOptions) -> Result<(), String> {
    let program = build()?;
    if options.check || options.bless {
        return counts::run(&program, options.bless);
    }
    let output = Command::new(&program)
        .args(&options.areas)
        .current_dir(tree::root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|err| format!("{}: {err}", program.display()))?;
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    show(&table);
    if options.areas.is_empty() {
        fs::write(tree::root().join(PAGE), format!("{HOW_TO_READ}{table}"))
            .map_err(|err| format!("{PAGE}: {err}"))?;
    }
    Ok(())
}

fn build() -> Result<PathBuf, String> {
    let root = tree::root();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "counted", "-p", "od-bench", "-p", "od-cli"])
        .current_dir(&root)
        .status()
        .map_err(|err| format!("cargo build: {err}"))?;
    if !status.success() {
        return Err("the benchmark program does not build".to_owned());
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("counted/od-bench"))
}

#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
fn show(table: &str) {
    print!("{table}");
}
