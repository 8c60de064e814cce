//! Things that keep od from writing: health tells of each, the page stays, and a repair ends it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_core::artifact::{HealthReason, HealthState};
use od_core::ids::ProjectId;
use od_core::ledger::{CommitKind, RefreshStart};
use od_fs::{DataDir, FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::store::{ArtifactStore, RepairMode, StoreError, StoreMaintenance as _};
use rustix::fs::IFlags;

use crate::contract::project;

struct World {
    home: tempfile::TempDir,
    project: ProjectId,
}

impl World {
    async fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (_, project) = project(home.path()).await;
        let world = Self { home, project };
        let new = sample::new(&world.project, &sample::id(1), "first");
        world.store().create(new, sample::note(CommitKind::Create)).await.expect("a create works");
        let store = world.store();
        update(&store, &world.project, "second").await.expect("an update works");
        world
    }

    fn store(&self) -> FileArtifactStore {
        let data_dir = DataDir::open(self.home.path()).expect("a data directory");
        FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store")
    }

    fn live(&self) -> PathBuf {
        self.home.path().join("projects").join(self.project.as_str()).join(".live-artifacts")
    }

    fn dir(&self) -> PathBuf {
        self.live().join(sample::id(1).as_str())
    }
}

async fn update(
    store: &FileArtifactStore,
    project: &ProjectId,
    title: &str,
) -> Result<(), StoreError> {
    let gate = store.open_gate(project, &sample::id(1)).await?;
    let state = gate.stored().state.clone().expect("a state");
    store.commit(&gate.witness(), sample::change(&state, title)).await.map(|_| ())
}

async fn title(store: &FileArtifactStore, project: &ProjectId) -> String {
    let stored = store.load(project, &sample::id(1)).await.expect("it loads");
    stored.state.as_ref().expect("the page stays").artifact.heading.title.clone()
}

/// Puts a directory with something in it in a place.
fn directory(path: &Path) {
    fs::create_dir_all(path.join("inner")).expect("a directory");
}

/// Puts a file in a place.
fn file(path: &Path) {
    let _ = fs::remove_dir_all(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, "not od's").expect("a file");
}

type Plant = fn(&Path);

/// Everything that keeps od from writing.
const PLACES: [(&str, Plant); 10] = [
    ("artifact.json.tmp", directory),
    ("pending", file),
    ("pending/3", directory),
    ("pending/3.tmp", directory),
    ("last-good", |path| {
        let _ = fs::remove_file(path);
        directory(path);
    }),
    ("aside", file),
    ("snapshots", file),
    ("snapshots/refresh-000001", file),
    ("../.locks/la-LOCK.commit", |path| {
        let _ = fs::remove_file(path);
        directory(path);
    }),
    ("../.locks", file),
];

/// Returns a place with the name of the artifact in it.
fn project_name(place: &str) -> String {
    place.replace("la-LOCK", sample::id(1).as_str())
}

#[tokio::test]
async fn a_store_that_has_looked_notices_obstacles_and_their_repair_by_another() {
    for (place, plant) in PLACES {
        let world = World::new().await;
        let (project, id) = (&world.project, &sample::id(1));
        let store = world.store();
        assert!(store.load(project, id).await.expect("it loads").health.is_healthy());
        assert_eq!(store.list(project).await.expect("a list").len(), 1);
        plant(&world.dir().join(project_name(place)));
        let listed = store.list(project).await.expect("a list");
        assert_eq!(listed[0].health.reason, Some(HealthReason::Obstructed), "{place}");
        let health = store.load(project, id).await.expect("it loads").health;
        assert_eq!(health.reason, Some(HealthReason::Obstructed), "{place}");
        let other = world.store();
        assert!(!other.load(project, id).await.expect("it loads").health.is_healthy(), "{place}");
        other.repair(project, id, RepairMode::Apply).await.expect("a repair");
        let listed = store.list(project).await.expect("a list");
        assert!(listed[0].health.is_healthy(), "{place}: {:?}", listed[0].health);
        update(&store, project, "third").await.expect("it can be written again");
    }
}

