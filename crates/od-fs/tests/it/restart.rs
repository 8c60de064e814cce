//! What a process finds after another one, or the machine, has stopped at a bad moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_core::artifact::{HealthState, RefreshStatus};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::ledger::{CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_fs::{DataDir, FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::store::{
    ArtifactStore, Change, Created, RefreshLog as _, StoreError, StoreMaintenance as _,
};

use crate::contract::{place_copies, project};

pub(crate) struct World {
    home: tempfile::TempDir,
    pub(crate) project: ProjectId,
}

impl World {
    pub(crate) async fn with(artifacts: u32) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (_, project) = project(home.path()).await;
        let world = Self { home, project };
        let store = world.inline();
        for number in 1..=artifacts {
            let new = sample::new(&world.project, &sample::id(number), "first");
            store.create(new, sample::note(CommitKind::Create)).await.expect("a create works");
        }
        world
    }

    fn data_dir(&self) -> DataDir {
        DataDir::open(self.home.path()).expect("a data directory")
    }

    pub(crate) fn inline(&self) -> FileArtifactStore {
        FileArtifactStore::open_inline(self.data_dir(), Arc::new(SystemClock)).expect("a store")
    }

    fn pooled(&self) -> FileArtifactStore {
        FileArtifactStore::open(self.data_dir(), Arc::new(SystemClock)).expect("a store")
    }

    pub(crate) fn dir(&self, number: u32) -> PathBuf {
        let live = Path::new("projects").join(self.project.as_str()).join(".live-artifacts");
        self.home.path().join(live).join(sample::id(number).as_str())
    }

    /// Ends the process that has the store, as a kill does.
    pub(crate) async fn kill(&self, store: FileArtifactStore) {
        place_copies(&store, &self.project).await;
        std::mem::forget(store);
    }

    /// Makes every frame one of a machine that has restarted since.
    pub(crate) fn restart_machine(&self, number: u32) {
        let pending = self.dir(number).join("pending");
        for entry in fs::read_dir(&pending).expect("a directory") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            if let Some((revision, _)) = name.split_once('@') {
                fs::rename(pending.join(&name), pending.join(format!("{revision}@before")))
                    .expect("a rename");
            }
        }
    }

    pub(crate) fn frames(&self, number: u32) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir(number).join("pending")) else { return Vec::new() };
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        entries.map(|entry| name(entry).into_string().expect("a name")).collect()
    }
}

async fn refresh(store: &FileArtifactStore, project: &ProjectId, id: &ArtifactId, title: &str) {
    let running = store
        .begin_refresh(project, id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let record =
        |step| RefreshRecord::new(running.id.clone(), step, RecordStatus::Succeeded, sample::now());
    let step = record(RecordStep::Source);
    store.append_record(project, id, step).await.expect("the refresh is open");
    let gate = store.open_gate(project, id).await.expect("a gate");
    let state = gate.stored().state.clone().expect("a state");
    let change =
        Change { refresh: Some(record(RecordStep::Committed)), ..sample::change(&state, title) };
    store.commit(&gate.witness(), change).await.expect("a commit works");
}

pub(crate) async fn update(
    store: &dyn ArtifactStore,
    project: &ProjectId,
    id: &ArtifactId,
    title: &str,
) {
    let gate = store.open_gate(project, id).await.expect("a gate");
    let state = gate.stored().state.clone().expect("a state");
    store.commit(&gate.witness(), sample::change(&state, title)).await.expect("a commit works");
}

#[tokio::test]
async fn refreshes_that_a_loss_of_power_came_after_are_in_the_log_once() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.inline();
    refresh(&store, project, id, "second").await;
    refresh(&store, project, id, "third").await;
    world.kill(store).await;
    world.restart_machine(1);
    let log = world.dir(1).join("refreshes.jsonl");
    let before = fs::read_to_string(&log).expect("a log");
    // Three of each refresh, and one of each commit.
    assert_eq!(before.lines().count(), 9);

    let store = world.inline();
    assert!(store.recover().await.expect("a recovery").is_empty());
    assert_eq!(fs::read_to_string(&log).expect("a log"), before);
    assert!(store.load(project, id).await.expect("it loads").health.is_healthy());
    refresh(&store, project, id, "fourth").await;
    let history = store.history(project, id).await.expect("a history");
    assert_eq!((history.records.len(), history.broken), (9, None));
    drop(store);
    let list = world.inline().list(project).await.expect("a list");
    assert_eq!(list[0].health.state, HealthState::Healthy);
}

