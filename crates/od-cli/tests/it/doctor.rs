//! `od doctor`: a closed list of checks, each with the command that fixes it.

use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

const CHECKS: &[&str] = &[
    "home",
    "keyring",
    "configuration",
    "data directory",
    "daemon",
    "store",
    "artifacts",
    "project",
    "skill",
    "git",
    "notifications",
    "webhooks",
    "name",
];

#[test]
fn every_check_is_named_and_a_finding_names_its_fix() {
    let bench = Bench::with_project();
    let names = |said: &serde_json::Value| -> Vec<String> {
        let checks = said["checks"].as_array().unwrap();
        checks.iter().map(|check| check["check"].as_str().unwrap().to_owned()).collect()
    };
    let good = bench.json(&["doctor"]);
    assert_eq!(names(&good), CHECKS, "{good}");
    assert_eq!(good["bad"], 0, "{good}");

    let keyring = bench.root().join("home/keys/keyring.json");
    std::fs::set_permissions(&keyring, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = bench.od(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["ok"], false, "{said}");
    let bad = &said["checks"][1];
    assert_eq!(bad["verdict"], "bad", "{bad}");
    let fix = bad["fix"].as_str().unwrap();
    assert_eq!(fix, format!("chmod 600 '{}'", keyring.display()), "{bad}");
    // The fix is a command that works.
    let fixed = std::process::Command::new("sh").args(["-c", fix]).status().unwrap();
    assert!(fixed.success());
    assert_eq!(bench.json(&["doctor"])["bad"], 0);
}

#[test]
fn a_report_holds_nothing_of_the_person() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let said = bench.good(&["report"]);
    let keyring = std::fs::read_to_string(bench.root().join("home/keys/keyring.json")).unwrap();
    let keys: Vec<&str> = keyring.split('"').filter(|word| word.len() >= 32).collect();
    assert!(!keys.is_empty() && keys.iter().all(|key| !said.contains(key)), "{said}");
    let user = bench.root().join("user").display().to_string();
    assert!(!said.contains("Live") && !said.contains(&user), "{said}");
    assert!(said.contains("variables: OD_CEILING OD_HOME\n"), "{said}");
    let document = bench.json(&["report"]);
    assert_eq!(document["checks"].as_array().unwrap().len(), CHECKS.len(), "{document}");
}

#[test]
fn the_help_has_every_verb_as_data() {
    let bench = Bench::new();
    let document = bench.json(&["help"]);
    let verbs = document["verbs"].as_array().unwrap();
    assert_eq!(verbs.len(), od_cli::args::VERBS.len());
    let one = bench.json(&["help", "skills", "install"]);
    assert_eq!(one["verb"]["flags"][0]["value"]["choices"][1], "claude", "{one}");
}
