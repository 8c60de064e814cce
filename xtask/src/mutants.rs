//! `cargo xtask mutants`: faults written by hand, each of which the named tests must find.
//!
//! Each line of `xtask/mutants.jsonl` is one fault: what it is, the file, the exact text and what takes
//! its place, and the crate and filter of the tests that have to fail. They are tried one after the other
//! in a worktree of their own below `target/`, with one target directory, so that each costs the build of
//! what depends on the file. The same tests pass first without any fault: a test that fails anyway finds
//! nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::steps::{announce, cargo, present, root};

const LIST: &str = "xtask/mutants.jsonl";
/// The exit code of nextest for tests that failed; a build that failed has another.
const TESTS_FAILED: i32 = 100;

/// One fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    /// What is wrong with it, in one line.
    what: String,
    /// The file, from the root of the repository.
    file: String,
    /// The text that stands in the file once.
    old: String,
    /// The text that takes its place.
    new: String,
    /// The crate whose tests must fail, and a part of their names.
    test: String,
}

/// Tries every fault, or those whose line has one of the words.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    if !present("cargo-nextest") {
        return Err(
            "cargo-nextest is missing: only it tells failed tests from a failed build".into()
        );
    }
    let list = read(&root().join(LIST))?;
    let is_chosen = |mutant: &&Mutant| {
        let line = format!("{} {} {}", mutant.what, mutant.file, mutant.test);
        words.is_empty() || words.iter().any(|word| line.contains(word.as_str()))
    };
    let tree = Tree::make()?;
    let (mut killed, mut tried, mut survivors) = (0, 0, Vec::new());
    let mut without_fault = BTreeMap::new();
    for mutant in list.iter().filter(is_chosen) {
        tried += 1;
        let good = without_fault
            .entry(mutant.test.as_str())
            .or_insert_with(|| tree.test(&mutant.test).and_then(passed));
        let outcome = good.clone().and_then(|()| tree.try_one(mutant));
        announce(&match &outcome {
            Ok(true) => format!("killed    {}", mutant.what),
            Ok(false) => format!("SURVIVED  {} ({})", mutant.what, mutant.test),
            Err(reason) => format!("BROKEN    {}: {reason}", mutant.what),
        });
        match outcome {
            Ok(true) => killed += 1,
            Ok(false) | Err(_) => survivors.push(mutant.what.as_str()),
        }
    }
    announce(&format!("mutants: {killed} of {tried} killed"));
    if survivors.is_empty() { Ok(()) } else { Err(format!("not killed: {}", survivors.join("; "))) }
}

fn passed(failed: bool) -> Result<(), String> {
    if failed { Err("its tests fail without it".to_owned()) } else { Ok(()) }
}

fn read(path: &Path) -> Result<Vec<Mutant>, String> {
    let text = fs::read_to_string(path).map_err(|err| format!("{}: {err}", path.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|err| format!("{LIST}, line {}: {err}", number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

/// A worktree in which faults are tried; removed when dropped.
struct Tree {
    path: PathBuf,
    target: PathBuf,
}

impl Tree {
    fn make() -> Result<Self, String> {
        let place = root().join("target/mutants");
        let tree = Self { path: place.join("tree"), target: place.join("target") };
        tree.remove();
        let mut command = Command::new("git");
        command.args(["worktree", "add", "--quiet", "--detach"]).arg(&tree.path).arg("HEAD");
        let status = command.current_dir(root()).status().map_err(|err| err.to_string())?;
        if status.success() { Ok(tree) } else { Err("no worktree can be made".to_owned()) }
    }

    /// Returns whether the tests find a fault.
    fn try_one(&self, mutant: &Mutant) -> Result<bool, String> {
        let file = self.path.join(&mutant.file);
        let good = fs::read_to_string(&file).map_err(|err| format!("{}: {err}", mutant.file))?;
        if good.matches(&mutant.old).count() != 1 {
            return Err(format!("its text does not stand in {} exactly once", mutant.file));
        }
        let bad = good.replacen(&mutant.old, &mutant.new, 1);
        fs::write(&file, bad).map_err(|err| err.to_string())?;
        let outcome = self.test(&mutant.test);
        fs::write(&file, good).map_err(|err| err.to_string())?;
        outcome
    }

    /// Returns whether tests fail.
    fn test(&self, test: &str) -> Result<bool, String> {
        let mut words = test.split_whitespace();
        let name = words.next().ok_or("it names no crate")?;
        let mut command =
            cargo(&["nextest", "run", "--cargo-quiet", "--status-level=none", "-p", name]);
        command.args(words).args(["--final-status-level=none", "--failure-output=never"]);
        // Only whether a test fails is asked: no place in the code is worth its debug information.
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "1");
        command.env("CARGO_TARGET_DIR", &self.target);
        let output = command.current_dir(&self.path).output().map_err(|err| err.to_string())?;
        match output.status.code() {
            Some(0) => Ok(false),
            Some(TESTS_FAILED) => Ok(true),
            Some(_) | None => {
                let said = String::from_utf8_lossy(&output.stderr);
                let line = said.lines().find(|line| line.contains("error")).unwrap_or_default();
                Err(format!("its tests do not run: {}", line.trim()))
            }
        }
    }

    fn remove(&self) {
        let mut command = Command::new("git");
        command.args(["worktree", "remove", "--force"]).arg(&self.path).current_dir(root());
        // There is none the first time.
        let _ = command.output();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_a_fault_with_tests_to_find_it() {
        let list = read(&root().join(LIST)).expect("the list can be read");
        assert!(list.len() >= 60, "{}", list.len());
        for mutant in &list {
            assert!(mutant.old != mutant.new, "{}", mutant.what);
            assert!(mutant.test.starts_with("od-"), "{}", mutant.what);
            let text = fs::read_to_string(root().join(&mutant.file)).expect("its file is there");
            let places = text.matches(&mutant.old).count();
            assert_eq!(places, 1, "{}: {} in {}", mutant.what, mutant.old, mutant.file);
        }
    }
}
