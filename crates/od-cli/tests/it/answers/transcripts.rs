//! What a person reads: help of every verb, main failures, exit codes.

use std::collections::BTreeSet;

use od_cli::args::VERBS;

use crate::bench::Bench;

#[test]
fn the_help_of_every_verb() {
    let bench = Bench::new();
    let mut pages = bench.good(&["help"]);
    pages.push_str(&format!("\n$ od help errors\n{}", bench.good(&["help", "errors"])));
    for verb in VERBS {
        let mut words = vec!["help"];
        words.extend(verb.words.split(' '));
        pages.push_str(&format!("\n$ od {}\n{}", words.join(" "), bench.good(&words)));
    }
    insta::assert_snapshot!("help", pages);
}

/// Commands that fail, and the code each ends with.
const FAILURES: &[(&[&str], i32)] = &[
    (&["artifact", "list"], 2),
    (&["artifacts"], 2),
    (&["artifacts", "list", "--jsno"], 2),
    (&["serve", "--port", "x"], 2),
    (&["artifacts", "show", "nothing"], 5),
    (&["artifacts", "restore", "la-nothing-000000000000"], 5),
    (&["artifacts", "list", "--project", "nowhere"], 5),
    (&["artifacts", "refresh", "--dry-run", "nothing"], 5),
    (&["artifacts", "schedule", "nothing", "--every", "15m"], 5),
    (&["refresh"], 2),
    (&["trust", "now"], 2),
    (&["artifacts", "check", "absent"], 5),
    (&["service", "install", "now"], 2),
    (&["service", "status", "now"], 2),
    (&["service", "remove", "now"], 2),
    (&["tools", "live-artifacts", "list"], 4),
    (&["tools", "live-artifacts", "create", "--input", "artifact.json"], 4),
    (&["projects", "list", "all"], 2),
    (&["projects", "rename", "nowhere", "--name", "Site"], 5),
    (&["projects", "rename", "nowhere"], 2),
    (&["projects", "rebind", "nowhere"], 5),
    (&["projects", "remove", "nowhere", "--yes"], 5),
    (&["connectors", "connect", "githb"], 5),
    (&["connectors", "disconnect", "nothing"], 5),
    (&["sources", "add", "http", "weather"], 2),
    (&["sources", "add", "http", "weather", "ftp://api.example.com/v1"], 2),
    (&["sources", "add", "postgres", "Shop"], 2),
    (&["sources", "add", "postgres", "shop"], 2),
    (&["sources", "list", "weather"], 2),
    (&["sources", "test", "weather"], 5),
    (&["sources", "remove", "weather"], 5),
    (&["webhooks", "add", "pager"], 2),
    (&["webhooks", "add", "pager", "http://hooks.example.com/od"], 2),
    (&["webhooks", "add", "pager", "https://hooks.example.com/od"], 2),
    (&["webhooks", "list", "pager"], 2),
    (&["webhooks", "test", "pager"], 5),
    (&["webhooks", "remove", "pager"], 5),
    (&["sessions", "list", "all"], 2),
    (&["sessions", "revoke"], 2),
    (&["sessions", "revoke", "nothing", "--all"], 2),
    (&["run", "--project", "nowhere", "--", "true"], 5),
    (&["run", "--", "/no/such/program"], 5),
    (&["skills", "show", "nothing"], 5),
    (&["skills", "check"], 5),
    (&["skills", "check", "broken"], 1),
    (&["mcp", "config", "--agent", "cluade"], 2),
    (&["artifacts", "history", "nothing"], 5),
    (&["artifacts", "revisions", "nothing"], 5),
    (&["artifacts", "diff", "nothing"], 5),
    (&["artifacts", "diff", "nothing", "then..now"], 2),
    (&["artifacts", "export", "nothing", "--html", "page.html"], 5),
    (&["artifacts", "import", "nothing.odb"], 5),
    (&["projects", "export", "nowhere", "--bundle", "all.odb"], 5),
    (&["build"], 2),
    (&["build", "--out", "site", "--max-age", "soon"], 2),
    (&["verify", "nothing.odb"], 5),
    (&["verify", "broken/SKILL.md"], 1),
    (&["keys", "export-public", "now"], 2),
    (&["keys", "signers", "now"], 2),
    (&["keys", "trust", "ed25519:0"], 5),
    (&["keys", "revoke", "ed25519:0"], 5),
    (&["artifacts", "verify", "nothing"], 5),
    (&["artifacts", "rollback", "nothing", "--to", "refresh-000001"], 5),
    (&["artifacts", "rollback", "nothing"], 2),
    (&["artifacts", "repair", "nothing"], 5),
    (&["artifacts", "delete", "nothing"], 5),
    (&["artifacts", "open", "nothing"], 5),
    (&["tools", "live-artifacts", "update", "--input", "artifact.json"], 2),
    (&["tools", "live-artifacts", "refresh"], 2),
    (&["tools", "live-artifacts", "get"], 2),
    (&["tools", "live-artifacts", "delete", "--artifact-id"], 2),
    (&["tools", "live-artifacts", "validate", "--input"], 2),
    (&["tools", "connectors", "list"], 4),
    (&["tools", "connectors", "execute", "--connector", "git"], 2),
    (&["init", "nowhere"], 5),
    (&["skills", "install", "nowhere"], 5),
    (&["skills", "list", "nowhere"], 5),
    (&["demo", "--dir", "/dev/null/demo"], 2),
    (&["chat", "--agnt", "claude"], 2),
    (&["open", "--prnt"], 2),
    (&["stop", "now"], 2),
    (&["list"], 2),
    (&["-c", "metrics.json"], 2),
    (&["connectors", "list", "git"], 2),
    (&["config", "list", "all"], 2),
    (&["config", "get", "prot"], 2),
    (&["config", "set", "log-level", "loud"], 2),
    (&["config", "unset", "prot"], 2),
    (&["keys", "status", "--verbose"], 2),
    (&["keys", "rotate", "now"], 2),
    (&["mcp", "live-artifacts", "serve"], 2),
    (&["doctor", "--fix"], 2),
    (&["report", "all"], 2),
    (&["version", "--short"], 2),
    (&["help", "artifacst"], 2),
    (&["completions", "csh"], 2),
    (&["store", "status", "all"], 2),
    (&["store", "migrate"], 2),
    (&["store", "copy"], 2),
];

