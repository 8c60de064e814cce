//! Tokens and stored text: what must not come out.

use std::process::Command;

use crate::bench::Bench;

#[test]
fn the_token_is_in_no_argument_output_or_file() {
    let bench = Bench::with_project();
    let script = r#"
printf '%s' "$OD_TOOL_TOKEN" > "$OD_HOME/../token"
"$OD_BIN" tools live-artifacts list --format json
"$OD_BIN" tools live-artifacts create --input missing.json
"$OD_BIN" doctor
for file in /proc/[0-9]*/cmdline; do tr '\0' ' ' < "$file"; echo; done 2> /dev/null > "$OD_HOME/../arguments"
"#;
    let output = bench.agent(script);
    let token = std::fs::read_to_string(bench.root().join("token")).unwrap();
    assert!(token.starts_with("odt."), "{token}");
    let arguments = std::fs::read_to_string(bench.root().join("arguments")).unwrap();
    assert!(arguments.contains("agent.sh"), "the process list was not read");
    assert!(!arguments.contains(&token));
    assert!(!String::from_utf8_lossy(&output.stdout).contains(&token));
    assert!(!String::from_utf8_lossy(&output.stderr).contains(&token));
    std::fs::remove_file(bench.root().join("token")).unwrap();
    let found = Command::new("grep").args(["-rl", &token]).arg(bench.root()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn no_escape_byte_of_stored_text_reaches_a_terminal() {
    let bench = Bench::with_project();
    let script = r#"
printf '%s' '{ "title": "Plain", "document": { "format": "html_template_v1" } }' > artifact.json
printf '%s' '{ "text": "a\u001b]0;owned\u0007\u009b31m\u202e" }' > data.json
printf '%s' '<!doctype html><title>t</title><main><p>{{data.text}}</p></main>' > template.html
"$OD_BIN" tools live-artifacts create --input artifact.json
"#;
    let output = bench.agent(script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for verb in ["list", "show plain", "show plain --json", "history plain"] {
        let shown = bench.command_at_terminal(&["artifacts", verb]).output().unwrap();
        assert!(shown.status.success(), "{verb}: {shown:?}");
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(!shown.is_empty(), "{verb}");
        for bad in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{202e}"] {
            assert!(!shown.contains(bad), "{verb}: {shown:?}");
        }
    }
    assert!(
        bench.good(&["artifacts", "show", "plain"]).contains("\\u{1b}]0;owned")
            || bench.good(&["artifacts", "show", "plain"]).contains("\\u001b]0;owned")
    );
}

#[test]
fn colour_only_on_a_terminal_and_never_against_no_color() {
    let bench = Bench::new();
    let on_terminal = |no_color: bool| {
        let mut command = bench.command_at_terminal(&["help"]);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(on_terminal(false).contains('\u{1b}'));
    assert!(!on_terminal(true).contains('\u{1b}'));
    assert!(!bench.good(&["help"]).contains('\u{1b}'));
}
