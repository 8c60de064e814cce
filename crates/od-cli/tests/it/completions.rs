//! The completions, loaded by the shells that they are for.

use std::process::Command;

use crate::bench::Bench;

/// Runs a script in a shell of this machine; `None` if it has none.
fn in_shell(bench: &Bench, shell: &str, script: &str) -> Option<Vec<String>> {
    let completions = bench.good(&["completions", shell]);
    bench.write(&format!("od.{shell}"), &completions);
    let run = Command::new(shell)
        .args(["-c", script])
        .current_dir(bench.project())
        .env("HOME", bench.root().join("user"))
        .output();
    let Ok(output) = run else {
        #[expect(clippy::print_stderr, reason = "a test that could not look says so")]
        {
            eprintln!("skipped: there is no {shell} here");
        }
        return None;
    };
    assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split_whitespace().map(str::to_owned).collect())
}

fn bash(bench: &Bench, words: &str, at: usize) -> Vec<String> {
    let script = format!(
        ". ./od.bash; COMP_WORDS=({words}); COMP_CWORD={at}; _od; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    in_shell(bench, "bash", &script).unwrap_or_else(|| vec!["no bash".to_owned()])
}

#[test]
fn bash_completes_verbs_flags_and_values() {
    let bench = Bench::new();
    if bash(&bench, "od vers", 1) == ["no bash"] {
        return;
    }
    assert_eq!(bash(&bench, "od vers", 1), ["version"]);
    assert_eq!(bash(&bench, "od artifacts re", 2), ["refresh", "revisions", "repair", "restore"]);
    assert_eq!(bash(&bench, "od tools live-artifacts cr", 3), ["create"]);
    assert_eq!(bash(&bench, "od artifacts repair --d", 3), ["--dry-run", "--data-dir"]);
    assert_eq!(bash(&bench, "od tools live-artifacts list --format js", 5), ["json"]);
    assert_eq!(bash(&bench, "od completions f", 2), ["fish"]);
    assert_eq!(bash(&bench, "od skills install --agent ''", 4), ["agents", "claude", "all"]);
    assert_eq!(
        bash(&bench, "od mcp config --agent c", 4),
        ["claude", "claude-desktop", "codex", "copilot", "cursor"]
    );
    std::fs::create_dir(bench.project().join("folder")).unwrap();
    bench.write("file.txt", "");
    assert_eq!(bash(&bench, "od serve --data-dir fo", 3), ["folder"]);
    assert_eq!(bash(&bench, "od init f", 2), ["folder"]);
    assert_eq!(bash(&bench, "od serve --log fi", 3), ["file.txt"]);
    assert_eq!(bash(&bench, "od serve --port f", 3), [""; 0], "a port is no file");
    // A word that is nothing of ours is a file.
    bench.write("artifact.json", "{}");
    assert_eq!(bash(&bench, "od tools live-artifacts create --input art", 5), ["artifact.json"]);
}

#[test]
fn fish_completes_verbs_and_flags() {
    let bench = Bench::new();
    let asked = |line: &str| {
        in_shell(
            &bench,
            "fish",
            &format!("source od.fish; complete --do-complete '{line}' | cut -f1"),
        )
    };
    let Some(verbs) = asked("od artifacts re") else { return };
    assert_eq!(verbs, ["refresh", "repair", "restore", "revisions"]);
    assert_eq!(asked("od ver").unwrap(), ["version"]);
    let flags = asked("od artifacts repair --d").unwrap();
    assert!(flags.contains(&"--dry-run".to_owned()), "{flags:?}");
}

#[test]
fn zsh_offers_the_words_that_may_follow() {
    let bench = Bench::new();
    // The widgets of an interactive shell are left out: what they would be given is printed.
    let asked = |words: &str, current: usize| {
        let script = format!(
            "compdef() {{ :; }}; _files() {{ :; }}; _describe() {{ print -rl -- ${{(P)2}}; }}; \
             . ./od.zsh; words=({words}); CURRENT={current}; _od | cut -d: -f1"
        );
        in_shell(&bench, "zsh", &script)
    };
    let Some(verbs) = asked("od artifacts ''", 3) else { return };
    assert!(verbs.starts_with(&["list".to_owned(), "show".to_owned()]), "{verbs:?}");
    let flags = asked("od artifacts repair ''", 4).unwrap();
    assert!(flags.contains(&"--dry-run".to_owned()), "{flags:?}");
    assert!(asked("od ''", 2).unwrap().contains(&"version".to_owned()));
}
