//! The git connector against real repositories, also ones that want to run programs.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use od_connectors::{Fence, Git};
use od_ports::connector_provider::ProviderError;
use serde_json::json;
use tempfile::TempDir;

use crate::scene::{OneRoot, call, write};

const SUMMARY: &str = "git.summary";

pub(crate) fn run(root: &Path, args: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "2026-04-01T12:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-04-01T12:00:00Z")
        .output()
        .unwrap();
    assert!(status.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&status.stderr));
}

pub(crate) fn repository() -> TempDir {
    let root = TempDir::new().unwrap();
    run(root.path(), &["init", "--quiet"]);
    write(root.path(), "a.txt", "one\n");
    run(root.path(), &["add", "."]);
    run(root.path(), &["commit", "--quiet", "-m", "First"]);
    root
}

fn git(root: &Path) -> Git {
    Git::new(Arc::new(OneRoot(root.to_path_buf())), Fence::around([]))
}

#[tokio::test]
async fn a_repository_is_summarised() {
    let upstream = repository();
    let root = TempDir::new().unwrap();
    run(root.path(), &["clone", "--quiet", upstream.path().to_str().unwrap(), "."]);
    write(root.path(), "a.txt", "one\ntwo\nthree\n");
    run(root.path(), &["commit", "--quiet", "-am", "Second"]);
    run(root.path(), &["tag", "v1"]);
    write(root.path(), "a.txt", "one\nthree\n");
    write(root.path(), "new file.txt", "x");
    write(root.path(), "b.txt", "y\n");
    run(root.path(), &["add", "b.txt"]);

    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["branch"], "main");
    assert_eq!(value["upstream"], "origin/main");
    assert_eq!((&value["ahead"], &value["behind"]), (&json!(1), &json!(0)));
    assert_eq!(value["status"]["clean"], false);
    assert_eq!(value["status"]["staged"], 1);
    assert_eq!(value["status"]["modified"], 1);
    assert_eq!(value["status"]["untracked"], 1);
    assert_eq!(value["commits"][0]["subject"], "Second");
    assert_eq!(value["commits"][0]["author"], "Ada");
    assert_eq!(value["commits"][0]["time"], "2026-04-01T12:00:00Z");
    assert_eq!(value["commits"][1]["subject"], "First");
    assert_eq!(value["diffStat"]["filesChanged"], 2);
    assert_eq!(value["diffStat"]["insertions"], 1);
    assert_eq!(value["diffStat"]["deletions"], 1);
    assert_eq!(value["tags"][0]["name"], "v1");
    assert!(!value.to_string().contains("ada@example.com"));
}

#[tokio::test]
async fn a_repository_without_commits_has_a_summary() {
    let root = TempDir::new().unwrap();
    run(root.path(), &["init", "--quiet"]);
    write(root.path(), "x", "x");
    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["commits"], json!([]));
    assert_eq!(value["status"]["untracked"], 1);
}

#[tokio::test]
async fn the_repository_has_to_be_the_projects_own() {
    let outer = repository();
    let inner = outer.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let none = json!({ "isRepository": false });
    let value = call(&git(&inner), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value, none);
    write(&inner, ".git/nothing", "");
    let value = call(&git(&inner), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value, none);
}

#[tokio::test]
async fn no_setting_of_a_repository_runs_a_program() {
    let root = repository();
    let witness = TempDir::new().unwrap();
    let ran = witness.path().join("ran");
    let program = witness.path().join("program");
    write(witness.path(), "program", format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()));
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let program = program.to_str().unwrap();

    write(root.path(), ".gitattributes", "* filter=evil diff=evil\n");
    run(root.path(), &["add", ".gitattributes"]);
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "gpg.ssh.program",
        "credential.helper",
        "pager.log",
        "pager.diff",
        "pager.status",
        "alias.status",
    ] {
        run(root.path(), &["config", key, program]);
    }
    for (key, value) in [
        ("filter.evil.required", "true"),
        ("log.showSignature", "true"),
        ("core.hooksPath", witness.path().to_str().unwrap()),
        ("core.worktree", "/etc"),
        ("status.submoduleSummary", "true"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{program}")),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "origin"),
    ] {
        // `core.worktree` would move the next call of git itself, so it is written last by hand.
        if key != "core.worktree" {
            run(root.path(), &["config", key, value]);
        }
    }
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"] {
        let path = root.path().join(".git/hooks").join(hook);
        write(
            root.path(),
            &format!(".git/hooks/{hook}"),
            format!("#!/bin/sh\ntouch {}\n", ran.display()),
        );
        let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    let config = root.path().join(".git/config");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str("[core]\n\tworktree = /etc\n");
    std::fs::write(&config, text).unwrap();
    // A changed file makes git look at its content, through the filter if it were allowed.
    write(root.path(), "a.txt", "one\ntwo\n");

    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["commits"][0]["subject"], "First");
    assert_eq!(value["diffStat"]["insertions"], 2);
    assert!(!ran.exists(), "a program named by the repository was run");
    assert!(!value.to_string().contains("passwd"), "another work tree was read");
}

