//! `od demo --once`: three artifacts, refreshed for real, nothing left behind.

use std::io::BufReader;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, exit_code};

/// Starts the demo over a directory and returns it with what it said once it was set up.
fn start(bench: &Bench, directory: &str) -> (Child, Value) {
    let words = ["demo", "--no-open", "--port", "0", "--dir", directory, "--json"];
    let mut demo =
        bench.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let stdout = BufReader::new(demo.stdout.take().unwrap());
    let mut said = serde_json::Deserializer::from_reader(stdout).into_iter::<Value>();
    match said.next() {
        Some(said) => (demo, said.unwrap()),
        None => panic!("it ended with {:?}", exit_code(demo)),
    }
}

fn end(demo: Child) {
    kill_process(Pid::from_child(&demo), Signal::INT).unwrap();
    assert_eq!(exit_code(demo), Some(0), "Ctrl-C ends it in order");
}

#[test]
fn the_demo_stays_with_three_artifacts_that_follow_their_sources() {
    let bench = Bench::new();
    let (demo, said) = start(&bench, "files");
    assert_eq!(said["url"].as_str(), bench.daemon().map(|(url, _)| url).as_deref());
    let listed = bench.json(&["artifacts", "list"]);
    let artifacts = listed["artifacts"].as_array().unwrap();
    assert_eq!(artifacts.len(), 3, "{listed}");
    assert!(artifacts.iter().all(|artifact| artifact["refreshable"] == true), "{listed}");
    let metrics = bench.project().join("files/metrics.json");
    let changed = std::fs::read_to_string(&metrics).unwrap().replace("42", "41");
    std::fs::write(&metrics, changed).unwrap();
    let dashboard = artifacts.iter().find(|artifact| artifact["title"] == "Website relaunch");
    let id = dashboard.unwrap()["id"].as_str().unwrap();
    let refreshed = bench.json(&["artifacts", "refresh", id]);
    assert_eq!(refreshed["refresh"]["changed"], true, "{refreshed}");
    end(demo);
    assert_eq!(bench.daemon(), None);
    // A second time everything is there already.
    let again = bench.json(&["artifacts", "list"]);
    assert_eq!(again["artifacts"].as_array().map(Vec::len), Some(3));
}

#[test]
fn an_empty_git_directory_above_or_in_the_demo_does_not_end_it() {
    for place in [".", "files"] {
        let bench = Bench::new();
        std::fs::create_dir_all(bench.project().join(place).join(".git")).unwrap();
        let (demo, _) = start(&bench, "files");
        let listed = bench.json(&["artifacts", "list"]);
        let states = listed["artifacts"].as_array().unwrap();
        assert_eq!(states.len(), 3, "{place}: {listed}");
        assert!(
            states.iter().all(|line| line["refreshStatus"] == "succeeded"),
            "{place}: {listed}"
        );
        end(demo);
    }
}

#[test]
fn a_repository_that_the_connector_refuses_is_shown_as_not_refreshed() {
    let bench = Bench::new();
    let other = bench.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let made = std::process::Command::new("git").args(["init", "--quiet"]).arg(&other).status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink(other.join(".git"), bench.project().join(".git")).unwrap();
    let (demo, _) = start(&bench, "files");
    // Outside the repository, whose directory is a project of its own.
    let listed = bench.command(&["artifacts", "list", "--json"]).current_dir(bench.root()).output();
    let listed: Value = serde_json::from_slice(&listed.unwrap().stdout).unwrap();
    let failed = |line: &&Value| line["refreshStatus"] == "failed";
    let artifacts = listed["artifacts"].as_array().unwrap();
    let failed: Vec<&Value> = artifacts.iter().filter(failed).map(|line| &line["slug"]).collect();
    assert_eq!((artifacts.len(), failed), (3, vec![&Value::from("repository")]), "{listed}");
    end(demo);
}

#[test]
fn the_demo_makes_no_commit_in_a_repository_of_somebody_else() {
    let bench = Bench::new();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@example.com",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .current_dir(bench.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "mine"]);
    let story = bench.json(&["demo", "--once", "--dir", "."]);
    assert_eq!(story["artifacts"], 2, "the repository is not the demo's to show");
    assert_eq!(git(&["log", "--format=%s"]).trim(), "mine");
}

#[test]
fn the_demo_follows_its_sources_and_leaves_nothing() {
    let bench = Bench::new();
    let story = bench.json(&["demo", "--once"]);
    assert_eq!(story["artifacts"], 3);
    let steps = story["steps"].as_array().unwrap();
    let said = |word: &str| steps.iter().filter(|step| step["step"] == word).count();
    assert_eq!((said("created"), said("refreshed")), (3, 7));
    let last = steps.last().unwrap();
    assert_eq!(last["what"], "nothing changed at the source");
    assert!(!bench.root().join("home").exists(), "the demo wrote into the person's home");
}

#[test]
fn a_second_demo_over_the_same_folder_follows_its_sources_too() {
    let bench = Bench::new();
    for round in 0..3 {
        let story = bench.json(&["demo", "--once", "--dir", "files"]);
        assert_eq!(story["artifacts"], 3, "{round}: {story}");
        let steps = story["steps"].as_array().unwrap();
        let refreshed = steps.iter().filter(|step| step["step"] == "refreshed").count();
        assert_eq!(refreshed, 7, "{round}: {story}");
    }
    // A number of the person's own is not changed, and nothing is said to have followed it.
    std::fs::write(bench.project().join("files/metrics.json"), "{}").unwrap();
    let story = bench.json(&["demo", "--once", "--dir", "files"]);
    let changed = story["steps"].as_array().unwrap().iter();
    let changed = changed.filter(|step| step["step"] == "sources changed");
    assert!(changed.clone().all(|step| step["what"].as_array().map(Vec::len) == Some(1)));
    let removed = bench.json(&["demo", "--remove", "--yes", "--dir", "files"]);
    assert_eq!(removed["removed"], true);
    assert!(!bench.project().join("files").exists(), "the repository was the demo's own");
}

#[test]
fn removing_one_demo_leaves_a_demo_over_another_folder_alone() {
    let bench = Bench::new();
    let (demo, _) = start(&bench, "first");
    end(demo);
    bench.json(&["demo", "--once", "--dir", "second"]);
    let removed = bench.json(&["demo", "--remove", "--yes", "--dir", "second"]);
    assert_eq!(removed["artifactIds"], serde_json::json!([]));
    let listed = bench.json(&["artifacts", "list"]);
    assert_eq!(listed["artifacts"].as_array().map(Vec::len), Some(3), "{listed}");
}