#[tokio::test]
async fn a_log_that_has_gone_on_since_is_not_written_again_after_a_loss_of_power() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.inline();
    refresh(&store, project, id, "second").await;
    // One that changed nothing: no commit, only records.
    let running = store
        .begin_refresh(project, id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let last = RefreshRecord::new(
        running.id.clone(),
        RecordStep::Failed,
        RecordStatus::Failed,
        sample::now(),
    );
    store.append_record(project, id, last).await.expect("the refresh is open");
    drop(running);
    world.kill(store).await;
    world.restart_machine(1);
    let store = world.inline();
    refresh(&store, project, id, "third").await;
    let history = store.history(project, id).await.expect("a history");
    assert_eq!((history.records.len(), history.broken), (8, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_dropped_has_settled_what_it_acknowledged() {
    let world = World::with(1).await;
    for round in 0..20 {
        let store = world.pooled();
        update(&store, &world.project, &sample::id(1), &format!("round {round}")).await;
        drop(store);
        assert_eq!(world.frames(1), Vec::<String>::new(), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_creates_of_one_id_exactly_one_is_made() {
    let world = World::with(0).await;
    let (one, two) = (world.pooled(), world.pooled());
    for number in 1..=20 {
        let new = |title| sample::new(&world.project, &sample::id(number), title);
        let note = || sample::note(CommitKind::Create);
        let (first, second) =
            tokio::join!(one.create(new("one"), note()), two.create(new("two"), note()));
        let made = [&first, &second];
        let fresh = made.iter().filter(|made| matches!(made, Ok(Created::Fresh(_)))).count();
        let refused =
            made.iter().filter(|made| matches!(made, Err(StoreError::Exists { .. }))).count();
        assert_eq!((fresh, refused), (1, 1), "{first:?} {second:?}");
        let winner = if first.is_ok() { "one" } else { "two" };
        let stored = world.inline().load(&world.project, &sample::id(number)).await;
        assert_eq!(stored.expect("it loads").summary.heading.title, winner);
    }
    let staging = world.dir(1).with_file_name(".staging");
    assert_eq!(fs::read_dir(staging).expect("a directory").count(), 0, "losers leave nothing");
}

#[tokio::test]
async fn an_artifact_that_cannot_be_recovered_keeps_no_other_from_it() {
    let world = World::with(2).await;
    for number in [1, 2] {
        fs::write(world.dir(number).join("refreshes.jsonl"), b"{\"half").expect("a write");
    }
    // Where the torn line of the first would be kept.
    fs::write(world.dir(1).join("aside"), b"no directory").expect("a write");
    let store = world.inline();
    let failed = store.recover().await.expect("a recovery");
    let ids: Vec<_> = failed.into_iter().map(|failed| failed.artifact).collect();
    assert_eq!(ids, [Some(sample::id(1))]);
    assert_eq!(fs::read(world.dir(2).join("refreshes.jsonl")).expect("a log"), b"");
    let list = store.list(&world.project).await.expect("a list");
    assert_eq!(list.len(), 2);
}

#[tokio::test]
async fn a_file_in_the_place_of_pending_hides_nothing() {
    let world = World::with(1).await;
    let pending = world.dir(1).join("pending");
    fs::remove_dir_all(&pending).expect("a removal");
    fs::write(&pending, b"no directory").expect("a write");
    let store = world.inline();
    assert!(store.recover().await.expect("a recovery").is_empty());
    let list = store.list(&world.project).await.expect("a list");
    assert_eq!((list.len(), list[0].heading.title.as_str()), (1, "first"));
}

#[tokio::test]
async fn a_refresh_whose_commit_never_came_is_not_in_the_history_as_succeeded() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.inline();
    let pointer = world.dir(1).join("artifact.json");
    let before = fs::read(&pointer).expect("a pointer");
    refresh(&store, project, id, "second").await;
    // Killed before the pointer got its name.
    fs::write(&pointer, before).expect("a write");
    let history = {
        let other = world.inline();
        other.history(project, id).await.expect("a history")
    };
    let ended = history.records.iter().filter(|record| record.step.is_last()).count();
    assert_eq!(ended, 0, "{:?}", history.records);
    std::mem::forget(store);
}

#[tokio::test]
async fn the_status_of_the_last_refresh_is_known_after_its_log_was_rotated_away() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.inline();
    refresh(&store, project, id, "second").await;
    let running = store
        .begin_refresh(project, id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let mut last = RefreshRecord::new(
        running.id.clone(),
        RecordStep::Failed,
        RecordStatus::Failed,
        sample::now(),
    );
    last.extra.insert("padding".to_owned(), "x".repeat(1024 * 1024).into());
    store.append_record(project, id, last).await.expect("the refresh is open");
    drop(running);
    assert!(world.dir(1).join("refreshes.1.jsonl").exists(), "the log was rotated");
    let length = fs::metadata(world.dir(1).join("refreshes.jsonl")).expect("a log").len();
    assert_eq!(length, 0, "an empty log looks different from none");
    for store in [store, world.inline()] {
        let list = store.list(project).await.expect("a list");
        assert_eq!(list[0].refresh_status, RefreshStatus::Failed);
        assert_eq!(list[0].last_refreshed_at, Some(sample::now()));
        let inspection = store.inspect(project, id).await.expect("an inspection");
        assert_eq!((inspection.log_records, inspection.log_fault), (7, None));
    }
    let rotated = world.dir(1).join("refreshes.1.jsonl");
    let text = fs::read_to_string(&rotated).expect("a log").replacen("xxx", "xyx", 1);
    fs::write(&rotated, text.replacen("succeeded", "failed", 1)).expect("a write");
    let inspection = world.inline().inspect(project, id).await.expect("an inspection");
    assert!(inspection.log_fault.is_some(), "what was rotated away is verified too");
}

#[tokio::test]
async fn trash_that_is_half_removed_is_gone_after_the_next_start() {
    let world = World::with(1).await;
    let store = world.inline();
    od_ports::Trash::delete(&store, &world.project, &sample::id(1), None).await.expect("a delete");
    let trash = world.dir(1).with_file_name(".trash");
    let name = fs::read_dir(&trash).expect("a trash").next().expect("one").expect("an entry");
    let old = format!("{}.1", sample::id(1));
    fs::rename(name.path(), trash.join(&old)).expect("a rename");
    fs::create_dir(trash.join(".purging-la-other-0123456789ab.1")).expect("a directory");
    assert!(store.recover().await.expect("a recovery").is_empty());
    assert_eq!(fs::read_dir(&trash).expect("a trash").count(), 0);
}

#[tokio::test]
async fn a_record_that_a_damaged_log_has_no_place_for_is_kept_aside() {
    let world = World::with(1).await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.inline();
    refresh(&store, project, id, "second").await;
    let log = world.dir(1).join("refreshes.jsonl");
    let text = fs::read_to_string(&log).expect("a log").replacen("running", "rUnning", 1);
    fs::write(&log, text).expect("a write");
    place_copies(&store, project).await;
    let aside = fs::read_dir(world.dir(1).join("aside")).expect("a directory");
    let kept: Vec<String> = aside
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("text"))
        .collect();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].contains("refresh:commit"), "{kept:?}");
}

#[tokio::test]
async fn behind_finish_nothing_of_the_store_changes_by_itself() {
    let world = World::with(0).await;
    for store in [world.pooled(), world.inline()] {
        let number = if world.dir(1).exists() { 2 } else { 1 };
        let new = sample::new(&world.project, &sample::id(number), "first");
        store.create(new, sample::note(CommitKind::Create)).await.expect("a create works");
        store.finish().await;
        assert_eq!(world.frames(number), Vec::<String>::new(), "every frame became copies");
        // What is committed all the same waits for the end of the store.
        store.finish().await;
        drop(store);
    }
}
