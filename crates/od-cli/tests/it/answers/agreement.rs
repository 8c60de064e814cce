//! What a person is told is the same with and without a daemon. The agent's calls through every
//! door are compared in `tests/doors`.

use std::path::Path;
use std::process::Command;

use od_core::ids::Timestamp;
use serde_json::Value;

use crate::bench::{Bench, refusal};

#[test]
fn a_refused_refresh_says_the_same_with_and_without_a_daemon() {
    let bench = Bench::with_project();
    bench.write(
        "artifact.json",
        r#"{ "title": "Still", "document": { "format": "html_template_v1", "dataJson": {} } }"#,
    );
    let run = bench.hold_run();
    let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
    let made = bench.as_agent(&run, &create);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let refresh = || bench.od(&["artifacts", "refresh", "still", "--json"]);
    let with = refresh();
    run.end();
    bench.end_daemon();
    let without = refresh();
    assert_eq!(with.status.code(), without.status.code());
    let (mut with, without) = (refusal(&with), refusal(&without));
    // Only a daemon numbers its requests.
    with["error"].as_object_mut().unwrap().remove("requestId").unwrap();
    assert_eq!(with, without);
}

/// What a person does to the artifact `live`, whose id stands for `ID`.
const VERBS: &[&[&str]] = &[
    &["artifacts", "list"],
    &["artifacts", "show", "live"],
    &["artifacts", "refresh", "live", "--dry-run"],
    &["artifacts", "refresh", "live"],
    &["artifacts", "history", "live"],
    &["artifacts", "rollback", "live", "--to", "refresh-000001", "--dry-run"],
    &["artifacts", "rollback", "live", "--to", "refresh-000001"],
    &["artifacts", "rollback", "live", "--to", "refresh-000001"],
    &["artifacts", "show", "live"],
    &["connectors", "disconnect", "git"],
    &["connectors", "connect", "git"],
    &["connectors", "list"],
    &["artifacts", "delete", "ID", "--dry-run"],
    &["artifacts", "delete", "ID"],
    &["artifacts", "list", "--trash"],
    &["artifacts", "restore", "ID", "--dry-run"],
    &["artifacts", "restore", "ID"],
];

#[test]
fn every_answer_is_the_same_document_with_and_without_a_daemon() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    bench.end_daemon();
    bench.good(&["artifacts", "refresh", "live"]);
    bench.write("metrics.json", r#"{ "n": 2 }"#);
    let (home, kept) = (bench.root().join("home"), bench.root().join("kept"));
    copy(&home, &kept);
    let without = told(&bench, &id);
    assert!(bench.daemon().is_none(), "the first round had one");
    std::fs::remove_dir_all(&home).unwrap();
    copy(&kept, &home);
    bench.good(&["open", "--print"]);
    let with = told(&bench, &id);
    assert!(bench.daemon().is_some(), "the second round had none");
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with, without);
    }
    assert_eq!(with.len(), without.len());
}

/// Says every verb, and returns what was answered, without what differs from time to time.
fn told(bench: &Bench, id: &str) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    for verb in VERBS {
        let words: Vec<&str> =
            verb.iter().map(|word| if *word == "ID" { id } else { word }).collect();
        let mut answer = bench.json(&words);
        let url = answer.as_object_mut().unwrap().remove("consoleUrl");
        let of_artifact = answer.get("artifact").is_some();
        assert_eq!(url.is_some(), of_artifact, "{verb:?}: {answer}");
        settle(&mut answer);
        told.push((verb.join(" "), answer));
    }
    told
}

/// Takes out times, and the digests of what holds one.
fn settle(value: &mut Value) {
    match value {
        Value::String(text) if text.parse::<Timestamp>().is_ok() => *value = "TIME".into(),
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), &field) {
                    ("provenance", Value::Object(digests)) if digests.contains_key("file") => {
                        *field = "DIGEST".into();
                    }
                    ("prev", Value::String(_)) => *field = "DIGEST".into(),
                    ("durationMs", Value::Number(_)) => *field = "TIME".into(),
                    (_, _) => settle(field),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

#[test]
fn a_damaged_artifact_without_a_good_state_is_refused_as_the_api_refuses_it() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    bench.end_daemon();
    let project = std::fs::read_dir(bench.data().join("projects")).unwrap().next().unwrap();
    let artifact = project.unwrap().path().join(".live-artifacts").join(&id);
    for entry in std::fs::read_dir(&artifact).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::write(path, "{").unwrap();
        }
    }
    let shown = bench.od(&["artifacts", "show", &id, "--json"]);
    assert_eq!(shown.status.code(), Some(7), "{shown:?}");
    let said = refusal(&shown);
    assert_eq!(said["error"]["code"], "LIVE_ARTIFACT_NOT_HEALTHY", "{said}");
    assert_eq!(said["status"], 409, "{said}");
    // A list shows it all the same.
    assert_eq!(bench.json(&["artifacts", "list"])["artifacts"][0]["id"], id.as_str());
}
