//! `--dry-run`: the same checks, not a byte changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::bench::Bench;

/// Every file below a directory with its bytes.
fn tree(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            tree(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
        }
    }
}

/// Which files are new, gone or different.
#[track_caller]
fn unchanged(bench: &Bench, before: &BTreeMap<PathBuf, Vec<u8>>, verb: &[&str]) {
    let after = bytes(bench);
    let names: Vec<&PathBuf> = before
        .keys()
        .chain(after.keys())
        .filter(|name| before.get(*name) != after.get(*name))
        .collect();
    assert!(names.is_empty(), "{verb:?}: {names:?}");
}

fn bytes(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    tree(bench.root(), &mut files);
    files
}

#[test]
fn on_a_new_machine_nothing_is_made() {
    let bench = Bench::new();
    let before = bytes(&bench);
    for verb in [
        &["init", "--dry-run"][..],
        &["demo", "--dry-run"],
        &["demo", "--once", "--dry-run"],
        &["open", "--dry-run"],
        &["serve", "--dry-run"],
        &["skills", "install", "--dry-run"],
        &["keys", "rotate", "--dry-run"],
        &["artifacts", "list"],
        &["keys", "status"],
        &["doctor"],
    ] {
        let said = bench.json(verb);
        assert!(said["dryRun"] == true || !verb.contains(&"--dry-run"), "{verb:?}: {said}");
        unchanged(&bench, &before, verb);
    }
}

#[test]
fn on_a_used_machine_nothing_changes() {
    let bench = Bench::with_project();
    bench.write("metrics.json", r#"{ "n": 1 }"#);
    let made = bench.agent(
        "printf '%s' '{ \"title\": \"Live\", \"document\": { \"format\": \"html_template_v1\", \"dataJson\": { \"n\": 0 }, \"sourceJson\": { \"type\": \"local_file\", \"input\": { \"path\": \"metrics.json\" }, \"refreshPermission\": \"manual_refresh_granted_for_read_only\" } } }' > artifact.json\n\
         \"$OD_BIN\" tools live-artifacts create --input artifact.json\n",
    );
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    bench.end_daemon();
    let before = bytes(&bench);
    for verb in [
        &["run", "--dry-run", "--", "sh", "agent.sh"][..],
        &["artifacts", "refresh", "live", "--dry-run"],
        &["artifacts", "repair", "live", "--dry-run"],
        &["artifacts", "open", "live", "--dry-run"],
        &["connectors", "connect", "github", "--dry-run"],
        &["connectors", "disconnect", "git", "--dry-run"],
        &["init", "--dry-run"],
    ] {
        let mut words = vec!["--json"];
        words.extend(verb);
        let said: serde_json::Value = serde_json::from_str(&bench.good(&words)).unwrap();
        assert_eq!(said["dryRun"], true, "{verb:?}");
        unchanged(&bench, &before, verb);
    }
    // The same verb without the flag does something.
    bench.good(&["artifacts", "refresh", "live"]);
    assert!(bytes(&bench) != before);
}
