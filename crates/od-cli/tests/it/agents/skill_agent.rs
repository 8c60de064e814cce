//! An agent that follows the skill to the letter: its commands are the skill's own lines.

use serde_json::Value;

use crate::bench::Bench;

const SKILL: &str = include_str!("../../../../../skills/live-artifact/SKILL.md");

/// Every call of the script is a line of the skill; `$(…)` around it only keeps its answer.
#[track_caller]
fn literal(script: &str) -> &str {
    for line in script.lines().filter(|line| line.contains("\"$OD_BIN\"")) {
        let call = line.trim().trim_start_matches("ANSWER=$(").trim_start_matches("if ! ");
        let call = call.split(" 2>").next().unwrap().trim_end_matches(')');
        assert!(SKILL.contains(call), "not a command of the skill: {call}");
    }
    script
}

const TAKE_ID: &str = "ID=$(printf '%s' \"$ANSWER\" | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\n";

const PROVENANCE: &str = r#"cat > provenance.json <<'END'
{
  "generatedAt": "2026-04-30T00:00:00.000Z",
  "generatedBy": "agent",
  "notes": "Numbers as the person gave them.",
  "sources": [{ "label": "The person", "type": "user_input" }]
}
END
"#;

#[track_caller]
fn last_line(output: &std::process::Output) -> Value {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    serde_json::from_str(stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn skill_a_static_report_is_made() {
    let bench = Bench::with_project();
    bench.good(&["skills", "install"]);
    let script = format!(
        r#"set -e
mkdir -p live-artifacts-src/report && cd live-artifacts-src/report
cp ../../.agents/skills/live-artifact/assets/templates/report.html template.html
cp ../../.agents/skills/live-artifact/assets/templates/report.data.json data.json
printf '%s' '{{ "title": "Quarterly report", "document": {{ "format": "html_template_v2" }} }}' > artifact.json
{PROVENANCE}
"$OD_BIN" tools live-artifacts validate --input artifact.json
"$OD_BIN" tools live-artifacts create --input artifact.json
"#
    );
    let answer = last_line(&bench.agent(literal(&script)));
    assert_eq!(answer["artifact"]["title"], "Quarterly report");
    assert_eq!(answer["artifact"]["refreshable"], false);
    let shown = bench.json(&["artifacts", "show", "quarterly-report"]);
    assert_eq!(shown["provenance"]["sources"][0]["label"], "The person");
    assert_eq!(shown["artifact"]["document"]["dataJson"]["figures"][0]["value"], 61);
}

#[test]
fn skill_a_refreshable_dashboard_follows_its_file() {
    let bench = Bench::with_project();
    bench.good(&["skills", "install", "--agent", "claude"]);
    let sample =
        include_str!("../../../../../skills/live-artifact/assets/templates/dashboard.data.json");
    bench.write("metrics.json", sample);
    let script = format!(
        r#"set -e
"$OD_BIN" tools connectors list --format compact
mkdir -p live-artifacts-src/dashboard && cd live-artifacts-src/dashboard
cp ../../.claude/skills/live-artifact/assets/templates/dashboard.html template.html
cp ../../metrics.json data.json
cat > artifact.json <<'END'
{{ "title": "Relaunch", "document": {{ "format": "html_template_v2", "sourceJson":
{{ "type": "local_file", "input": {{ "path": "metrics.json" }}, "refreshPermission": "manual_refresh_granted_for_read_only" }} }} }}
END
{PROVENANCE}
"$OD_BIN" tools live-artifacts validate --input artifact.json
ANSWER=$("$OD_BIN" tools live-artifacts create --input artifact.json)
{TAKE_ID}sed 's/"value": 42/"value": 41/' data.json > ../../metrics.json
"$OD_BIN" tools live-artifacts refresh --artifact-id "$ID"
"#
    );
    let source = r#"{ "type": "local_file", "input": { "path": "metrics.json" }, "refreshPermission": "manual_refresh_granted_for_read_only" }"#;
    assert!(SKILL.contains(source));
    let answer = last_line(&bench.agent(literal(&script)));
    assert_eq!(answer["refresh"]["changed"], true);
    assert_eq!(answer["refresh"]["changes"]["paths"][0], "/metrics/0/value");
    let shown = bench.json(&["artifacts", "show", "relaunch"]);
    assert_eq!(shown["artifact"]["document"]["dataJson"]["metrics"][0]["value"], 41);
}

/// The block of the skill that stands after the given words.
fn block_after(words: &str) -> &'static str {
    let from = SKILL.find(words).unwrap();
    let fence = SKILL[from..].find("```").unwrap() + from;
    let start = SKILL[fence..].find('\n').unwrap() + fence + 1;
    let end = SKILL[start..].find("```").unwrap() + start;
    &SKILL[start..end]
}

#[test]
fn skill_a_connector_backed_page_shows_the_repository() {
    let bench = Bench::with_project();
    let artifact = block_after("**`artifact.json`**");
    let data = block_after("**`data.json`**");
    let template = block_after("**`template.html`**");
    let provenance = block_after("**`provenance.json`**");
    let script = format!(
        r#"set -e
git init --quiet .
git -c user.name=A -c user.email=a@example.com -c commit.gpgsign=false commit --quiet --allow-empty --message "First commit"
"$OD_BIN" tools connectors list --format compact
printf '{{}}' > input.json
"$OD_BIN" tools connectors execute --connector git --tool git.summary --input input.json
mkdir -p live-artifacts-src/commits && cd live-artifacts-src/commits
cat > artifact.json <<'END'
{artifact}END
cat > provenance.json <<'END'
{provenance}END
cat > data.json <<'END'
{data}END
cat > template.html <<'END'
{template}END
"$OD_BIN" tools live-artifacts validate --input artifact.json
ANSWER=$("$OD_BIN" tools live-artifacts create --input artifact.json)
{TAKE_ID}"$OD_BIN" tools live-artifacts refresh --artifact-id "$ID"
"#
    );
    let answer = last_line(&bench.agent(literal(&script)));
    assert_eq!(answer["refresh"]["changed"], true);
    let shown = bench.json(&["artifacts", "show", "release-dashboard"]);
    let data = &shown["artifact"]["document"]["dataJson"];
    assert_eq!(data["commits"][0]["author"], "A");
    assert_eq!(data["heading"], "Latest commits");
}

#[test]
fn skill_the_three_files_at_its_head_are_accepted_without_a_remark() {
    let bench = Bench::with_project();
    let (artifact, data, template) = (
        block_after("**`artifact.json`**"),
        block_after("**`data.json`**"),
        block_after("**`template.html`**"),
    );
    let script = format!(
        r#"set -e
git init --quiet .
git -c user.name=A -c user.email=a@example.com -c commit.gpgsign=false commit --quiet --allow-empty --message "First commit"
cat > artifact.json <<'END'
{artifact}END
cat > data.json <<'END'
{data}END
cat > template.html <<'END'
{template}END
"$OD_BIN" tools live-artifacts create --input artifact.json
"#
    );
    let answer = last_line(&bench.agent(literal(&script)));
    assert_eq!(answer["warnings"].as_array().map(Vec::len).unwrap_or_default(), 0, "{answer}");
    assert_eq!(answer["artifact"]["refreshable"], true);
}

#[test]
fn skill_a_broken_template_is_mended_in_one_retry_from_the_fixes() {
    let bench = Bench::with_project();
    let script = format!(
        r#"printf '%s' '{{ "title": "Mended", "document": {{ "format": "html_template_v1" }} }}' > artifact.json
printf '%s' '{{ "title": "Hello" }}' > data.json
{PROVENANCE}
printf '%s' '<!doctype html><title>t</title><main><p onclick="x()">{{{{title}}}}</p></main>' > template.html
if ! "$OD_BIN" tools live-artifacts create --input artifact.json 2> fault.json; then
  # What the fix says, and nothing else: the line as it should be.
  sed 's/.*line 1: write `\([^`]*\)`.*/\1/' fault.json > template.html
  "$OD_BIN" tools live-artifacts create --input artifact.json
fi
"#
    );
    let answer = last_line(&bench.agent(literal(&script)));
    assert_eq!(answer["artifact"]["title"], "Mended");
    let fault = std::fs::read_to_string(bench.project().join("fault.json")).unwrap();
    let fault: Value = serde_json::from_str(&fault).unwrap();
    assert_eq!(fault["error"]["code"], "LIVE_ARTIFACT_INVALID");
    assert_eq!(fault["error"]["details"]["issues"].as_array().unwrap().len(), 1);
}

#[test]
fn skill_a_page_gets_a_new_look_and_keeps_its_data() {
    let bench = Bench::with_project();
    let script = format!(
        r#"set -e
mkdir -p first second
printf '%s' '{{ "title": "Numbers", "document": {{ "format": "html_template_v1" }} }}' > first/artifact.json
printf '%s' '{{ "n": 7 }}' > first/data.json
cd first
ANSWER=$("$OD_BIN" tools live-artifacts create --input artifact.json)
{TAKE_ID}"$OD_BIN" tools live-artifacts list --format compact
cd ../second
printf '%s' '{{ "title": "Better numbers" }}' > artifact.json
printf '%s' '<!doctype html><title>t</title><main><p class="new">{{{{data.n}}}}</p></main>' > template.html
"$OD_BIN" tools live-artifacts validate --artifact-id "$ID" --input artifact.json
"$OD_BIN" tools live-artifacts update --artifact-id "$ID" --input artifact.json
"#
    );
    let answer = last_line(&bench.agent(literal(&script)));
    assert_eq!(
        (&answer["artifact"]["revision"], &answer["artifact"]["title"]),
        (&2.into(), &"Better numbers".into())
    );
    let shown = bench.json(&["artifacts", "show", "numbers"]);
    assert_eq!(shown["artifact"]["document"]["dataJson"]["n"], 7);
}

#[test]
fn skill_the_commands_exit_code_is_the_runs_and_its_token_is_dead_afterwards() {
    let bench = Bench::with_project();
    let output = bench.agent("printf '%s' \"$OD_TOOL_TOKEN\" > token; exit 7\n");
    assert_eq!(output.status.code(), Some(7));
    let token = std::fs::read_to_string(bench.project().join("token")).unwrap();
    let (url, _) = bench.daemon().unwrap();
    let late = bench
        .command(&["tools", "live-artifacts", "list"])
        .env("OD_TOOL_TOKEN", token)
        .env("OD_DAEMON_URL", url)
        .env("OD_DATA_DIR", bench.data())
        .output()
        .unwrap();
    assert_eq!(late.status.code(), Some(4), "{}", String::from_utf8_lossy(&late.stderr));
}
