//! docs/keep-it-fresh.md: its examples are run, its units are read by the service manager's own checker.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::Bench;

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keep-it-fresh.md");
    std::fs::read_to_string(page).unwrap()
}

/// Returns the code blocks of a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let after = page.split(&fence).skip(1);
    after.map(|text| text.split("```").next().unwrap().to_owned()).collect()
}

/// Returns every command of the page: those of shells, cron and CI.
fn commands(page: &str) -> Vec<String> {
    let shell = blocks(page, "sh").join("");
    let shell = shell.lines().map(str::to_owned);
    let others = page
        .lines()
        .filter(|line| line.starts_with("*/5 * * * *  od ") || line.starts_with("- run: od "));
    // Webhooks need a receiver: tests/process/notified.rs has one, and runs the same verbs.
    let shell = shell.filter(|line| !line.starts_with("od webhooks "));
    shell.chain(others.map(|line| line[line.find("od ").unwrap()..].to_owned())).collect()
}

#[test]
fn every_example_of_the_page_about_freshness_runs() {
    let bench = Bench::with_project();
    let page = page();
    let checks: Value = serde_json::from_str(&blocks(&page, "json")[0]).unwrap();
    bench.write("metrics.json", r#"{ "n": 1 }"#);
    let document = json!({
        "dataJson": { "n": 0, "errors": { "open": 1 }, "orders": [1],
            "exportedAt": "2999-01-01T00:00:00.000Z" },
        "sourceJson": { "type": "local_file", "input": { "path": "metrics.json" },
            "refreshPermission": "manual_refresh_granted_for_read_only" },
        "refresh": { "every": "1h" },
        "checks": checks,
    });
    let artifact = json!({ "title": "Release dashboard", "document": document });
    bench.write("artifact.json", &artifact.to_string());
    let run = bench.hold_run();
    let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
    let made = bench.as_agent(&run, &create);
    assert!(made.status.success(), "{made:?}");
    run.end();
    let projects = bench.json(&["projects", "list"]);
    let project = projects["projects"][0]["id"].as_str().unwrap();
    let commands = commands(&page);
    assert!(commands.len() >= 20, "{commands:?}");
    for line in &commands {
        // The binary in the place of the installed one, and the project that the bench has.
        let od = format!("'{}' ", env!("CARGO_BIN_EXE_od"));
        let line = line.replacen("od ", &od, 1);
        let line = line.replace("--project site", &format!("--project {project}"));
        let output = bench.shell(&line).output().unwrap();
        // A service that is installed without a service manager is reported as installed all the same.
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    }
    let checked = bench.json(&["artifacts", "check", "release-dashboard"]);
    let states: Vec<&Value> = checked["artifacts"][0]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| &check["state"])
        .collect();
    assert_eq!(states, ["passing"; 3]);
}

#[test]
fn a_check_that_fails_or_is_unknown_ends_with_1() {
    let bench = Bench::with_project();
    let check = |id: &str, path: &str| json!({ "id": id, "path": path, "op": "gt", "value": 5 });
    let document = json!({ "dataJson": { "n": 1 },
        "checks": [check("small", "n"), check("absent", "m")] });
    bench.write("artifact.json", &json!({ "title": "N", "document": document }).to_string());
    let run = bench.hold_run();
    let made =
        bench.as_agent(&run, &["tools", "live-artifacts", "create", "--input", "artifact.json"]);
    assert!(made.status.success(), "{made:?}");
    run.end();
    let output = bench.od(&["artifacts", "check", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let states: Vec<&Value> = said["artifacts"][0]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| &check["state"])
        .collect();
    assert_eq!(
        (said["ok"].as_bool(), &states[..]),
        (Some(false), &[&json!("failing"), &json!("unknown")][..])
    );
}

#[test]
fn the_service_managers_own_checker_finds_nothing_wrong_with_any_unit() {
    // Machines without systemd have no such checker; there this says nothing.
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    let bench = Bench::new();
    let folder = bench.root().join("units");
    std::fs::create_dir_all(&folder).unwrap();
    let verify = |unit: &Path| {
        let run = bench.root().join("run");
        std::fs::create_dir_all(&run).unwrap();
        let mut command = Command::new("systemd-analyze");
        command.args(["--user", "verify"]).arg(unit).env("XDG_RUNTIME_DIR", run);
        command.output().unwrap()
    };
    let write = |name: &str, text: &str| -> PathBuf {
        let unit = folder.join(name);
        std::fs::write(&unit, text).unwrap();
        unit
    };
    let plan = bench.json(&["service", "install", "--dry-run"]);
    let mut units = vec![write("od.service", plan["unit"].as_str().unwrap())];
    for block in blocks(&page(), "ini") {
        let (first, text) = block.split_once('\n').unwrap();
        let name = first.rsplit('/').next().unwrap();
        units.push(write(name, &text.replace("/usr/local/bin/od", env!("CARGO_BIN_EXE_od"))));
    }
    assert_eq!(units.len(), 3);
    for unit in &units {
        let said = verify(unit);
        // It warns of unknown keys on stderr and succeeds.
        assert!(said.status.success() && said.stderr.is_empty(), "{}: {said:?}", unit.display());
    }
    let wrong = verify(&write("wrong.timer", "[Timer]\nOnCalendar=nonsense\n"));
    assert!(!wrong.status.success(), "a checker that finds nothing checks nothing");
}
