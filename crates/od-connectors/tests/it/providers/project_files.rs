//! The project files connector on real directories.

use std::path::Path;
use std::sync::Arc;

use od_connectors::{Fence, ProjectFilesConnector};
use od_ports::connector_provider::ProviderError;
use serde_json::json;
use tempfile::TempDir;

use crate::scene::{OneRoot, call, real_files, write};

const SEARCH: &str = "project_files.search";

fn connector(root: &Path, fenced: &[&Path]) -> ProjectFilesConnector {
    let fence = Fence::around(fenced.iter().map(|path| path.to_path_buf()));
    ProjectFilesConnector::new(Arc::new(OneRoot(root.to_path_buf())), fence)
}

async fn paths(root: &Path, fenced: &[&Path], query: &str) -> Vec<String> {
    let output = call(&connector(root, fenced), SEARCH, json!({ "query": query }), None).await;
    let value = output.unwrap().output.to_value();
    let matches = value["matches"].as_array().unwrap();
    matches.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn matches_come_in_order_with_line_and_preview() {
    let root = TempDir::new().unwrap();
    write(root.path(), "src/b.rs", "fn one() {}\n    let needle = 1;\n");
    write(root.path(), "src/a.rs", "// Needle first\nx\nneedle\n");
    let output = call(&connector(root.path(), &[]), SEARCH, json!({ "query": "needle" }), None)
        .await
        .unwrap();
    assert_eq!(
        output.output.to_value(),
        json!({
            "matches": [
                { "path": "src/a.rs", "line": 1, "preview": "// Needle first" },
                { "path": "src/a.rs", "line": 3, "preview": "needle" },
                { "path": "src/b.rs", "line": 2, "preview": "let needle = 1;" },
            ],
            "count": 3,
            "truncated": false,
        })
    );
}

#[tokio::test]
async fn the_first_matches_are_kept_whatever_order_the_threads_meet_them_in() {
    let root = TempDir::new().unwrap();
    for number in 0..200 {
        write(root.path(), &format!("d{}/f{number:03}.txt", number % 7), "needle\nneedle\n");
    }
    let input = json!({ "query": "needle", "limit": 5, "caseSensitive": true });
    let connector = connector(root.path(), &[]);
    let first = call(&connector, SEARCH, input.clone(), None).await.unwrap().output.to_value();
    assert_eq!(first["count"], 400);
    assert_eq!(first["truncated"], true);
    assert_eq!(first["matches"][0]["path"], "d0/f000.txt");
    assert_eq!(first["matches"][2]["path"], "d0/f007.txt");
    for _ in 0..20 {
        assert_eq!(
            call(&connector, SEARCH, input.clone(), None).await.unwrap().output.to_value(),
            first
        );
    }
}

#[tokio::test]
async fn ignored_hidden_and_binary_files_are_not_searched() {
    let root = TempDir::new().unwrap();
    write(root.path(), ".gitignore", "ignored/\n*.log\n");
    write(root.path(), "seen.txt", "needle");
    write(root.path(), "ignored/a.txt", "needle");
    write(root.path(), "x.log", "needle");
    write(root.path(), ".env", "needle");
    write(root.path(), ".git/config", "needle");
    write(root.path(), "sub/.git/config", "needle");
    write(root.path(), "sub/.live-artifacts/x/data.json", "needle");
    write(root.path(), "binary.bin", b"\x00\x01needle\x00");
    assert_eq!(paths(root.path(), &[], "needle").await, ["seen.txt"]);
}

#[tokio::test]
async fn a_glob_cannot_open_what_is_closed() {
    let root = TempDir::new().unwrap();
    let data = root.path().join("data");
    write(&data, "projects/x.txt", "needle");
    write(root.path(), ".git/config", "needle");
    write(root.path(), "a/.live-artifacts/x.txt", "needle");
    for glob in [".git/**", "**/.live-artifacts/**", "data/**", "**", "../**"] {
        let input = json!({ "query": "needle", "globs": [glob] });
        let output = call(&connector(root.path(), &[&data]), SEARCH, input, None).await;
        assert_eq!(output.unwrap().output.to_value()["count"], 0, "{glob}");
    }
}

#[tokio::test]
async fn the_data_directory_is_closed_by_identity_under_every_name() {
    let root = TempDir::new().unwrap();
    let home = root.path().join("home");
    write(&home, "keys/keyring.json", "needle");
    write(&home, "connectors/vault.key", "needle");
    write(root.path(), "open.txt", "needle");
    std::os::unix::fs::symlink(&home, root.path().join("link")).unwrap();
    std::os::unix::fs::symlink(home.join("keys/keyring.json"), root.path().join("l.txt")).unwrap();
    std::fs::hard_link(home.join("keys/keyring.json"), root.path().join("hard.txt")).unwrap();
    assert_eq!(paths(root.path(), &[&home], "needle").await, ["open.txt"]);
    // Also when the project's root itself lies inside.
    for inside in [&home, &home.join("keys")] {
        let fault = call(&connector(inside, &[&home]), SEARCH, json!({ "query": "x" }), None).await;
        assert!(matches!(fault, Err(ProviderError::Forbidden { .. })), "{fault:?}");
    }
}

#[tokio::test]
async fn a_directory_swapped_for_a_link_gives_nothing_from_outside() {
    let root = TempDir::new().unwrap();
    let outside = TempDir::new().unwrap();
    for number in 0..50 {
        write(root.path(), &format!("dir/f{number}.txt"), "inside needle");
        write(outside.path(), &format!("f{number}.txt"), "outside needle");
    }
    let dir = root.path().join("dir");
    let (real, link) = (root.path().join("real"), root.path().join("link"));
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut swaps = 0_u64;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::rename(&dir, &real).unwrap();
                std::fs::rename(&link, &dir).unwrap();
                std::fs::rename(&dir, &link).unwrap();
                std::fs::rename(&real, &dir).unwrap();
                swaps += 1;
            }
            swaps
        }
    });
    let connector = connector(root.path(), &[]);
    for _ in 0..200 {
        let input = json!({ "query": "needle", "limit": 200 });
        let value = call(&connector, SEARCH, input, None).await.unwrap().output.to_value();
        assert!(!value.to_string().contains("outside needle"));
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(swapping.join().unwrap() > 0);
}

