//! `od config`: values with their origin, and what a daemon was started with.

use crate::bench::{Bench, refusal};

#[test]
fn every_value_says_where_it_comes_from() {
    let bench = Bench::new();
    let from = |key: &str| {
        let said = bench.json(&["config", "list"]);
        let rows = said["values"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["key"] == key).unwrap();
        (row["value"].clone(), row["from"].as_str().unwrap().to_owned())
    };
    assert_eq!(from("port"), (7456.to_string().into(), "default".to_owned()));
    bench.good(&["config", "set", "port", "8123"]);
    assert_eq!(from("port"), ("8123".into(), "file".to_owned()));
    let output = bench.command(&["config", "get", "port"]).env("OD_PORT", "8124").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "8124\n");
    bench.good(&["config", "unset", "port"]);
    assert_eq!(from("port").1, "default");
}

#[test]
fn a_dry_run_writes_no_file_and_a_wrong_value_is_refused_with_the_right_one() {
    let bench = Bench::new();
    let file = bench.root().join("home/config.toml");
    let said = bench.json(&["config", "set", "log-level", "info", "--dry-run"]);
    assert_eq!((&said["dryRun"], &said["changed"]), (&true.into(), &true.into()), "{said}");
    assert!(!file.exists());
    let output = bench.od(&["config", "set", "log-levle", "info", "--json"]);
    let refused = refusal(&output);
    assert!(refused.to_string().contains("did you mean `log-level`?"), "{refused}");
    let output = bench.od(&["config", "set", "log-level", "loud", "--json"]);
    assert!(refusal(&output).to_string().contains("must be off, error, warn"));
    assert_eq!(output.status.code(), Some(2));
    assert!(!file.exists());
}

#[test]
fn a_file_with_an_unknown_key_stops_every_verb_but_those_that_mend_it() {
    let bench = Bench::with_project();
    bench.write("../home/config.toml", "prot = 1\n");
    let output = bench.od(&["artifacts", "list", "--json"]);
    let refused = refusal(&output);
    assert!(refused.to_string().contains("did you mean `port`?"), "{refused}");
    let output = bench.od(&["doctor", "--json"]);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = said["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "configuration").unwrap();
    assert_eq!(check["verdict"], "bad", "{check}");
    assert!(check["fix"].as_str().unwrap().contains("`od config unset prot`"), "{check}");
    let output = bench.od(&["config", "unset", "pot", "--json"]);
    assert_eq!(output.status.code(), Some(2), "a key that is nowhere: {output:?}");
    bench.good(&["config", "unset", "prot"]);
    bench.good(&["artifacts", "list"]);
}

#[test]
fn a_value_that_was_typed_is_not_the_fault_of_the_file() {
    let bench = Bench::new();
    let said = refusal(&bench.od(&["config", "set", "port", "many", "--json"]));
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains("must be a port") && !message.contains("config.toml"), "{said}");
    let said = bench.od(&["config", "set", "github-base-url", "http://example.org/api"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}

#[test]
fn a_project_cannot_configure_the_machine() {
    let bench = Bench::with_project();
    bench.write("config.toml", "port = 1\n");
    bench.write(".od/config.toml", "port = 1\n");
    bench.write(".open-design/config.toml", "port = 1\n");
    let said = bench.json(&["config", "list"]);
    let port = said["values"].as_array().unwrap().iter().find(|row| row["key"] == "port").unwrap();
    assert_eq!(port["from"], "default", "{said}");
}

#[test]
fn doctor_says_what_a_running_daemon_was_not_started_with() {
    let bench = Bench::with_project();
    bench.with_artifact();
    bench.good(&["open", "--print"]);
    let said = bench.json(&["config", "set", "log-level", "debug"]);
    assert_eq!(said["restartNeeded"], true, "{said}");
    let said = bench.json(&["doctor"]);
    let checks = said["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "configuration").unwrap();
    let found = "log-level should be debug; the daemon runs with warn";
    assert_eq!((&check["verdict"], &check["found"]), (&"note".into(), &found.into()), "{check}");
    bench.end_daemon();
    let said = bench.json(&["doctor"]);
    let checks = said["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "configuration").unwrap();
    assert_eq!(check["verdict"], "ok", "{check}");
}
