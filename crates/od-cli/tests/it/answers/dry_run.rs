//! `--dry-run`: the same checks, not a byte changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use od_app::artifacts::{Address, DeleteArtifact};
use od_app::{Caller, Mode};
use od_cli::args::VERBS;
use od_daemon::{ComposeOptions, compose};
use serde_json::Value;

use crate::bench::{Bench, HeldRun, LIVE};

/// Every file below a directory with its bytes; the log of a running daemon is no data.
fn tree(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files.insert(path.clone(), Vec::new());
            tree(&path, files);
        } else if path.file_name().is_none_or(|name| name != "daemon.log") {
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

/// Verbs for a machine that has nothing yet.
const ON_A_NEW_MACHINE: &[&[&str]] = &[
    &["init", "--dry-run"],
    &["demo", "--dry-run"],
    &["demo", "--once", "--dry-run"],
    &["open", "--dry-run"],
    &["serve", "--dry-run"],
    &["stop", "--dry-run"],
    &["refresh", "--due", "--dry-run"],
    &["service", "install", "--dry-run"],
    &["service", "remove", "--dry-run"],
    &["skills", "install", "--dry-run"],
    &["keys", "rotate", "--dry-run"],
    &["config", "set", "port", "8000", "--dry-run"],
    &["config", "unset", "port", "--dry-run"],
    &["connectors", "connect", "github", "--dry-run"],
    &["connectors", "disconnect", "git", "--dry-run"],
    &["sources", "add", "http", "weather", "https://api.example.com/v1", "--dry-run"],
    &["sources", "add", "postgres", "shop", "--dry-run"],
    &["webhooks", "add", "pager", "https://hooks.example.com/od", "--dry-run"],
    // And what only looks makes nothing either.
    &["artifacts", "list"],
    &["projects", "list"],
    &["connectors", "list"],
    &["sources", "list"],
    &["sessions", "list"],
    &["config", "list"],
    &["config", "get", "port"],
    &["skills", "list"],
    &["keys", "status"],
    &["mcp", "config", "--agent", "claude"],
    &["mcp", "config", "--agent", "codex"],
    &["mcp", "config", "--agent", "cursor"],
    &["mcp", "config", "--agent", "gemini"],
    &["mcp", "config", "--agent", "opencode"],
    &["mcp", "config", "--agent", "qwen"],
    &["doctor"],
    &["report"],
];

/// A bundle that another machine made.
const BUNDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bundles/artifact-v1.odb");
/// A signer that nobody has met.
const SIGNER: &str = "ed25519:8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c";

/// A signer that the used machine trusts.
const REVOCABLE: &str = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

/// Verbs for a machine with an artifact `live`, and one more in the trash.
const ON_A_USED_MACHINE: &[&[&str]] = &[
    &["run", "--dry-run", "--", "sh", "agent.sh"],
    &["artifacts", "refresh", "live", "--dry-run"],
    &["artifacts", "schedule", "live", "--every", "1h", "--dry-run"],
    &["refresh", "--due", "--dry-run"],
    &["artifacts", "rollback", "live", "--to", "refresh-000001", "--dry-run"],
    &["artifacts", "export", "live", "--html", "page.html", "--dry-run"],
    &["build", "--out", "site", "--refresh", "--dry-run"],
    &["artifacts", "export", "live", "--bundle", "live.odb", "--dry-run"],
    &["artifacts", "import", BUNDLE, "--dry-run"],
    &["projects", "export", "--bundle", "all.odb", "--dry-run"],
    &["keys", "trust", SIGNER, "--name", "Ada", "--dry-run"],
    &["keys", "revoke", REVOCABLE, "--dry-run"],
    &["trust", "--dry-run"],
    &["artifacts", "repair", "live", "--dry-run"],
    &["artifacts", "delete", "live", "--dry-run"],
    &["artifacts", "restore", "ID", "--dry-run"],
    &["artifacts", "open", "live", "--dry-run"],
    &["connectors", "connect", "github", "--dry-run"],
    &["connectors", "disconnect", "git", "--dry-run"],
    &["projects", "rename", "PROJECT", "--name", "Site", "--dry-run"],
    &["projects", "rebind", "PROJECT", "--dir", "moved", "--dry-run"],
    &["projects", "remove", "PROJECT", "--dry-run"],
    &["sources", "add", "http", "board", "https://api.example.com/v1", "--dry-run"],
    &["sources", "remove", "weather", "--dry-run"],
    &["webhooks", "remove", "pager", "--dry-run"],
    &["sessions", "revoke", "--all", "--dry-run"],
    &["init", "--dry-run"],
    &["keys", "rotate", "--dry-run"],
    &["serve", "--dry-run"],
    &["open", "--dry-run"],
];

/// The agent's verbs, while its run lives.
const IN_A_RUN: &[&[&str]] = &[
    &[
        "tools",
        "live-artifacts",
        "create",
        "--input",
        "artifact.json",
        "--attempt-id",
        "a",
        "--dry-run",
    ],
    &[
        "tools",
        "live-artifacts",
        "update",
        "--artifact-id",
        "ID",
        "--input",
        "artifact.json",
        "--dry-run",
    ],
    &["tools", "live-artifacts", "refresh", "--artifact-id", "ID", "--dry-run"],
    &["tools", "live-artifacts", "delete", "--artifact-id", "OWN", "--dry-run"],
];

/// Verbs that share/team.rs tries, because they need a server.
const AT_A_SERVER: [&str; 2] = ["store migrate", "store copy"];

#[test]
fn every_verb_that_writes_is_tried() {
    let tried: BTreeSet<&str> = [ON_A_NEW_MACHINE, ON_A_USED_MACHINE, IN_A_RUN]
        .into_iter()
        .flatten()
        .filter(|words| words.contains(&"--dry-run"))
        .filter_map(|words| {
            let line = words.join(" ");
            VERBS.iter().map(|verb| verb.words).find(|verb| line.starts_with(verb))
        })
        .chain(AT_A_SERVER)
        .collect();
    let writing: BTreeSet<&str> =
        VERBS.iter().filter(|verb| verb.writes()).map(|verb| verb.words).collect();
    assert_eq!(tried, writing);
}

#[test]
fn on_a_new_machine_nothing_is_made() {
    let bench = Bench::new();
    let before = bytes(&bench);
    for verb in ON_A_NEW_MACHINE {
        let said = bench.json(verb);
        assert!(said["dryRun"] == true || !verb.contains(&"--dry-run"), "{verb:?}: {said}");
        unchanged(&bench, &before, verb);
    }
}

/// Puts an id where the tables only say that one stands there.
fn with_id<'w>(verb: &[&'w str], id: &'w str) -> Vec<&'w str> {
    with_name(verb, "ID", id)
}

