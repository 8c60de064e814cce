//! `cargo xtask codegen` and the pages of `cargo xtask dist`: everything that is derived from the types.
//!
//! A program of its own beside `xtask`, because it needs nearly the whole workspace: `cargo xtask` itself
//! would be as slow to build as what it tests, and with other features of the same dependencies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod conformance;
mod console;
mod docs;
mod generators;
mod skill_references;
mod templates;

use generators::Mode;

const USAGE: &str = "usage: od-codegen [--check | --manual DIR]";

#[expect(clippy::print_stderr, reason = "failures are said here")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        [] => generators::run(Mode::Write),
        ["--check"] => generators::run(Mode::Check),
        ["--manual", folder] => write_manual(Path::new(folder)),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the manual pages of the program into a folder.
fn write_manual(folder: &Path) -> Result<(), String> {
    for page in od_cli::help::manual() {
        let path = folder.join(&page.file);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, page.text))
            .map_err(|err| format!("{}: {err}", path.display()))?;
    }
    Ok(())
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