#[tokio::test]
async fn whatever_stands_in_the_way_of_a_commit_is_seen_and_ended_by_a_repair() {
    for (place, plant) in PLACES {
        let world = World::new().await;
        let (project, id) = (&world.project, &sample::id(1));
        let path = world.dir().join(project_name(place));
        plant(&path);

        let store = world.store();
        let _ = store.recover().await.expect("the others start");
        let health = store.load(project, id).await.expect("it loads").health;
        assert_eq!(
            (health.state, health.reason),
            (HealthState::CorruptTail, Some(HealthReason::Obstructed)),
            "{place}"
        );
        let listed = store.list(project).await.expect("a list");
        assert_eq!(listed[0].health, health, "{place}: the list says the same");
        assert_eq!(title(&store, project).await, "second", "{place}: the page stays");
        update(&store, project, "refused").await.expect_err("nothing is written past it");
        let inspection = store.inspect(project, id).await.expect("it is inspected");
        let told = place.trim_start_matches("../").replace("la-LOCK", id.as_str());
        assert_eq!(inspection.obstacles, [told], "{place}");

        let plan = store.repair(project, id, RepairMode::Plan).await.expect("a plan");
        assert!(!plan.applied && plan.drops.len() == 1, "{place}: {plan:?}");
        let report = store.repair(project, id, RepairMode::Apply).await.expect("a repair");
        assert!(report.applied, "{place}");
        let stored = store.load(project, id).await.expect("it loads");
        assert!(stored.health.is_healthy(), "{place}: {:?}", stored.health);
        assert_eq!(title(&store, project).await, "second", "{place}: nothing was lost");
        let kept = fs::read_dir(world.dir().join("aside")).expect("aside").count();
        assert_eq!(kept, 1, "{place}: what stood there is kept");
        update(&store, project, "third").await.expect("it can be written again");
        drop(store);
        assert_eq!(title(&world.store(), project).await, "third", "{place}");
        let left = fs::read_dir(world.dir().join("pending")).expect("pending").count();
        assert_eq!(left, 0, "{place}: no frame is left");
    }
}

#[tokio::test]
async fn a_commit_that_cannot_be_finished_is_told_until_it_is() {
    let world = World::new().await;
    let (project, id) = (&world.project, &sample::id(1));
    let data = fs::File::open(world.dir().join("data.json")).expect("a file");
    if rustix::fs::ioctl_setflags(&data, IFlags::IMMUTABLE).is_err() {
        println!("skipped: no file can be made immutable here");
        return;
    }
    let store = world.store();
    update(&store, project, "third").await.expect("the commit itself is durable");
    // The next writer comes to the copies of that commit, and fails at them.
    update(&store, project, "fourth").await.expect_err("nothing is written past it");
    let health = store.load(project, id).await.expect("it loads").health;
    assert_eq!(health.reason, Some(HealthReason::RecoveryFailed));
    assert_eq!(title(&store, project).await, "third", "what was acknowledged is served");
    drop(store);

    let store = world.store();
    let unrecovered = store.recover().await.expect("the others start");
    assert_eq!(unrecovered.len(), 1);
    let listed = store.list(project).await.expect("a list");
    assert_eq!(listed[0].health.reason, Some(HealthReason::RecoveryFailed), "after a restart too");
    // A process that has tried nothing finds it on the disk.
    let other = world.store();
    let inspection = other.inspect(project, id).await.expect("it is inspected");
    assert!(inspection.has_unfinished_commit);
    let plan = other.repair(project, id, RepairMode::Plan).await.expect("a plan");
    assert_eq!(plan.keeps.len(), 1, "{plan:?}");
    let refused = other.repair(project, id, RepairMode::Apply).await;
    assert!(matches!(refused, Err(StoreError::Io { .. })), "it says what the system says");

    rustix::fs::ioctl_setflags(&data, IFlags::empty()).expect("and made mutable again");
    let report = other.repair(project, id, RepairMode::Apply).await.expect("a repair");
    assert!(report.applied);
    assert_eq!(title(&other, project).await, "third");
    update(&other, project, "fourth").await.expect("it can be written again");
    drop(other);
    // The process that had failed goes by the disk again as soon as it has tried.
    update(&store, project, "fifth").await.expect("it can be written again");
    assert!(store.load(project, id).await.expect("it loads").health.is_healthy());
}

#[tokio::test]
async fn a_snapshot_of_an_earlier_version_is_in_nobodys_way() {
    let world = World::new().await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.store();
    let running = store_refresh(&store, project).await;
    drop(store);
    // As a writer of the version before revisions left it, killed behind the rename of the snapshot: the
    // frame is back, and the directory is there with something in it.
    let snapshot = world.dir().join("snapshots").join(&running);
    fs::create_dir_all(&snapshot).expect("a directory");
    fs::write(snapshot.join(std::ffi::OsStr::from_bytes(b"\xff")), "x").expect("a file");
    let frame = fs::read(world.dir().join("last-good")).expect("the frame");
    fs::write(world.dir().join("pending/3"), frame).expect("a frame");

    let store = world.store();
    let unrecovered = store.recover().await.expect("a recovery");
    assert!(unrecovered.is_empty(), "{unrecovered:?}");
    assert!(store.load(project, id).await.expect("it loads").health.is_healthy());
    update(&store, project, "next").await.expect("it can be written");
}

