//! Agents that do as they should not.

use std::io::BufRead as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use od_core::agent::{AgentSession, Content, Entry, SessionStatus};
use od_core::limits::AGENT_PENDING;

use crate::world::{World, open_question, path_with, problems, program, runs, said, started};

#[tokio::test(flavor = "multi_thread")]
async fn noise_an_endless_line_and_unknown_methods_do_no_harm() {
    let world = World::start().await;
    let before = resident();
    let session =
        world.open("noise\nline 64\nunknown\ncalls 500\nflood 2000\nnoise\nsay end").await;
    let shown = world.until_status(&session, SessionStatus::Idle).await;
    assert!(said(&shown).ends_with("end"), "{}", said(&shown).len());
    assert!(said(&shown).contains("1999 "), "words were lost");
    assert!(said(&shown).starts_with("read: "), "the method was not answered");
    let grown = resident().saturating_sub(before);
    println!("resident memory grew by {} KiB", grown / 1024);
    assert!(grown < 32 << 20, "{grown} bytes");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_never_ends_is_ended() {
    let world = World::start().await;
    world.mode("stuck");
    let session = world.open("fork\nhang").await;
    let shown = world.until(&session, |shown| started(&said(shown)).len() == 2).await;
    let pids = started(&said(&shown));
    let closed =
        od_app::agent_sessions::close(world.app(), &od_app::Caller::Person, session.clone());
    closed.await.unwrap();
    world.until_status(&session, SessionStatus::Closed).await;
    assert!(!pids.iter().any(|pid| runs(*pid)), "one is left: {pids:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_told_with_the_agents_last_words_and_leaves_nothing() {
    let world = World::start().await;
    let session = world.open("fork\nsay before\npause 50\ncrash").await;
    let shown = world.until_status(&session, SessionStatus::Interrupted).await;
    assert!(problems(&shown)[0].contains("out of memory"), "{:?}", problems(&shown));
    let pids = started(&said(&shown));
    assert!(pids.len() == 2 && !pids.iter().any(|pid| runs(*pid)), "one is left: {pids:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_agent_can_be_closed_while_it_starts() {
    let world = World::start().await;
    world.mode("silent");
    let session = world.open("say x").await;
    let closed =
        od_app::agent_sessions::close(world.app(), &od_app::Caller::Person, session.clone());
    closed.await.unwrap();
    world.until_status(&session, SessionStatus::Closed).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_questions_than_a_person_is_asked_at_once_are_answered_no() {
    let world = World::start().await;
    let session = world.open("asks 200\nsay asked\nhang").await;
    let shown = world.until(&session, |shown| said(shown).contains("asked")).await;
    let is_question = |entry: &&Entry| matches!(entry.content, Content::Permission(_));
    let asked = shown.entries.iter().filter(is_question).count();
    // All of them have the same id: each is a question of its own all the same.
    assert_eq!(asked, AGENT_PENDING.max());
    let first = open_question(&shown).unwrap();
    world.answer(&session, first, "no").await.unwrap();
    let next = open_question(&world.shown(&session).await).unwrap();
    assert_ne!(first, next, "an answer closes the one it was given to");
    world.cancel(&session).await;
    let shown = world.until_status(&session, SessionStatus::Stopped).await;
    assert_eq!(open_question(&shown), None, "a question outlived its agent");
    world.end().await;
}

/// The daemon cannot say goodbye: the supervisor sees that it is gone, and the next daemon goes on.
#[tokio::test(flavor = "multi_thread")]
async fn killing_the_daemon_leaves_no_agent_and_a_session_that_goes_on() {
    let dirs = tempfile::tempdir().unwrap();
    for folder in ["agents-home", "root"] {
        std::fs::create_dir_all(dirs.path().join(folder)).unwrap();
    }
    let path =
        std::env::join_paths([path_with(&dirs, &["gemini"]), "/usr/bin".into(), "/bin".into()]);
    let mode = dirs.path().join("agents-home/mode");
    std::fs::write(&mode, "stuck").unwrap();
    let mut daemon = Command::new(program())
        .arg("daemon")
        .arg(path.unwrap())
        .arg(dirs.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pids = started(&line);
    assert_eq!(pids.len(), 2, "{line}");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let since = Instant::now();
    while pids.iter().any(|pid| runs(*pid)) {
        assert!(since.elapsed() < Duration::from_secs(30), "one is left: {pids:?}");
        std::thread::yield_now();
    }
    println!("the last process was gone after {:?}", since.elapsed());
    std::fs::write(&mode, "").unwrap();
    let world = World::start_in(Arc::new(dirs), false).await;
    let project = Some(world.project.clone());
    let listed = od_app::agent_sessions::list(world.app(), &od_app::Caller::Person, project).await;
    let [session] = <[AgentSession; 1]>::try_from(listed.unwrap()).unwrap();
    assert_eq!(session.status, SessionStatus::Interrupted);
    let run = world.app().ports.runs.get(&session.run_id.unwrap()).await.unwrap().unwrap();
    assert!(!run.is_live(session.updated_at), "its token still opens something");
    world.prompt(&session.id, "say again").await;
    let shown = world.until_status(&session.id, SessionStatus::Idle).await;
    assert!(said(&shown).contains("kept") && said(&shown).ends_with("again"), "{shown:#?}");
    world.end().await;
}

/// Returns this process's resident memory.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
