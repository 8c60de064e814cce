//! The recipe of docs/publish.md, as it is written: data in a repository, cloned to another place.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::bench::Bench;

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/publish.md");
    std::fs::read_to_string(page).unwrap()
}

/// The shell blocks of the page, one after the other.
fn shell_blocks(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Runs lines in a folder as a person who has `od` in PATH, on a machine with a home of its own.
#[track_caller]
fn run(bench: &Bench, folder: &Path, home: &str, lines: &str) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_od")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = bench.shell(&format!("set -e\n{lines}"));
    command.current_dir(folder).env("PATH", path).env("OD_HOME", bench.root().join(home));
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "Ada")
            .env(format!("GIT_{who}_EMAIL"), "a@b.invalid");
    }
    command.output().unwrap()
}

#[track_caller]
fn good(bench: &Bench, folder: &Path, home: &str, lines: &str) -> String {
    let output = run(bench, folder, home, lines);
    assert!(output.status.success(), "{lines}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Ends the daemon that the bench does not know of, since its data lies beside the project.
struct Stop<'b>(&'b Bench);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        let _ended = self.0.od(&["stop"]);
    }
}

#[test]
fn the_recipe_works_in_a_clone_at_another_place_on_another_machine() {
    let (bench, page) = (Bench::new(), page());
    let stop = Stop(&bench);
    let [before, after] = shell_blocks(&page)[..] else { panic!("two blocks: {page}") };
    good(&bench, &bench.project(), "home", &format!("git init -q\n{before}"));
    bench.with_artifact();
    drop(stop);
    good(&bench, &bench.project(), "home", &format!("git add artifact.json metrics.json\n{after}"));
    let clone = bench.root().join("ci/somewhere");
    good(&bench, bench.root(), "home", "git clone -q web ci/somewhere");

    let built = run(&bench, &clone, "ci-home", "od build --out untrusted --refresh");
    assert_eq!(built.status.code(), Some(1), "{built:?}");
    let said = String::from_utf8_lossy(&built.stdout).into_owned();
    assert!(said.contains("not refreshed: not allowed here (`od trust`)"), "{said}");

    let mut ran = 0;
    for line in page.lines().map(str::trim) {
        let line = line.trim_start_matches("- ").trim_start_matches("run: ");
        // What is done once, in the repository, is in the blocks above.
        if !line.starts_with("od ") || line.contains('…') || before.contains(line) {
            continue;
        }
        good(&bench, &clone, "ci-home", line);
        ran += 1;
    }
    assert_eq!(ran, 6, "the commands of both examples");
    assert!(clone.join("site/live.html").exists() && clone.join("public/index.html").exists());
}

#[test]
fn a_clone_of_data_that_names_its_old_folder_is_mended_by_the_command_that_doctor_names() {
    let bench = Bench::new();
    std::fs::create_dir(bench.project().join(".od")).unwrap();
    let project = bench.json(&["init"])["project"]["id"].clone();
    let folder = bench.project().join(".od/projects").join(project.as_str().unwrap());
    let file = folder.join("project.json");
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(stored["root"], ".");
    stored["root"] = bench.root().join("user").display().to_string().into();
    std::fs::write(&file, stored.to_string()).unwrap();
    let doctor = || {
        let said: Value = serde_json::from_slice(&bench.od(&["doctor", "--json"]).stdout).unwrap();
        let checks = said["checks"].as_array().unwrap();
        checks.iter().find(|check| check["check"] == "project").unwrap().clone()
    };
    let check = doctor();
    assert_eq!(check["verdict"], "bad", "{check}");
    good(&bench, &bench.project(), "home", check["fix"].as_str().unwrap());
    let check = doctor();
    assert_eq!(check["verdict"], "ok", "{check}");
}

#[test]
fn trust_without_a_data_directory_says_that_there_is_none() {
    let bench = Bench::new();
    assert_eq!(bench.od(&["trust", "--yes"]).status.code(), Some(5));
}
