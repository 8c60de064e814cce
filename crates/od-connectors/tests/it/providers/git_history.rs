//! The history of real repositories, also ones that want to run programs.

use std::path::Path;
use std::sync::Arc;

use od_connectors::{Fence, Git};
use od_core::json::Value;
use od_ports::connector_provider::ProviderError;
use od_ports::contract::{ConnectorTrial, check_connector_provider};
use serde_json::json;
use tempfile::TempDir;

use super::git::{repository, run};
use crate::scene::{OneRoot, call, project, write};

fn git(root: &Path) -> Git {
    Git::new(Arc::new(OneRoot(root.to_path_buf())), Fence::around([]))
}

async fn ask(root: &Path, tool: &str, input: Value) -> Result<Value, ProviderError> {
    call(&git(root), tool, input, None).await.map(|raw| raw.output.to_value())
}

/// Four commits by two people: two files, one of them renamed.
fn history() -> TempDir {
    let root = repository();
    let (path, bob) = (root.path(), "user.name=Bob");
    write(path, "src/lib.rs", "// TODO: one\nfn a() {}\n// TODO two, FIXME\n");
    run(path, &["add", "."]);
    run(
        path,
        &["-c", bob, "-c", "user.email=bob@example.com", "commit", "--quiet", "-m", "Add lib"],
    );
    run(path, &["tag", "v1"]);
    run(path, &["mv", "a.txt", "b.txt"]);
    run(path, &["commit", "--quiet", "-m", "Rename"]);
    write(path, "b.txt", "one\ntwo\n");
    write(path, ".env", "TODO=secret\n");
    run(path, &["add", "."]);
    run(path, &["commit", "--quiet", "-m", "Second line\n\nBody."]);
    root
}

fn subjects(value: &Value) -> Vec<&str> {
    let commits = value["commits"].as_array().unwrap();
    commits.iter().map(|commit| commit["subject"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn commits_are_listed_by_range_path_and_author() {
    let root = history();
    let all = ask(root.path(), "git.log", json!({})).await.unwrap();
    assert_eq!(subjects(&all), ["Second line", "Rename", "Add lib", "First"]);
    assert_eq!(all["commits"][2]["author"], "Bob");
    assert_eq!(all["commits"][2]["insertions"], 3);
    assert_eq!(all["commits"][0]["files"], 2);
    assert_eq!(all["truncated"], false);
    for (input, expected) in [
        (json!({ "range": "v1..HEAD" }), vec!["Second line", "Rename"]),
        (json!({ "path": "src" }), vec!["Add lib"]),
        (json!({ "author": "bob@" }), vec!["Add lib"]),
        (json!({ "author": "B.b" }), vec![]),
        (json!({ "since": "2026-05-01" }), vec![]),
        (json!({ "until": "2026-04-02T00:00:00Z", "limit": 1 }), vec!["Second line"]),
    ] {
        let log = ask(root.path(), "git.log", input.clone()).await.unwrap();
        assert_eq!(subjects(&log), expected, "{input}");
        assert_eq!(log["truncated"], input.get("limit").is_some(), "{input}");
    }
    assert!(!all.to_string().contains("@example.com"), "addresses stay where they are");
}

#[tokio::test]
async fn a_file_is_followed_through_its_names_and_its_lines_have_authors() {
    let root = history();
    let file = ask(root.path(), "git.file_history", json!({ "path": "b.txt" })).await.unwrap();
    assert_eq!(subjects(&file), ["Second line", "Rename", "First"]);
    let blame = ask(root.path(), "git.blame_summary", json!({ "path": "src/lib.rs" })).await;
    assert_eq!(
        blame.unwrap(),
        json!({
            "path": "src/lib.rs", "lines": 3, "truncated": false,
            "authors": [{
                "author": "Bob", "lines": 3, "oldest": "2026-04-01T12:00:00.000Z",
                "newest": "2026-04-01T12:00:00.000Z",
            }],
        })
    );
    let missing = ask(root.path(), "git.blame_summary", json!({ "path": "none" })).await;
    assert!(matches!(missing, Err(ProviderError::Missing { .. })), "{missing:?}");
}

#[tokio::test]
async fn words_are_counted_by_file_and_never_in_files_of_secrets() {
    let root = history();
    write(root.path(), "uncommitted.rs", "// TODO\n");
    let found = ask(root.path(), "git.code_search", json!({})).await.unwrap();
    assert_eq!(
        found,
        json!({
            "total": 3, "truncated": false,
            "files": [
                { "path": "src/lib.rs", "word": "TODO", "count": 2 },
                { "path": "src/lib.rs", "word": "FIXME", "count": 1 },
            ],
        })
    );
    let none = ask(root.path(), "git.code_search", json!({ "words": ["-x", "NONE"] })).await;
    assert_eq!(none.unwrap()["files"], json!([]));
}

#[tokio::test]
async fn an_input_is_never_an_option_and_a_secret_file_never_read() {
    let root = history();
    for (tool, input) in [
        ("git.log", json!({ "range": "--output=/tmp/od-escaped" })),
        ("git.log", json!({ "range": "none" })),
        ("git.log", json!({ "since": "yesterday" })),
        ("git.log", json!({ "path": "../x" })),
        ("git.code_search", json!({ "words": ["a\nb"] })),
    ] {
        let refused = ask(root.path(), tool, input.clone()).await;
        assert!(matches!(refused, Err(ProviderError::Input { .. })), "{input}: {refused:?}");
    }
    for tool in ["git.file_history", "git.blame_summary"] {
        let refused = ask(root.path(), tool, json!({ "path": ".env" })).await;
        assert!(matches!(refused, Err(ProviderError::Forbidden { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_repositorys_own_settings_run_nothing() {
    let root = history();
    let mark = root.path().join("ran");
    let touch = format!("touch {}", mark.display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "filter.x.smudge",
        "gpg.program",
        "core.sshCommand",
        "pager.log",
        "pager.blame",
        "pager.grep",
    ] {
        run(root.path(), &["config", key, &touch]);
    }
    run(root.path(), &["config", "log.showSignature", "true"]);
    write(root.path(), ".git/info/attributes", "* diff=x filter=x\n");
    for (tool, input) in [
        ("git.log", json!({})),
        ("git.file_history", json!({ "path": "b.txt" })),
        ("git.blame_summary", json!({ "path": "b.txt" })),
        ("git.code_search", json!({})),
    ] {
        ask(root.path(), tool, input).await.unwrap();
        assert!(!mark.exists(), "{tool} ran a program of the repository");
    }
}

#[tokio::test]
async fn the_tools_of_history_keep_the_contract() {
    let root = history();
    for (tool, input) in [
        ("git.log", json!({ "limit": 2 })),
        ("git.file_history", json!({ "path": "b.txt" })),
        ("git.blame_summary", json!({ "path": "b.txt" })),
        ("git.code_search", json!({})),
    ] {
        let Value::Object(input) = input else { unreachable!() };
        let (project, tool) = (project(), tool.parse().unwrap());
        let trial = ConnectorTrial { project, tool, input, secret: None };
        check_connector_provider(&git(root.path()), &trial).await;
    }
}