#[test]
fn every_verb_fails_here_at_least_once() {
    let failing: BTreeSet<&str> = FAILURES
        .iter()
        .map(|(words, _)| words.join(" "))
        .filter_map(|line| VERBS.iter().map(|verb| verb.words).find(|verb| line.starts_with(verb)))
        .collect();
    assert_eq!(failing, VERBS.iter().map(|verb| verb.words).collect());
}

#[test]
fn the_main_failures_with_their_exit_codes() {
    let bench = Bench::with_project();
    bench.write("broken/SKILL.md", "---\nname: Broken One\ntriggers: [x]\n---\n");
    let mut transcript = String::new();
    for (words, code) in FAILURES {
        let output = bench.od(words);
        assert_eq!(output.status.code(), Some(*code), "{words:?}: {output:?}");
        let text = |bytes: &[u8]| {
            let place = bench.root().canonicalize().unwrap();
            let text = String::from_utf8_lossy(bytes).replace(place.to_str().unwrap(), "…");
            // A sign of life, on a slow machine only.
            let lines = text.lines().filter(|line| !line.starts_with("… "));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        transcript.push_str(&format!(
            "$ od {}\n{}{}[exit {code}]\n\n",
            words.join(" "),
            text(&output.stdout),
            text(&output.stderr),
        ));
    }
    insta::assert_snapshot!("failures", transcript);
}

#[test]
fn every_failure_is_one_json_document_on_stderr_with_json() {
    let bench = Bench::with_project();
    for (words, code) in FAILURES {
        // What ran and found problems answers on stdout.
        if *code == 1 {
            continue;
        }
        let at = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        let mut words = words.to_vec();
        words.insert(at, "--json");
        let output = bench.od(&words);
        let said = crate::bench::refusal(&output);
        assert_eq!(said["ok"], false, "{words:?}");
        assert!(
            said["error"]["message"].as_str().is_some_and(|text| !text.is_empty()),
            "{words:?}"
        );
        assert!(said["error"]["suggestion"].as_str().is_some(), "{words:?}");
    }
}

#[test]
fn verbs_work_without_a_daemon() {
    let bench = Bench::with_project();
    assert_eq!(bench.json(&["artifacts", "list"])["artifacts"], serde_json::json!([]));
    assert_eq!(bench.json(&["artifacts", "verify"])["checked"], 0);
    let connectors = bench.json(&["connectors", "list"]);
    let ids: Vec<_> =
        connectors["connectors"].as_array().unwrap().iter().map(|c| c["id"].clone()).collect();
    assert_eq!(ids, ["project_files", "sqlite", "git", "github", "http", "prometheus", "postgres"]);
    assert!(bench.daemon().is_none(), "a daemon was started for reading");
}
