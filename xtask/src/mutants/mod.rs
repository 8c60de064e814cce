//! `cargo xtask mutants`: faults written by hand, each of which the named tests must find.
//!
//! Each line of `xtask/mutants.jsonl` is one fault: what it is, the file, the exact text and what takes
//! its place, and the crate and a part of the names of the tests that have to fail. They are tried in a
//! worktree of the last commit below `target/`. Most are built together and switched on one after the other
//! by a file; the rest cost a build each. The same tests pass first without any fault: a test that
//! fails anyway finds nothing.

mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use switch::{Change, FAULT, SWITCH, switched};

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
    let chosen: Vec<(usize, &Mutant)> = (1..).zip(list.iter().filter(is_chosen)).collect();
    let tree = Tree::make(chosen.iter().map(|(_, mutant)| mutant.package()))?;
    let alone = tree.switch_all(&chosen)?;
    let (together, alone): (Vec<_>, Vec<_>) =
        chosen.iter().copied().partition(|(number, _)| !alone.contains(number));
    let mut survivors = tree.try_each(&together, |number, mutant| tree.test(mutant, number))?;
    tree.switch_back()?;
    survivors.extend(tree.try_each(&alone, |_, mutant| tree.try_alone(mutant))?);
    let (killed, tried) = (chosen.len() - survivors.len(), chosen.len());
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

impl Mutant {
    fn package(&self) -> &str {
        self.test.split_whitespace().next().unwrap_or_default()
    }

    /// Returns the folder of the crate that its file belongs to.
    fn crate_root(&self) -> Option<&str> {
        self.file.split_once("/src/").map(|(root, _)| root)
    }

    /// Returns the tests that have to find it, as nextest filters them.
    fn filter(&self) -> String {
        let mut words = self.test.split_whitespace();
        let package = format!("package({})", words.next().unwrap_or_default());
        words.fold(package, |filter, word| format!("{filter} & test({word})"))
    }

    /// Returns the place of its text, which has to stand there once.
    fn change(&self, number: usize, text: &str) -> Result<Change, String> {
        let mut places = text.match_indices(&self.old).map(|(at, _)| at);
        match (places.next(), places.next()) {
            (Some(at), None) => {
                let at = at..at + self.old.len();
                Ok(Change { number, at, new: self.new.clone() })
            }
            _ => Err(format!("its text does not stand in {} exactly once", self.file)),
        }
    }
}

/// A worktree in which faults are tried; removed when dropped.
struct Tree {
    path: PathBuf,
    packages: BTreeSet<String>,
}