#[tokio::test]
async fn a_long_line_is_cut_around_its_match() {
    let root = TempDir::new().unwrap();
    let line = format!("{}needle{}", "ä".repeat(5000), "ö".repeat(5000));
    write(root.path(), "long.txt", &line);
    let connector = connector(root.path(), &[]);
    let value = call(&connector, SEARCH, json!({ "query": "needle" }), None)
        .await
        .unwrap()
        .output
        .to_value();
    let preview = value["matches"][0]["preview"].as_str().unwrap();
    assert!(preview.contains("needle") && preview.len() < 300, "{preview}");
    assert!(preview.starts_with('…') && preview.ends_with('…'));
}

#[tokio::test]
async fn special_files_are_passed_over() {
    let root = TempDir::new().unwrap();
    write(root.path(), "a.txt", "needle");
    let status = std::process::Command::new("mkfifo").arg(root.path().join("pipe")).status();
    assert!(status.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    assert_eq!(paths(root.path(), &[], "needle").await, ["a.txt"]);
}

#[tokio::test]
async fn what_cannot_be_a_pattern_is_a_fault_of_the_input() {
    let root = TempDir::new().unwrap();
    for input in [
        json!({ "query": "(", "regex": true }),
        json!({ "query": "(a{1000}){1000}", "regex": true }),
        json!({ "query": "x", "globs": ["{"] }),
    ] {
        let fault = call(&connector(root.path(), &[]), SEARCH, input.clone(), None).await;
        assert!(matches!(fault, Err(ProviderError::Input { .. })), "{input}: {fault:?}");
    }
    // Without `regex` the same text is just text.
    write(root.path(), "a.txt", "f(x");
    assert_eq!(paths(root.path(), &[], "f(").await, ["a.txt"]);
}

#[tokio::test]
async fn json_is_read_with_its_faults_told_apart() {
    let root = TempDir::new().unwrap();
    write(root.path(), "good.json", "{\n  \"a\": [1, 2]\n}\n");
    write(root.path(), "bad.json", "{ not json");
    write(root.path(), "deep.json", "[".repeat(70) + &"]".repeat(70));
    let connector = connector(root.path(), &[]);
    let read = |path: &str| {
        let input = json!({ "path": path });
        call(&connector, "project_files.read_json", input, None)
    };
    assert_eq!(read("good.json").await.unwrap().output.to_value(), json!({ "a": [1, 2] }));
    let fault = read("bad.json").await.unwrap_err();
    assert!(matches!(fault, ProviderError::Malformed { .. }), "{fault:?}");
    let fault = read("deep.json").await.unwrap_err();
    assert!(matches!(fault, ProviderError::Malformed { .. }), "{fault:?}");
    let fault = read("missing.json").await.unwrap_err();
    assert!(matches!(fault, ProviderError::Missing { .. }), "{fault:?}");
    for path in ["../x.json", "/etc/passwd", "a/../../x"] {
        let fault = read(path).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Input { .. }), "{path}: {fault:?}");
    }
}

