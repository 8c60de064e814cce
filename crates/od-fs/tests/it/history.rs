//! The audit log over a long life: it is rotated, and no refresh is lost over that.

use std::fs;
use std::sync::Arc;

use od_core::ids::{ProjectId, RefreshId, Timestamp};
use od_core::ledger::{Actor, CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_fs::{FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::store::{ArtifactStore as _, Change, History, RefreshLog as _};

use crate::contract::{place_copies, project};

fn record(number: u64, step: RecordStep, status: RecordStatus) -> RefreshRecord {
    RefreshRecord::new(RefreshId::from_number(number), step, status, sample::now())
}

/// A log of one finished refresh that is as long as a log gets before it is rotated.
fn long_log() -> Vec<u8> {
    let first = record(1, RecordStep::Started, RecordStatus::Running);
    let mut last = record(1, RecordStep::Failed, RecordStatus::Failed);
    last.extra.insert("padding".to_owned(), "x".repeat(1024 * 1024).into());
    last.prev = Some(first.digest());
    [first.to_line(), last.to_line()].map(|line| [line, b"\n".to_vec()].concat()).concat()
}

async fn finish(store: &FileArtifactStore, project: &ProjectId) -> RefreshId {
    let id = sample::id(1);
    let running = store
        .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    for (step, status) in [
        (RecordStep::Source, RecordStatus::Succeeded),
        (RecordStep::Committed, RecordStatus::Succeeded),
    ] {
        let record = record(running.id.number(), step, status);
        store.append_record(project, &id, record).await.expect("the refresh is still open");
    }
    running.id
}

#[tokio::test]
async fn a_refresh_during_which_the_log_is_full_ends_as_any_other() {
    let home = tempfile::tempdir().expect("a directory");
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store");
    store
        .create(sample::new(&project, &sample::id(1), "long"), sample::note(CommitKind::Create))
        .await
        .expect("a create works");
    place_copies(&store, &project).await;
    let artifact = home.path().join("projects/p1/.live-artifacts").join(sample::id(1).as_str());
    fs::write(artifact.join("refreshes.jsonl"), long_log()).expect("a log");

    let second = finish(&store, &project).await;
    assert_eq!(second.number(), 2);
    assert!(artifact.join("refreshes.1.jsonl").exists(), "the log was rotated");
    let third = finish(&store, &project).await;
    assert_eq!(third.number(), 3, "ids go on after a rotation");
    let history = store.history(&project, &sample::id(1)).await.expect("a history");
    assert_eq!(history.broken, None, "and so does the chain");
    let ids: Vec<u64> = history.records.iter().map(|record| record.refresh_id.number()).collect();
    assert_eq!(ids, [3, 3, 3, 2, 2, 2, 1, 1]);
    let unfinished = store.unfinished_refreshes().await.expect("a look");
    assert_eq!(unfinished, []);
}

#[tokio::test]
async fn a_record_written_or_changed_by_someone_else_is_seen_at_once() {
    let home = tempfile::tempdir().expect("a directory");
    let (data_dir, project) = project(home.path()).await;
    let clock = Arc::new(SystemClock);
    let store = FileArtifactStore::open_inline(data_dir.clone(), clock.clone()).expect("a store");
    store
        .create(sample::new(&project, &sample::id(1), "shared"), sample::note(CommitKind::Create))
        .await
        .expect("a create works");
    place_copies(&store, &project).await;
    assert_eq!(finish(&store, &project).await.number(), 1);
    let other = FileArtifactStore::open_inline(data_dir, clock).expect("a store");
    assert_eq!(finish(&other, &project).await.number(), 2);
    assert_eq!(finish(&store, &project).await.number(), 3);
    let log = home
        .path()
        .join("projects/p1/.live-artifacts")
        .join(sample::id(1).as_str())
        .join("refreshes.jsonl");
    let text = fs::read_to_string(&log).expect("a log");
    // The same length, another time: only the chain can tell.
    let changed = text.replacen(&sample::now().to_string(), &later().to_string(), 1);
    assert_eq!(text.len(), changed.len());
    fs::write(&log, changed).expect("a write");
    let list = store.list(&project).await.expect("a list");
    assert!(!list[0].health.is_healthy(), "{:?}", list[0].health);
    assert!(
        store
            .begin_refresh(&project, &sample::id(1), RefreshStart::manual(sample::now()))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_step_that_was_lost_with_the_power_comes_back_with_its_commit() {
    let home = tempfile::tempdir().expect("a directory");
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store");
    let id = sample::id(1);
    store
        .create(sample::new(&project, &id, "stepped"), sample::note(CommitKind::Create))
        .await
        .expect("a create works");
    place_copies(&store, &project).await;
    let log =
        home.path().join("projects/p1/.live-artifacts").join(id.as_str()).join("refreshes.jsonl");

    let running = store
        .begin_refresh(&project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let begun = fs::read(&log).expect("a log");
    let step = record(1, RecordStep::Source, RecordStatus::Succeeded);
    store.append_record(&project, &id, step).await.expect("the refresh is open");
    let gate = store.open_gate(&project, &id).await.expect("a gate");
    let state = gate.stored().state.as_deref().expect("a state").clone();
    let last = record(1, RecordStep::Committed, RecordStatus::Succeeded);
    let change = Change {
        expected: state.artifact.revision,
        state,
        page: Arc::from(&b"page"[..]),
        refresh: Some(last),
        note: sample::note(CommitKind::Refresh),
    };
    store.commit(&gate.witness(), change).await.expect("a commit works");
    drop((gate, running));
    // Only the first record was synced; the commit is acknowledged, its copies are not written yet.
    fs::write(&log, &begun).expect("a write");
    let steps = |history: &History| -> Vec<RecordStep> {
        history.records.iter().rev().map(|record| record.step).collect()
    };
    let whole = [RecordStep::Started, RecordStep::Source, RecordStep::Committed];
    let history = store.history(&project, &id).await.expect("a history");
    assert_eq!((steps(&history).as_slice(), history.broken), (&whole[..], None));
    let lines = fs::read_to_string(&log).expect("a log").lines().count();
    // Those of the refresh, and the commits that made the artifact and refreshed it.
    assert_eq!(lines, whole.len() + 2, "the log itself is whole again");
    assert_eq!(finish(&store, &project).await.number(), 2, "and goes on");
}

fn later() -> Timestamp {
    sample::now().plus_ms(1)
}

/// Runs a refresh that somebody asks for to its end, with a last record that takes some room.
async fn refresh_by(
    store: &FileArtifactStore,
    project: &ProjectId,
    actor: Actor,
    status: RecordStatus,
    padding: usize,
) -> RefreshId {
    let id = sample::id(1);
    let start = RefreshStart::manual(sample::now()).by(actor);
    let running = store.begin_refresh(project, &id, start).await.expect("it begins");
    let mut last = record(running.id.number(), RecordStep::last(status), status);
    last.extra.insert("padding".to_owned(), "x".repeat(padding).into());
    store.append_record(project, &id, last).await.expect("the refresh is open");
    running.id
}

#[tokio::test]
async fn an_agent_that_refreshes_without_end_pushes_out_nobody_elses_history() {
    let home = tempfile::tempdir().expect("a directory");
    let (data_dir, project) = project(home.path()).await;
    let store = FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store");
    let id = sample::id(1);
    let note = sample::note(CommitKind::Create);
    store.create(sample::new(&project, &id, "flooded"), note).await.expect("a create works");
    place_copies(&store, &project).await;
    let agent = |run: &str| Actor::Agent { run_id: run.parse().expect("an id"), agent: None };
    let (good, bad) = (RecordStatus::Succeeded, RecordStatus::Failed);
    let persons = [
        refresh_by(&store, &project, Actor::Person, good, 0).await,
        refresh_by(&store, &project, Actor::Person, bad, 0).await,
        refresh_by(&store, &project, agent("run-1"), good, 0).await,
        refresh_by(&store, &project, Actor::Schedule, good, 0).await,
    ];
    // Eight logs' worth, without a rest.
    let mut newest = None;
    for n in 0..128 {
        let status = if n % 3 == 0 { bad } else { good };
        newest = Some(refresh_by(&store, &project, agent("run-2"), status, 64 * 1024).await);
    }
    let history = store.history(&project, &id).await.expect("a history");
    assert_eq!(history.broken, None);
    assert_eq!(history.records.first().map(|record| record.refresh_id.clone()), newest);
    let of = |refresh: &RefreshId| {
        let records = history.records.iter().filter(|record| record.refresh_id == *refresh);
        records.map(|record| record.step).collect::<Vec<_>>()
    };
    for (refresh, last) in persons.iter().zip([good, bad, good, good]) {
        assert_eq!(of(refresh), [RecordStep::last(last), RecordStep::Started], "{refresh}");
    }
    let numbers: Vec<u64> =
        history.records.iter().map(|record| record.refresh_id.number()).collect();
    assert!(numbers.is_sorted_by(|a, b| a >= b), "{numbers:?}");
    assert!(numbers.chunk_by(|a, b| a == b).all(|pair| pair.len() == 2), "each once: {numbers:?}");
    let archive =
        home.path().join("projects/p1/.live-artifacts").join(id.as_str()).join("commits.jsonl");
    let bytes = fs::metadata(archive).expect("an archive").len();
    assert!(bytes <= 4 * 1024 * 1024, "{bytes} bytes are rewritten at each rotation");
}
