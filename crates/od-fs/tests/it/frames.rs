//! Frames in `pending/` that a crash left: which are believed, and what they bring back.

use std::fs;

use od_ports::contract::sample;
use od_ports::store::{ArtifactStore as _, RevisionStore as _, StoreMaintenance as _};

use crate::restart::{World, update};

/// Commits, and leaves the disk as a loss of power right behind the rename of the pointer does: the frame
/// and the pointer are new, everything else is as before. Returns the pointer of before.
async fn commit_and_lose_power(world: &World, title: &str) -> Vec<u8> {
    let dir = world.dir(1);
    let mut before = Vec::new();
    for entry in fs::read_dir(&dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            before.push((path.clone(), fs::read(&path).expect("a file")));
        }
    }
    let store = world.inline();
    update(&store, &world.project, &sample::id(1), title).await;
    world.kill(store).await;
    for name in world.frames(1) {
        let plain = name.split('@').next().expect("a revision");
        fs::rename(dir.join("pending").join(&name), dir.join("pending").join(plain))
            .expect("a rename");
    }
    let pointer = dir.join("artifact.json");
    let mut replaced = Vec::new();
    for (path, bytes) in before {
        if path == pointer {
            replaced = bytes;
        } else {
            fs::write(&path, bytes).expect("a write");
        }
    }
    replaced
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
    let before = commit_and_lose_power(&world, "never committed").await;
    // The rename of the pointer was lost, too; that of the frame was not.
    fs::write(world.dir(1).join("artifact.json"), before).expect("a write");
    assert_eq!(world.frames(1), ["3"]);

    let store = world.inline();
    assert!(store.recover().await.expect("a recovery").is_empty());
    assert_eq!(world.frames(1), Vec::<String>::new());
    assert_eq!(title(&world).await, "second");
    update(&store, project, id, "third").await;
    drop(store);
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
    commit_and_lose_power(&world, "second").await;
    let path = world.dir(1).join("pending/2");
    let frame = fs::read(&path).expect("a frame");
    fs::write(&path, forged(&frame, &good)).expect("a write");

    for when in ["before a recovery", "after it"] {
        let store = world.inline();
        let stored = store.load(project, id).await.expect("it loads");
        let shown = stored.state.as_ref().map(|state| state.template_html.as_bytes().to_vec());
        assert!(shown.is_none_or(|shown| shown == good), "{when}");
        assert!(store.recover().await.expect("a recovery").is_empty(), "{when}");
        assert_eq!(fs::read(&template).expect("a template"), good, "{when}");
    }
}
