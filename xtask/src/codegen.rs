//! `cargo xtask codegen`: the program that writes or compares the derived files.

use std::path::Path;
use std::process::Command;

use crate::arguments::CodegenMode;
use crate::steps::{Steps, cargo};

/// Writes every stale file, or fails naming them.
pub(crate) fn run(mode: CodegenMode) -> Result<(), String> {
    let mut program = program();
    match mode {
        CodegenMode::Write => {}
        CodegenMode::Check => {
            program.args(["--", "--check"]);
        }
    }
    Steps::default().command("derived files", program)
}

/// Returns the command that writes the manual pages into a folder.
pub(crate) fn manual(folder: &Path) -> Command {
    let mut program = program();
    program.args(["--", "--manual"]).arg(folder);
    program
}

fn program() -> Command {
    cargo(&["run", "--quiet", "-p", "od-codegen"])
}
