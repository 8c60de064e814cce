//! What real agents send, as a person sees it: one message of each shape that was recorded of them.

use std::fmt::Write as _;
use std::path::Path;

use od_app::agent_sessions::OpenedSession;
use od_core::agent::{Content, Permission, SessionStatus, ToolCall};

use crate::world::{World, open_question, problems};

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_claude_code_sends_is_shown() {
    check("claude").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_codex_sends_is_shown() {
    check("codex").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_gemini_sends_is_shown() {
    check("gemini").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_opencode_sends_is_shown() {
    check("opencode").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_qwen_sends_is_shown() {
    check("qwen").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_copilot_sends_is_shown() {
    check("copilot").await;
}

/// Plays an agent's messages to a session, says yes once to whatever is asked, and compares what is shown
/// with `fixtures/agents/<name>.shown`.
async fn check(agent: &str) {
    let world = World::start().await;
    if agent == "codex" {
        world.install("codex-acp");
    }
    world.mode(&format!("as {agent}"));
    let session = world.open_with(agent, "replay").await;
    let shown = loop {
        let is_due = |shown: &OpenedSession| {
            open_question(shown).is_some() || shown.session.status != SessionStatus::Working
        };
        let starts = |shown: &OpenedSession| shown.session.status == SessionStatus::Starting;
        let shown = world.until(&session, |shown| !starts(shown) && is_due(shown)).await;
        let Some(question) = open_question(&shown) else { break shown };
        let choice = first_yes(&shown, question);
        world.answer(&session, question, &choice).await.unwrap();
    };
    assert_eq!(shown.session.status, SessionStatus::Idle, "{:?}", problems(&shown));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents");
    let want = std::fs::read_to_string(path.join(format!("{agent}.shown"))).unwrap_or_default();
    let got = told(&shown);
    assert!(got == want, "{agent}: shown is\n{got}\nwanted was\n{want}");
    world.end().await;
}

fn first_yes(shown: &OpenedSession, question: u32) -> String {
    let asked = shown.entries.iter().find(|entry| entry.number == question);
    match asked.map(|entry| &entry.content) {
        Some(Content::Permission(Permission { choices, .. })) => {
            let yes = choices.iter().find(|choice| choice.kind.as_str() == "allow_once");
            yes.unwrap_or_else(|| panic!("no yes in {choices:?}")).id.clone()
        }
        other => panic!("{other:?}"),
    }
}

/// Writes a session as lines: what a person can read in it.
fn told(shown: &OpenedSession) -> String {
    let mut lines = format!("title: {}\n", shown.session.title);
    if let Some(usage) = &shown.session.usage {
        let (used, size) = (usage.context_used, usage.context_size);
        let _ = writeln!(lines, "usage: {used:?} of {size:?}, {:?}", usage.cost);
    }
    for entry in &shown.entries {
        let line = match &entry.content {
            Content::Text(text) => format!("{}: {}", text.speaker, clipped(&text.text)),
            Content::Tool(call) => format!("call {}", call_line(call)),
            Content::Permission(asked) => {
                let names: Vec<&str> = asked.choices.iter().map(|it| it.name.as_str()).collect();
                let answer = asked.answer.as_ref().and_then(|answer| answer.choice.as_ref());
                let answer = answer.map(|choice| choice.id.as_str()).unwrap_or_default();
                format!("asks {}\n  offers {names:?}, took {answer}", call_line(&asked.call))
            }
            Content::Plan(plan) => format!("plan of {} steps", plan.steps.len()),
            Content::Problem(problem) => format!("problem: {}", problem.message),
            Content::TurnEnd(end) => format!("end: {}", end.outcome),
        };
        let _ = writeln!(lines, "{line}");
    }
    lines
}

fn call_line(call: &ToolCall) -> String {
    let ToolCall { title, tool, call_kind, status, input, result, .. } = call;
    let part = |text: &Option<String>| text.as_deref().map(clipped).unwrap_or_default();
    format!(
        "{} ({status}, {}, tool {})\n  in  {}\n  out {}",
        clipped(title),
        part(call_kind),
        part(tool),
        part(input),
        part(result)
    )
}

/// The first words of a text, on one line.
fn clipped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(100).collect()
}