#[tokio::test]
async fn the_json_files_of_a_folder_come_by_name_and_one_bad_file_is_named() {
    let root = TempDir::new().unwrap();
    write(root.path(), "teams/b.json", "{ \"n\": 2 }");
    write(root.path(), "teams/a.json", "{ \"n\": 1 }");
    write(root.path(), "teams/notes.txt", "not JSON");
    write(root.path(), "teams/old/c.json", "{ \"n\": 3 }");
    write(root.path(), "teams2/d.json", "{ \"n\": 4 }");
    let connector = connector(root.path(), &[]);
    let read = |folder: &str| {
        let input = json!({ "folder": folder });
        call(&connector, "project_files.read_json_folder", input, None)
    };
    assert_eq!(
        read("teams").await.unwrap().output.to_value(),
        json!({
            "files": [
                { "path": "teams/a.json", "value": { "n": 1 } },
                { "path": "teams/b.json", "value": { "n": 2 } },
            ],
            "count": 2,
            "truncated": false,
        })
    );
    let fault = read("nothing").await.unwrap_err();
    assert!(matches!(fault, ProviderError::Missing { .. }), "{fault:?}");
    let fault = read("../x").await.unwrap_err();
    assert!(matches!(fault, ProviderError::Input { .. }), "{fault:?}");
    write(root.path(), "teams/z.json", "{ not json");
    let fault = read("teams").await.unwrap_err();
    assert!(fault.to_string().contains("teams/z.json"), "{fault}");
}

#[tokio::test]
async fn a_glob_opens_nothing_that_is_ignored_hidden_or_secret() {
    let root = TempDir::new().unwrap();
    write(root.path(), ".gitignore", "private/\n*.log\n!.env\n");
    let closed = [
        ".env",
        ".env.local",
        "app/.env",
        "private/a.txt",
        "x.log",
        ".hidden",
        ".ssh/config",
        ".aws/credentials",
        ".npmrc",
        ".netrc",
        "server.pem",
        "id_rsa",
    ];
    for path in closed {
        write(root.path(), path, "needle");
    }
    for glob in closed.into_iter().chain(["**", ".*", "**/.*", ".ssh/**", "private/**"]) {
        let input = json!({ "query": "needle", "globs": [glob] });
        let output = call(&connector(root.path(), &[]), SEARCH, input, None).await;
        assert_eq!(output.unwrap().output.to_value()["count"], 0, "{glob}");
    }
    write(root.path(), "open.txt", "needle");
    let input = json!({ "query": "needle", "globs": ["*.txt"] });
    let output = call(&connector(root.path(), &[]), SEARCH, input, None).await;
    assert_eq!(output.unwrap().output.to_value()["count"], 1, "it narrows still");
}

