//! The console's JavaScript: its types by the TypeScript compiler, its core by node's own test runner.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::steps::{announce, present, root};

/// The compiler's version: a newer one may find new faults in old code.
const TYPESCRIPT: &str = "typescript@5.9.3";
const TESTS: &str = "crates/od-daemon/tests/web";

/// Checks the types where npm is present; says so where it is not.
pub(crate) fn check_types() -> Result<(), String> {
    if !present("npm") {
        announce("    skipped: npm is not installed");
        return Ok(());
    }
    let root = root();
    let tools = root.join("target/node-tools");
    let compiler = tools.join("node_modules/typescript/bin/tsc");
    if !compiler.is_file() {
        std::fs::create_dir_all(&tools).map_err(|err| format!("{}: {err}", tools.display()))?;
        run(Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&tools)
            .arg(TYPESCRIPT))?;
    }
    run(Command::new("node")
        .arg(compiler)
        .args(["--noEmit", "--project", "crates/od-daemon/web"])
        .current_dir(root))
}

/// Runs the unit tests.
pub(crate) fn run_tests() -> Result<(), String> {
    let root = root();
    let folder = root.join(TESTS);
    let entries = std::fs::read_dir(&folder).map_err(|err| format!("{TESTS}: {err}"))?;
    // By name: what `node --test` makes of a folder differs from version to version.
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{TESTS} holds no test"));
    }
    run(Command::new("node")
        .args(["--test", "--test-reporter=dot"])
        .args(files)
        // Dates and numbers are written in the words of the locale.
        .env("LC_ALL", "en_US.UTF-8")
        .current_dir(root))
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|err| format!("{program} did not start: {err}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed ({status})")) }
}
