//! Frames in `pending/` that a crash left: which are believed, and what they bring back.

use std::fs;

use od_fs::FileArtifactStore;
use od_ports::contract::sample;
use od_ports::store::{ArtifactStore as _, RevisionStore as _, StoreMaintenance as _};

use crate::restart::{World, update};

/// Ends the process right after a commit, before its visible copies are written.
fn kill_at_once(store: FileArtifactStore) {
    std::mem::forget(store);
}

async fn title(world: &World) -> String {
    let stored = world.inline().load(&world.project, &sample::id(1)).await.expect("it loads");
    assert!(stored.health.is_healthy(), "{:?}", stored.health);
    stored.summary.heading.title.clone()
}

#[tokio::test]
async fn a_frame_whose_pointer_never_got_there_is_gone_before_the_next_commit() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    update(&world.inline(), project, id, "second").await;
    let pointer = world.dir(1).join("artifact.json");
    let before = fs::read(&pointer).expect("a pointer");
    let store = world.inline();
    update(&store, project, id, "never committed").await;
    kill_at_once(store);
    // The rename of the pointer was lost with the power; that of the frame was not.
    fs::write(&pointer, before).expect("a write");
    assert!(world.frames(1).contains(&"3".to_owned()), "{:?}", world.frames(1));

    let store = world.inline();
    assert!(store.recover().await.expect("a recovery").is_empty());
    assert!(!world.frames(1).iter().any(|name| name.starts_with('3')), "{:?}", world.frames(1));
    assert_eq!(title(&world).await, "second");
    update(&store, project, id, "third").await;
    kill_at_once(store);
    assert_eq!(title(&world).await, "third");
}

#[tokio::test]
async fn records_of_several_commits_that_a_log_lost_come_back_in_their_order() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    let log = world.dir(1).join("refreshes.jsonl");
    // Waits until everything of the first commit is on the disk.
    drop(world.inline());
    let store = world.inline();
    let _ = store.list(project).await.expect("a list");
    let short = fs::read(&log).expect("a log");
    for title in ["second", "third", "fourth"] {
        update(&store, project, id, title).await;
    }
    world.kill(store).await;
    let whole = fs::read(&log).expect("a log");
    assert!(whole.len() > short.len());
    // The machine restarts; of the log it kept what was synced.
    world.restart_machine(1);
    fs::write(&log, &short).expect("a write");

    let store = world.inline();
    assert!(store.recover().await.expect("a recovery").is_empty());
    assert_eq!(fs::read(&log).expect("a log"), whole);
    let timeline = store.timeline(project, id).await.expect("a timeline");
    let revisions: Vec<u64> = timeline.commits.iter().map(|commit| commit.revision.get()).collect();
    assert_eq!((revisions.as_slice(), timeline.broken), (&[4, 3, 2, 1][..], None));
    assert_eq!(title(&world).await, "fourth");
}

/// Puts other bytes of the same length for a text in a frame, and makes its checksum fit.
fn forged(frame: &[u8], text: &[u8]) -> Vec<u8> {
    let body = &frame[..frame.len() - 32];
    let at = body.windows(text.len()).rposition(|window| window == text).expect("it is there");
    let mut body = body.to_vec();
    body[at..at + text.len()].fill(b'!');
    let checksum = ring::digest::digest(&ring::digest::SHA256, &body);
    [body.as_slice(), checksum.as_ref()].concat()
}

#[tokio::test]
async fn a_frame_that_holds_another_file_than_its_pointer_names_is_not_believed() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    drop(world.inline());
    let _ = world.inline().list(project).await.expect("a list");
    let template = world.dir(1).join("template.html");
    let good = fs::read(&template).expect("a template");
    let store = world.inline();
    update(&store, project, id, "second").await;
    kill_at_once(store);
    let path = world.dir(1).join("pending/2");
    let frame = fs::read(&path).expect("a frame");
    fs::write(&path, forged(&frame, &good)).expect("a write");

    let store = world.inline();
    let stored = store.load(project, id).await.expect("it loads");
    let state = stored.state.as_ref().expect("a state");
    assert_eq!(state.template_html.as_bytes(), good, "read past it");
    assert!(store.recover().await.expect("a recovery").is_empty());
    assert_eq!(fs::read(&template).expect("a template"), good, "and not written from it");
    assert_eq!(title(&world).await, "second");
    update(&store, project, id, "third").await;
}
