//! The console's JavaScript against its types, by the TypeScript compiler.

use std::process::{Command, Stdio};

use super::step::{announce, present};
use crate::tree;

/// The compiler's version: a newer one may find new faults in old code.
const TYPESCRIPT: &str = "typescript@5.9.3";

/// Checks the types where node is present; says so where it is not.
pub(crate) fn check() -> Result<(), String> {
    if !present("node") || !present("npm") {
        announce("    skipped: node and npm are not installed");
        return Ok(());
    }
    let root = tree::root();
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

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|err| format!("{program} did not start: {err}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed ({status})")) }
}