impl Tree {
    fn make<'a>(packages: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let path = root().join("target/mutants/tree");
        let tree = Self { path, packages: packages.map(str::to_owned).collect() };
        tree.remove();
        let mut command = Command::new("git");
        command.args(["worktree", "add", "--quiet", "--detach"]).arg(&tree.path).arg("HEAD");
        let status = command.current_dir(root()).status().map_err(|err| err.to_string())?;
        if status.success() { Ok(tree) } else { Err("no worktree can be made".to_owned()) }
    }

    /// Writes every fault into its file behind a switch; returns the numbers of those that need a build
    /// of their own.
    fn switch_all(&self, chosen: &[(usize, &Mutant)]) -> Result<Vec<usize>, String> {
        let mut by_file: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
        for (number, mutant) in chosen {
            by_file.entry(&mutant.file).or_default().push((*number, mutant));
        }
        let mut alone = Vec::new();
        for (file, mutants) in by_file {
            let text = self.read(file)?;
            let changes: Result<Vec<Change>, String> =
                mutants.iter().map(|(number, mutant)| mutant.change(*number, &text)).collect();
            let (text, left) = switched(&text, &changes?);
            alone.extend(left);
            self.write(file, &text)?;
        }
        // A fault may stand in another crate than the tests that find it.
        let crates: BTreeSet<&str> = chosen.iter().filter_map(|(_, it)| it.crate_root()).collect();
        for root in crates {
            let lib = format!("{root}/src/lib.rs");
            let text = self.read(&lib)?;
            self.write(&lib, &(text + SWITCH))?;
        }
        Ok(alone)
    }

    /// Makes the tree as it was committed.
    fn switch_back(&self) -> Result<(), String> {
        let mut command = Command::new("git");
        command.args(["checkout", "--quiet", "--", "."]).current_dir(&self.path);
        let status = command.status().map_err(|err| err.to_string())?;
        if status.success() { Ok(()) } else { Err("the worktree cannot be reset".to_owned()) }
    }

    /// Tries faults whose tests pass without them; returns those that are not found.
    fn try_each(
        &self,
        mutants: &[(usize, &Mutant)],
        attempt: impl Fn(usize, &Mutant) -> Result<bool, String>,
    ) -> Result<Vec<String>, String> {
        let mut survivors = Vec::new();
        let mut without_fault = BTreeMap::new();
        for (number, mutant) in mutants {
            let good = without_fault
                .entry(mutant.test.as_str())
                .or_insert_with(|| self.test(mutant, 0).and_then(passed));
            let outcome = good.clone().and_then(|()| attempt(*number, mutant));
            announce(&match &outcome {
                Ok(true) => format!("killed    {}", mutant.what),
                Ok(false) => format!("SURVIVED  {} ({})", mutant.what, mutant.test),
                Err(reason) => format!("BROKEN    {}: {reason}", mutant.what),
            });
            if outcome != Ok(true) {
                survivors.push(mutant.what.clone());
            }
        }
        Ok(survivors)
    }

    /// Builds a fault by itself; returns whether the tests find it.
    fn try_alone(&self, mutant: &Mutant) -> Result<bool, String> {
        let good = self.read(&mutant.file)?;
        let change = mutant.change(0, &good)?;
        let mut bad = good.clone();
        bad.replace_range(change.at, &change.new);
        self.write(&mutant.file, &bad)?;
        let outcome = self.test(mutant, 0);
        self.write(&mutant.file, &good)?;
        outcome
    }

    /// Returns whether tests fail, with a fault switched on or none.
    fn test(&self, mutant: &Mutant, number: usize) -> Result<bool, String> {
        let mut command = cargo(&["nextest", "run", "--cargo-quiet", "--status-level=none"]);
        command.args(["--final-status-level=none", "--failure-output=never", "--lib", "--test=it"]);
        for package in &self.packages {
            command.args(["-p", package]);
        }
        command.args(["-E", &mutant.filter()]);
        self.write(FAULT, &number.to_string())?;
        // Only whether a test fails is asked: no place in the code is worth its debug information.
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "1");
        // Whoever builds beside it does not wait for it.
        command.env("CARGO_TARGET_DIR", root().join("target/mutants/target"));
        let output = command.current_dir(&self.path).output().map_err(|err| err.to_string())?;
        match output.status.code() {
            Some(0) => Ok(false),
            Some(TESTS_FAILED) => Ok(true),
            Some(_) | None => {
                let said = String::from_utf8_lossy(&output.stderr);
                let mut lines = said.lines().skip_while(|line| !line.contains("error"));
                let (line, place) = (lines.next().unwrap_or_default(), lines.next());
                let place = place.unwrap_or_default().trim();
                Err(format!("its tests do not run: {} {place}", line.trim()))
            }
        }
    }

    fn read(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.path.join(file)).map_err(|err| format!("{file}: {err}"))
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        fs::write(self.path.join(file), text).map_err(|err| format!("{file}: {err}"))
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
            assert!(mutant.package().starts_with("od-"), "{}", mutant.what);
            let lib =
                mutant.crate_root().map(|crate_root| root().join(crate_root).join("src/lib.rs"));
            assert!(lib.is_some_and(|lib| lib.is_file()), "{}: it cannot be switched", mutant.what);
            let text = fs::read_to_string(root().join(&mutant.file)).expect("its file is there");
            let places = text.matches(&mutant.old).count();
            assert_eq!(places, 1, "{}: {} in {}", mutant.what, mutant.old, mutant.file);
        }
    }
}