/// A repository whose every file goes through a filter, and the program that the filter would run.
fn filtered(attribute: &[u8]) -> (TempDir, TempDir, String) {
    let (root, witness) = (repository(), TempDir::new().unwrap());
    let ran = witness.path().join("ran");
    write(witness.path(), "program", format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()));
    let program = witness.path().join("program");
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    write(root.path(), ".git/info/attributes", attribute);
    write(root.path(), "a.txt", "one\ntwo\n");
    let program = program.to_str().unwrap().to_owned();
    (root, witness, program)
}

fn configure(root: &Path, lines: &[u8]) {
    let config = root.join(".git/config");
    let mut bytes = std::fs::read(&config).unwrap();
    bytes.extend_from_slice(lines);
    std::fs::write(&config, bytes).unwrap();
}

#[tokio::test]
async fn a_filter_whose_name_is_no_text_does_not_run_either() {
    let (root, witness, program) = filtered(b"* filter=e\xffvil\n");
    let mut lines = b"[filter \"e\xffvil\"]\n\tclean = ".to_vec();
    lines.extend_from_slice(program.as_bytes());
    configure(root.path(), &lines);
    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["diffStat"]["insertions"], 1);
    assert!(!witness.path().join("ran").exists(), "the filter was run");
}

#[tokio::test]
async fn a_filter_behind_more_settings_than_are_read_does_not_run() {
    let (root, witness, program) = filtered(b"* filter=evil\n");
    let mut lines = b"[many]\n".to_vec();
    for number in 0..50_000 {
        lines.extend_from_slice(format!("\ta-name-of-some-length-{number}\n").as_bytes());
    }
    lines.extend_from_slice(format!("[filter \"evil\"]\n\tclean = {program}\n").as_bytes());
    configure(root.path(), &lines);
    let fault = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap_err();
    assert!(!witness.path().join("ran").exists(), "the filter was run");
    assert!(matches!(fault, ProviderError::Forbidden { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_summary_writes_nothing() {
    let root = repository();
    // The index is out of date, which tempts git to rewrite it; git looks at whole seconds.
    let file = std::fs::File::options().write(true).open(root.path().join("a.txt")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1)).unwrap();
    let before = std::fs::read(root.path().join(".git/index")).unwrap();
    call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap();
    assert_eq!(std::fs::read(root.path().join(".git/index")).unwrap(), before);
    assert!(!root.path().join(".git/index.lock").exists());
}

#[tokio::test]
async fn thousands_of_untracked_files_are_counted_not_listed() {
    let root = repository();
    for number in 0..3000 {
        write(root.path(), &format!("a-rather-long-name-for-a-file-{number:05}.txt"), "x");
    }
    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["status"]["untracked"], 3000);
    assert_eq!(value["status"]["files"].as_array().unwrap().len(), 50);
    assert_eq!(value["status"]["truncated"], true);
}

async fn refusal(root: &Path) -> String {
    match call(&git(root), SUMMARY, json!({}), None).await {
        Err(ProviderError::Forbidden { message }) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_repository_outside_the_project_is_not_summarised() {
    let foreign = repository();
    let directory = foreign.path().join(".git");
    let root = TempDir::new().unwrap();
    std::os::unix::fs::symlink(&directory, root.path().join(".git")).unwrap();
    assert!(refusal(root.path()).await.contains("symbolic link"));

    let root = TempDir::new().unwrap();
    write(root.path(), ".git", format!("gitdir: {}\n", directory.display()));
    assert!(refusal(root.path()).await.contains("no work tree of that repository"));

    let root = repository();
    write(root.path(), ".git/commondir", format!("{}\n", directory.display()));
    assert!(refusal(root.path()).await.contains("commondir"));

    // A pipe that nobody writes to is not waited for.
    let root = repository();
    let pipe = root.path().join(".git/commondir");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(refusal(root.path()).await.contains("commondir"));

    let root = repository();
    std::fs::remove_dir_all(root.path().join(".git/objects")).unwrap();
    let objects = root.path().join(".git/objects");
    std::os::unix::fs::symlink(directory.join("objects"), objects).unwrap();
    assert!(refusal(root.path()).await.contains("symbolic links"));
}

#[tokio::test]
async fn a_work_tree_is_summarised_where_its_repository_names_it_and_nowhere_else() {
    let main = repository();
    let place = TempDir::new().unwrap();
    let tree = place.path().join("tree");
    run(main.path(), &["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    let value = call(&git(&tree), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!((&value["branch"], &value["status"]["clean"]), (&json!("side"), &json!(true)));
    // The same file in another directory says the same, but is not believed.
    let other = TempDir::new().unwrap();
    std::fs::copy(tree.join(".git"), other.path().join(".git")).unwrap();
    assert!(refusal(other.path()).await.contains("no work tree of that repository"));
}

#[tokio::test]
async fn a_git_file_may_lead_to_a_place_inside_the_project() {
    let root = repository();
    std::fs::rename(root.path().join(".git"), root.path().join("bare")).unwrap();
    write(root.path(), ".git", "gitdir: bare\n");
    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["commits"][0]["subject"], "First");
}

#[tokio::test]
async fn the_objects_and_refs_of_a_repository_are_the_projects_own() {
    let private = repository();
    let objects = private.path().join(".git/objects");
    let alternates = |root: &Path, name: &str, text: &str| {
        write(root, &format!(".git/objects/info/{name}"), text);
    };
    for name in ["alternates", "http-alternates"] {
        let root = repository();
        alternates(root.path(), name, &format!("# a comment\n{}\n", objects.display()));
        let message = refusal(root.path()).await;
        assert!(message.contains("`git clone --shared` or `--reference`"), "{message}");
        let cure = format!("`git repack -a -d && rm .git/objects/info/{name}`");
        assert!(message.contains(&cure), "{message}");
    }
    // Behind one that is inside, quoted, or behind more than is read.
    let root = repository();
    write(root.path(), "own/info/alternates", format!("{}\n", objects.display()));
    alternates(root.path(), "alternates", "../../own\n");
    assert!(refusal(root.path()).await.contains("--shared"));
    alternates(root.path(), "alternates", &format!("\"{}\"\n", objects.display()));
    assert!(refusal(root.path()).await.contains("--shared"));
    let hidden = format!("{}{}\n", "#\n".repeat(4000), objects.display());
    alternates(root.path(), "alternates", &hidden);
    assert!(refusal(root.path()).await.contains("--shared"));

    for part in ["refs/heads/main", "refs/heads", "objects/pack", "objects/info", "index"] {
        let root = repository();
        let place = root.path().join(".git").join(part);
        std::fs::rename(&place, root.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(private.path().join(".git").join(part), &place).unwrap();
        assert!(refusal(root.path()).await.contains("symbolic links"), "{part}");
    }
}

#[tokio::test]
async fn objects_may_be_borrowed_inside_the_project() {
    let root = repository();
    std::fs::create_dir_all(root.path().join("own/objects")).unwrap();
    write(root.path(), ".git/objects/info/alternates", "../../own/objects\n");
    let value = call(&git(root.path()), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!(value["commits"][0]["subject"], "First");
}

#[tokio::test]
async fn a_submodule_is_summarised_where_its_repository_names_it_and_nowhere_else() {
    let (outer, upstream) = (repository(), repository());
    let from = upstream.path().to_str().unwrap();
    run(outer.path(), &["submodule", "--quiet", "add", from, "parts/s"]);
    let inner = outer.path().join("parts/s");
    let value = call(&git(&inner), SUMMARY, json!({}), None).await.unwrap().output.to_value();
    assert_eq!((&value["branch"], &value["status"]["clean"]), (&json!("main"), &json!(true)));
    // The same file in another directory says the same, but is not believed.
    let other = outer.path().join("parts/other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(inner.join(".git"), other.join(".git")).unwrap();
    assert!(refusal(&other).await.contains("no work tree of that repository"));
    // What is kept elsewhere than a superproject keeps its submodules is no submodule.
    let config = format!("[core]\n\tworktree = {}\n", other.display());
    configure(upstream.path(), config.as_bytes());
    write(&other, ".git", format!("gitdir: {from}/.git\n"));
    assert!(refusal(&other).await.contains("no work tree of that repository"));
}