fn with_name<'w>(verb: &[&'w str], name: &str, id: &'w str) -> Vec<&'w str> {
    verb.iter().map(|word| if *word == name { id } else { word }).collect()
}

/// Moves an artifact to the trash, as the console does.
pub(crate) fn delete(bench: &Bench, id: &str) {
    let app =
        compose(&bench.root().join("home"), &bench.data(), ComposeOptions::default()).unwrap();
    let address = Address { project: None, artifact: id.parse().unwrap() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = DeleteArtifact { address, if_revision: None };
    runtime
        .block_on(od_app::artifacts::delete(&app, &Caller::Person, request, Mode::Commit))
        .unwrap();
}

/// Registers a webhook, whose secret comes on stdin.
fn add_webhook(bench: &Bench) {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = bench.command(&["webhooks", "add", "pager", "https://hooks.example.com/od"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a-secret-of-this-hook").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn on_a_used_machine_nothing_changes() {
    let bench = Bench::with_project();
    let deleted = bench.with_artifact();
    bench.end_daemon();
    delete(&bench, &deleted);
    bench.with_artifact();
    bench.end_daemon();
    bench.good(&["artifacts", "refresh", "live"]);
    bench.write("metrics.json", r#"{ "n": 2 }"#);
    bench.good(&["artifacts", "refresh", "live"]);
    bench.good(&["sources", "add", "http", "weather", "https://api.example.com/v1"]);
    bench.good(&["keys", "trust", REVOCABLE]);
    add_webhook(&bench);
    bench.write("moved/metrics.json", r#"{ "n": 3 }"#);
    let project = bench.json(&["init"])["project"]["id"].as_str().unwrap().to_owned();
    let before = bytes(&bench);
    for verb in ON_A_USED_MACHINE {
        let mut words = vec!["--json"];
        words.extend(with_name(&with_id(verb, &deleted), "PROJECT", &project));
        let said: Value = serde_json::from_str(&bench.good(&words)).unwrap();
        assert_eq!(said["dryRun"], true, "{verb:?}");
        unchanged(&bench, &before, verb);
    }
    // The same verbs without the flag do something.
    bench.good(&["artifacts", "restore", &deleted]);
    assert!(bytes(&bench) != before);
    bench.good(&["artifacts", "refresh", &deleted]);
    for verb in ["rename", "rebind", "remove"] {
        let tried = ON_A_USED_MACHINE.iter().find(|words| words.starts_with(&["projects", verb]));
        let mut words = with_name(tried.unwrap(), "PROJECT", &project);
        words.retain(|word| *word != "--dry-run");
        words.extend((verb == "remove").then_some("--yes"));
        let before = bytes(&bench);
        bench.good(&words);
        assert!(bytes(&bench) != before, "{words:?}");
    }
    let before = bytes(&bench);
    bench.good(&["sources", "remove", "weather"]);
    assert!(bytes(&bench) != before);
}

/// A person's verbs over names that nothing has.
const OVER_NOTHING: &[&[&str]] = &[
    &["artifacts", "refresh", "nothing"],
    &["artifacts", "schedule", "nothing", "--every", "1h"],
    &["artifacts", "rollback", "nothing", "--to", "refresh-000001"],
    &["artifacts", "export", "nothing", "--html", "page.html"],
    &["artifacts", "repair", "nothing"],
    &["artifacts", "delete", "nothing", "--yes"],
    &["artifacts", "restore", "la-none-000000000000"],
    &["artifacts", "import", "nothing.odb"],
    &["projects", "rename", "nothing", "--name", "Site"],
    &["projects", "rebind", "nothing", "--dir", "moved"],
    &["projects", "remove", "nothing", "--yes"],
    &["connectors", "connect", "nothing"],
    &["connectors", "disconnect", "nothing"],
    &["sources", "remove", "nothing"],
    &["webhooks", "remove", "nothing"],
    &["config", "unset", "nothing"],
];

#[test]
fn what_is_not_there_is_refused_alike_whether_it_is_tried_or_done() {
    let bench = Bench::with_project();
    bench.with_artifact();
    bench.end_daemon();
    for verb in OVER_NOTHING {
        let ask = |extra: &[&str]| {
            let output = bench.od(&[&["--json"], *verb, extra].concat());
            let said = crate::bench::refusal(&output);
            (output.status.code(), said["error"]["code"].clone())
        };
        let (tried, done) = (ask(&["--dry-run"]), ask(&[]));
        assert_ne!(done.0, Some(0), "{verb:?}");
        assert_eq!(tried, done, "{verb:?}");
    }
}

#[test]
fn in_a_run_nothing_changes_and_the_checks_are_those_of_the_real_call() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    // A daemon puts a commit's older files away in its own time; the next one begins after that.
    bench.end_daemon();
    let run = bench.hold_run();
    // An agent deletes only what its own run made.
    let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
    let made = bench.as_agent(&run, &create);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let own = made["artifact"]["id"].as_str().unwrap();
    let before = put_away(&bench, own);
    for verb in IN_A_RUN {
        let output = bench.as_agent(&run, &with_name(&with_id(verb, &id), "OWN", own));
        assert!(output.status.success(), "{verb:?}: {}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["dryRun"], true, "{verb:?}: {said}");
        unchanged(&bench, &before, verb);
    }
    let delete = ["tools", "live-artifacts", "delete", "--artifact-id", own];
    assert!(bench.as_agent(&run, &delete).status.success());
    assert!(bytes(&bench) != before);
    refused_alike(&bench, &run, &id);
    run.end();
}

/// Waits until the daemon has put away what the first commit of an artifact left, which takes it a
/// quiet moment; returns every file.
fn put_away(bench: &Bench, id: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut before = bytes(bench);
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(300));
        let after = bytes(bench);
        let kept = |path: &PathBuf| path.ends_with(Path::new(id).join("last-good"));
        if after == before && after.keys().any(kept) {
            return after;
        }
        before = after;
    }
    panic!("{id}: {:?}", before.keys());
}

/// A wrong call is refused in the same words whether it is tried or made.
#[track_caller]
fn refused_alike(bench: &Bench, run: &HeldRun, id: &str) {
    bench.write("wrong/artifact.json", &LIVE.replace("title", "titel"));
    bench.write("other/artifact.json", &LIVE.replace("Live", "Other"));
    let once = ["tools", "live-artifacts", "create", "--attempt-id", "once", "--input"];
    let made = bench.as_agent(run, &[&once[..], &["artifact.json"]].concat());
    assert!(made.status.success(), "{made:?}");
    let wrong: &[&[&str]] = &[
        &["tools", "live-artifacts", "create", "--input", "wrong/artifact.json"],
        &[
            "tools",
            "live-artifacts",
            "update",
            "--artifact-id",
            "ID",
            "--input",
            "wrong/artifact.json",
        ],
        &[
            "tools",
            "live-artifacts",
            "update",
            "--artifact-id",
            "ID",
            "--input",
            "artifact.json",
            "--if-revision",
            "9",
        ],
        &[
            "tools",
            "live-artifacts",
            "update",
            "--artifact-id",
            "la-none-000000000000",
            "--input",
            "artifact.json",
        ],
        &["tools", "live-artifacts", "refresh", "--artifact-id", "la-none-000000000000"],
        // Another run made it.
        &["tools", "live-artifacts", "delete", "--artifact-id", "ID", "--if-revision", "1"],
        &["tools", "live-artifacts", "delete", "--artifact-id", "la-none-000000000000"],
        &[&once[..], &["other/artifact.json"]].concat(),
        &["tools", "live-artifacts", "refresh", "--artifact-id", "ID"],
    ];
    for verb in wrong {
        if verb.ends_with(&["ID"]) {
            // From here on nothing reads the project's files.
            bench.good(&["connectors", "disconnect", "project_files"]);
        }
        let ask = |extra: &[&str]| {
            let mut words = with_id(verb, id);
            words.extend(extra);
            let output = bench.as_agent(run, &words);
            let mut said = crate::bench::refusal(&output);
            said["error"].as_object_mut().unwrap().remove("requestId");
            (output.status.code(), said)
        };
        let (tried, made) = (ask(&["--dry-run"]), ask(&[]));
        assert_eq!(tried.0, made.0, "{verb:?}");
        assert_eq!(tried.1["error"]["code"], made.1["error"]["code"], "{verb:?}");
        assert_eq!(tried.1["error"]["details"], made.1["error"]["details"], "{verb:?}");
    }
}