#[tokio::test]
async fn a_file_of_secrets_is_not_read_as_json_either() {
    let root = TempDir::new().unwrap();
    for path in [".env.json", ".ssh/a.json", "d/id_rsa.json"] {
        write(root.path(), path, r#"{ "a": 1 }"#);
        let input = json!({ "path": path });
        let fault =
            call(&connector(root.path(), &[]), "project_files.read_json", input, None).await;
        assert!(matches!(fault, Err(ProviderError::Forbidden { .. })), "{path}: {fault:?}");
    }
    write(root.path(), "d/open.json", r#"{ "a": 2 }"#);
    let folder = |name: &str| json!({ "folder": name });
    let tool = "project_files.read_json_folder";
    let output = call(&connector(root.path(), &[]), tool, folder("d"), None).await.unwrap();
    assert_eq!(output.output.to_value()["count"], 1);
    let fault = call(&connector(root.path(), &[]), tool, folder(".ssh"), None).await;
    assert!(matches!(fault, Err(ProviderError::Forbidden { .. })), "{fault:?}");
}

#[tokio::test]
async fn a_line_that_gives_a_secret_to_a_name_is_shown_without_it() {
    let root = TempDir::new().unwrap();
    write(root.path(), "settings.txt", "DB_PASSWORD=hunter2\nhunter2 alone\n");
    let search = |query: &str| {
        let (connector, query) = (connector(root.path(), &[]), query.to_owned());
        async move {
            call(&connector, SEARCH, json!({ "query": query, "regex": true }), None).await.unwrap()
        }
    };
    let found = search("PASSWORD").await.output.to_value();
    assert_eq!(found["matches"][0]["preview"], "DB_PASSWORD=[redacted]");
    // What may not be seen may not be guessed either.
    assert_eq!(search("PASSWORD=h").await.output.to_value()["count"], 0);
    assert_eq!(search("hunter2").await.output.to_value()["count"], 1);
}

#[tokio::test]
async fn a_credential_cannot_be_guessed_by_queries() {
    let root = TempDir::new().unwrap();
    let line = "use ghp_0123456789abcdefABCDEF here\n";
    write(root.path(), "notes.txt", line);
    let mut wide = vec![0xff, 0xfe];
    wide.extend(line.encode_utf16().flat_map(u16::to_le_bytes));
    write(root.path(), "wide.txt", wide);
    let count = async |query: &str, file: &str| {
        let input = json!({ "query": query, "regex": true, "globs": [file] });
        call(&connector(root.path(), &[]), SEARCH, input, None).await.unwrap().output.to_value()
    };
    assert_eq!(count("here", "notes.txt").await["matches"][0]["preview"], "use [redacted] here");
    // A right guess and a wrong one get the same answer, also where the mark or an edge would match.
    for form in ["ghp_G", "ghp_G.* here", "ghp_G|redacted", "ghp_G|use .{10} here", "se (ghp_G)?"] {
        for file in ["notes.txt", "wide.txt"] {
            let right = count(&form.replace('G', "0"), file).await;
            let wrong = count(&form.replace('G', "1"), file).await;
            assert_eq!(right, wrong, "{form} in {file}");
        }
    }
}

#[tokio::test]
async fn json_files_are_read_up_to_the_limits_of_an_intake() {
    let root = TempDir::new().unwrap();
    let long = |mib: usize| format!("[\"{}\"]", "x".repeat(mib << 20));
    write(root.path(), "large.json", long(8));
    write(root.path(), "larger.json", long(32));
    write(root.path(), "folder/a.json", long(8));
    write(root.path(), "folder/b.json", "{\"b\": 1}");
    write(root.path(), "folders/a.json", long(20));
    write(root.path(), "folders/b.json", long(20));
    let (_home, files) = real_files(root.path()).await;
    let connector = ProjectFilesConnector::new(Arc::new(files), Fence::around([]));
    let read = |tool: &'static str, key: &str, path: &str| {
        let input = json!({ key: path });
        let connector = &connector;
        async move { call(connector, tool, input, None).await.map(|raw| raw.output.to_value()) }
    };
    let large = read("project_files.read_json", "path", "large.json").await.unwrap();
    assert_eq!(large[0].as_str().unwrap().len(), 8 << 20);
    let fault = read("project_files.read_json", "path", "larger.json").await.unwrap_err();
    assert!(matches!(fault, ProviderError::TooLarge { allowed: 33_554_432 }), "{fault:?}");
    let folder = read("project_files.read_json_folder", "folder", "folder").await.unwrap();
    assert_eq!((&folder["count"], &folder["truncated"]), (&json!(2), &json!(false)));
    assert_eq!(folder["files"][1], json!({ "path": "folder/b.json", "value": { "b": 1 } }));
    let fault = read("project_files.read_json_folder", "folder", "folders").await.unwrap_err();
    assert!(matches!(fault, ProviderError::TooLarge { allowed: 33_554_432 }), "{fault:?}");
}
