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

#[test]
fn a_connection_string_is_in_no_argument_output_or_plain_file() {
    use std::io::Write as _;
    let bench = Bench::with_project();
    let password = ["pw-canary", "-0123456789"].concat();
    let add = |text: &str| {
        let mut command = bench.command(&["sources", "add", "postgres", "shop"]);
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let told = |output: &std::process::Output| {
        [output.stdout.as_slice(), output.stderr.as_slice()].concat()
    };
    let refused = add(&format!("host=localhost password={password}"));
    assert_eq!(refused.status.code(), Some(2));
    // Nothing listens there: it is registered, and the test says so.
    let added = add(&format!("postgresql://reader:{password}@127.0.0.1:1/shop\n"));
    assert!(added.status.success(), "{added:?}");
    let tested = bench.od(&["sources", "test", "shop"]);
    assert!(!tested.status.success());
    for output in [&refused, &added, &tested] {
        let text = String::from_utf8(told(output)).unwrap();
        assert!(!text.contains(&password), "{text}");
    }
    let listed = bench.good(&["sources", "list"]);
    assert!(listed.contains("postgresql://127.0.0.1:1/shop?sslmode=disable"), "{listed}");
    let found = Command::new("grep").args(["-rl", &password]).arg(bench.root()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    bench.good(&["sources", "remove", "shop"]);
}

#[test]
fn what_an_agent_asks_for_is_listed_and_not_registered() {
    let bench = Bench::with_project();
    let script = r#"
printf '%s' '{ "source": "billing", "sql": "SELECT 1" }' > input.json
"$OD_BIN" tools connectors execute --connector postgres --tool query --input input.json
"#;
    let refused = bench.agent(script);
    assert!(!refused.status.success());
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("od sources add postgres billing"), "{refused}");
    let listed = bench.json(&["sources", "list"]);
    assert_eq!(listed["services"], serde_json::json!([]));
    assert_eq!(listed["requests"][0]["name"], "billing");
    assert_eq!(listed["requests"][0]["kind"], "postgres");
    assert!(bench.good(&["sources", "list"]).contains("od sources add postgres billing"));
}