async fn store_refresh(store: &FileArtifactStore, project: &ProjectId) -> String {
    use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
    use od_ports::store::{Change, RefreshLog as _};
    let id = sample::id(1);
    let running = store
        .begin_refresh(project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let record = RefreshRecord::new(
        running.id.clone(),
        RecordStep::Committed,
        RecordStatus::Succeeded,
        sample::now(),
    );
    let gate = store.open_gate(project, &id).await.expect("a gate");
    let state = gate.stored().state.clone().expect("a state");
    let change = Change { refresh: Some(record), ..sample::change(&state, "refreshed") };
    store.commit(&gate.witness(), change).await.expect("a commit works");
    running.id.as_str().to_owned()
}

#[tokio::test]
async fn a_copy_that_the_disk_did_not_keep_is_no_edit_while_its_frame_is_there() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [(&str, Damage); 4] = [
        ("empty", |_| Vec::new()),
        ("cut", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("zeros", |bytes| vec![0; bytes.len()]),
        ("cut and zeros", |bytes| {
            let mut bytes = bytes.to_vec();
            let from = bytes.len().saturating_sub(1) / 512 * 512;
            bytes[from..].fill(0);
            bytes
        }),
    ];
    for (name, damage) in damages {
        for copy in ["data.json", "template.html", "provenance.json", "index.html"] {
            let world = World::new().await;
            let (project, id) = (&world.project, &sample::id(1));
            let store = world.store();
            update(&store, project, "third").await.expect("an update works");
            // Writes the copies and marks the frame, without a checkpoint; then the process is killed.
            let _ = store.list(project).await.expect("a list");
            std::mem::forget(store);
            let path = world.dir().join(copy);
            let good = fs::read(&path).expect("a copy");
            fs::write(&path, damage(&good)).expect("a file");

            let place = format!("{copy}, {name}");
            let stored = world.store().load(project, id).await.expect("it loads");
            assert!(stored.health.is_healthy(), "{place}: {:?}", stored.health);
            assert!(stored.drift.is_empty(), "{place}: taken for an edit");
            let store = world.store();
            assert!(store.recover().await.expect("a recovery").is_empty());
            assert_eq!(fs::read(&path).expect("a copy"), good, "{place}: written once more");
            assert!(
                !world.dir().join("aside").exists(),
                "{place}: kept aside as if it were an edit"
            );
            assert_eq!(title(&store, project).await, "third");
        }
    }
}

#[tokio::test]
async fn an_edit_beside_a_lost_copy_is_still_an_edit() {
    let world = World::new().await;
    let (project, id) = (&world.project, &sample::id(1));
    let store = world.store();
    update(&store, project, "third").await.expect("an update works");
    let _ = store.list(project).await.expect("a list");
    std::mem::forget(store);
    fs::write(world.dir().join("template.html"), b"").expect("a file");
    let data = fs::read_to_string(world.dir().join("data.json")).expect("data");
    let edited = data.replacen('{', "{\n  \"byHand\": true,", 1);
    fs::write(world.dir().join("data.json"), &edited).expect("a file");

    let store = world.store();
    assert!(store.recover().await.expect("a recovery").is_empty());
    let stored = store.load(project, id).await.expect("it loads");
    assert!(stored.health.is_healthy(), "{:?}", stored.health);
    assert_eq!(stored.drift.len(), 1, "{:?}", stored.drift);
    assert_eq!(fs::read_to_string(world.dir().join("data.json")).expect("data"), edited);
    assert!(!fs::read(world.dir().join("template.html")).expect("a copy").is_empty());
}

#[tokio::test]
async fn a_page_that_somebody_wrote_is_never_served_of_an_artifact_without_a_whole_state() {
    let world = World::new().await;
    let (project, id) = (&world.project, &sample::id(1));
    let page = fs::read(world.dir().join("index.html")).expect("a page");
    fs::write(world.dir().join("index.html"), "<script>alert(1)</script>").expect("a file");
    fs::write(world.dir().join("artifact.json"), "{").expect("a file");
    fs::remove_file(world.dir().join("last-good")).expect("a removal");
    let stored = world.store().load(project, id).await.expect("it loads");
    assert!(stored.state.is_none());
    assert_eq!(
        stored.last_page.as_deref(),
        Some(page.as_slice()),
        "rendered from template and data"
    );
    fs::write(world.dir().join("template.html"), "<script>alert(1)</script>").expect("a file");
    let stored = world.store().load(project, id).await.expect("it loads");
    assert_eq!(stored.last_page, None, "refused");
}
