//! Builds the benchmark program, runs it, and writes what it printed to `docs/benchmarks.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::counts;
use crate::arguments::BenchOptions;
use crate::steps::{root, target};
use crate::system_tools::{self, SystemTool};

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
    system_tools::ensure(&[SystemTool::Valgrind, SystemTool::Ripgrep])?;
    let target = build()?;
    let program = target.join("od-bench");
    if options.check || options.bless {
        counts::run(&program, options.bless)?;
        if options.check {
            show(&counts::check_hostile_templates(&target.join("template-cost"))?.join("\n"));
        }
        return Ok(());
    }
    let output = Command::new(&program)
        .args(&options.areas)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|err| format!("{}: {err}", program.display()))?;
    let mut page = String::from_utf8_lossy(&output.stdout).into_owned();
    show(&page);
    if options.areas.is_empty() {
        let counted = instructions(&target)?;
        show(&counted);
        page.push_str(&counted);
        fs::write(root().join(PAGE), format!("{HOW_TO_READ}{page}"))
            .map_err(|err| format!("{PAGE}: {err}"))?;
    }
    Ok(())
}

/// The instruction counts of the pure parts, and how hostile templates grow.
fn instructions(target: &Path) -> Result<String, String> {
    let mut text = String::from("\n## Instructions\n\n| workload | instructions |\n|---|---|\n");
    for (name, count) in counts::count_all(&target.join("od-bench"))? {
        text.push_str(&format!("| {name} | {count} |\n"));
    }
    text.push_str("\n## Hostile templates, 64 KiB to 1 MiB\n\n");
    for line in counts::check_hostile_templates(&target.join("template-cost"))? {
        text.push_str(&format!("- {line}\n"));
    }
    Ok(text)
}

/// Builds everything that is measured; returns the folder of the programs.
fn build() -> Result<PathBuf, String> {
    let root = root();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "counted"])
        .args(["-p", "od-bench", "-p", "od-cli", "-p", "od-oracle"])
        .current_dir(&root)
        .status()
        .map_err(|err| format!("cargo build: {err}"))?;
    if !status.success() {
        return Err("the benchmark programs do not build".to_owned());
    }
    Ok(target().join("counted"))
}

#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
fn show(table: &str) {
    println!("{table}");
}
