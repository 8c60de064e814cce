//! `od doctor`: a closed list of checks, each with the command that fixes it.

use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

const CHECKS: &[&str] =
    &["home", "keyring", "data directory", "daemon", "store", "project", "skill", "git", "name"];

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
