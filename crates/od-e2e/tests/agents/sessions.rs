//! What a person gets from a session.

use od_core::agent::{Answerer, Content, SessionStatus, ToolStatus, TurnOutcome};

use crate::world::{World, open_question, problems, runs, said, started};

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_answered_and_what_was_made_is_named() {
    let world = World::start().await;
    let session =
        world.open("think hm\nplan Make it\nsay Hello, \nmake Visits\nusage\nsay done").await;
    let shown = world.until_status(&session, SessionStatus::Idle).await;
    assert!(said(&shown).ends_with("done"), "{shown:#?}");
    assert_eq!(shown.session.made.len(), 1, "{:#?}", shown.entries);
    assert_eq!(shown.session.made[0].title, "Visits");
    let usage = shown.session.usage.clone().unwrap();
    assert_eq!((usage.context_used, usage.cost.as_deref()), (Some(1200), Some("0.25 USD")));
    let calls: Vec<_> = shown
        .entries
        .iter()
        .filter_map(|entry| match &entry.content {
            Content::Tool(call) => Some((call.title.as_str(), call.status)),
            Content::Text(_)
            | Content::Plan(_)
            | Content::Permission(_)
            | Content::Problem(_)
            | Content::TurnEnd(_) => None,
        })
        .collect();
    assert_eq!(calls, [("od_live_artifacts_create", ToolStatus::Completed)]);
    // The token is in no answer and in no file.
    let run = shown.session.run_id.clone().unwrap();
    let files = std::process::Command::new("grep")
        .args(["-rl", "odt\\.v1\\."])
        .arg(world.dirs.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&files.stdout), "");
    assert!(world.app().ports.runs.get(&run).await.unwrap().is_some());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_makes_arguments_of_what_it_is_told_is_not_told_the_token() {
    let world = World::start().await;
    for (agent, told) in [
        ("claude", "told Bearer ${OD_CHAT_TOKEN}, variable true"),
        ("gemini", "told a token, variable false"),
    ] {
        let session = world.open_with(agent, "door\nmake Visits").await;
        let shown = world.until_status(&session, SessionStatus::Idle).await;
        assert!(said(&shown).contains(told), "{agent}: {}", said(&shown));
        assert_eq!(shown.session.made.len(), 1, "{agent}: {:#?}", shown.entries);
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_waits_for_its_own_answer_and_takes_one() {
    let world = World::start().await;
    let session = world.open("ask rm -rf build\nsay after").await;
    let shown = world.until(&session, |shown| open_question(shown).is_some()).await;
    let question = open_question(&shown).unwrap();
    let other = world.open("ask other").await;
    world.until(&other, |shown| open_question(shown).is_some()).await;
    // Of another session, a choice that is not offered, then the answer, then a second one.
    let stranger = world.answer(&other, 99, "once").await;
    assert!(stranger.is_err(), "{stranger:?}");
    assert!(world.answer(&session, question, "whatever").await.is_err());
    world.answer(&session, question, "no").await.unwrap();
    assert!(world.answer(&session, question, "once").await.is_err());
    let shown = world.until_status(&session, SessionStatus::Idle).await;
    assert!(said(&shown).contains("answer: no"), "{}", said(&shown));
    assert!(open_question(&world.shown(&other).await).is_some(), "the other still waits");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_is_said_once_every_program_of_the_agent_is_gone_and_the_next_prompt_goes_on() {
    let world = World::start().await;
    let session = world.open("say one \nfork\nask something\nhang").await;
    let shown = world.until(&session, |shown| open_question(shown).is_some()).await;
    let pids = started(&said(&shown));
    assert_eq!(pids.len(), 2, "{}", said(&shown));
    assert!(pids.iter().all(|pid| runs(*pid)), "they run");
    world.cancel(&session).await;
    let shown = world.until_status(&session, SessionStatus::Stopped).await;
    assert!(!pids.iter().any(|pid| runs(*pid)), "one is left: {pids:?}");
    let last = shown.entries.last().map(|entry| &entry.content);
    assert!(
        matches!(last, Some(Content::TurnEnd(end)) if end.outcome == TurnOutcome::Cancelled),
        "{last:?}"
    );
    let by_nobody = shown.entries.iter().any(|entry| {
        matches!(&entry.content, Content::Permission(asked)
            if asked.answer.as_ref().is_some_and(|answer| answer.by == Answerer::Nobody))
    });
    assert!(by_nobody, "{shown:#?}");
    // Its run is over; the next one is another.
    let run = shown.session.run_id.clone().unwrap();
    assert!(
        !world.app().ports.runs.get(&run).await.unwrap().unwrap().is_live(shown.session.updated_at)
    );
    world.prompt(&session, "say two").await;
    let shown = world.until_status(&session, SessionStatus::Idle).await;
    assert!(said(&shown).ends_with("two"), "{}", said(&shown));
    assert!(!said(&shown).contains("told again"), "a replay was shown");
    assert_ne!(shown.session.run_id, Some(run));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_stops_leaves_no_agent_and_the_next_one_has_the_stream() {
    let world = World::start().await;
    let session = world.open("say kept \nfork\nhang").await;
    let shown = world.until(&session, |shown| started(&said(shown)).len() == 2).await;
    let pids = started(&said(&shown));
    let dirs = world.dirs.clone();
    world.end().await;
    assert!(!pids.iter().any(|pid| runs(*pid)), "one is left: {pids:?}");
    let world = World::start_in(dirs, false).await;
    let shown = world.shown(&session).await;
    assert!(said(&shown).contains("kept"), "{shown:#?}");
    world.prompt(&session, "say again").await;
    let shown = world.until_status(&session, SessionStatus::Idle).await;
    assert!(said(&shown).ends_with("again"), "{}", said(&shown));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_an_agent_from_starting_is_said_with_what_to_do() {
    let world = World::start().await;
    for (mode, want) in [
        ("signed-out", "not signed in to Gemini CLI run `gemini`"),
        ("no-http", "takes no tool server over HTTP"),
        ("future", "speaks version 2"),
        ("broken", "cannot find its configuration"),
    ] {
        world.mode(mode);
        let session = world.open("say x").await;
        let shown = world.until_status(&session, SessionStatus::Failed).await;
        let told = problems(&shown).join("\n");
        assert!(told.contains(want), "{mode}: {told}");
    }
    let session = world.open_with("codex", "say x").await;
    let shown = world.until_status(&session, SessionStatus::Failed).await;
    assert!(problems(&shown)[0].contains("npm install"), "{:?}", problems(&shown));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_listed_with_the_line_that_installs_it() {
    let world = World::start().await;
    let listed = od_app::agent_sessions::agents(world.app()).await;
    let gemini = listed.iter().find(|agent| agent.id.as_str() == "gemini").unwrap();
    assert!(gemini.program.is_some());
    let codex = listed.iter().find(|agent| agent.id.as_str() == "codex").unwrap();
    assert_eq!(codex.program, None);
    assert!(codex.install.starts_with("npm install"));
    world.end().await;
}
